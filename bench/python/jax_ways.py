"""JAX's foreign function interface; it has no grid barrier of its own. Times are the host's, whose constant part the difference of two runs does not have."""

import os
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy

import gpusync.jax
from figures import CONTROL, Way, barriers
from kernels import BLOCKS, FROM_MEMORY_SOURCE, THREADS

shape = jax.ShapeDtypeStruct((2 * BLOCKS,), jnp.uint32)
last = None


def _run(name, barrier):
    kernel = gpusync.jax.Kernel(FROM_MEMORY_SOURCE, name, grid=BLOCKS, block=THREADS, barrier=barrier)
    call = jax.jit(lambda numbers: kernel(numbers, results=(shape, shape)))

    def run(*numbers):
        global last
        last = call(jnp.asarray(numpy.array(numbers, numpy.int32)))[1]
    return run


def ways():
    made = barriers()
    any_barrier = made["gpusync-unplaced"]  # a launch has one, and the control does not look at it
    return [*(Way(method, _run("gpusync_phases", barrier)) for method, barrier in made.items()),
            Way("none", _run("none_phases", any_barrier), phases=CONTROL, must_be_wrong=True)]


def timed(run):
    seen()
    begin = time.perf_counter()
    run()
    last.block_until_ready()
    return 1e6 * (time.perf_counter() - begin)


def seen():
    return [] if last is None else numpy.asarray(last).tolist()
