"""CuPy's RawModule."""

import cupy
import numpy

import gpusync
import gpusync.cupy
from figures import CONTROL, Way, barriers
from kernels import BLOCKS, CG_SOURCE, SOURCE, THREADS

data, seen_words = cupy.zeros(2 * BLOCKS, cupy.uint32), cupy.zeros(2 * BLOCKS, cupy.uint32)
module = cupy.RawModule(code=SOURCE, options=gpusync.nvrtc_options(), enable_cooperative_groups=True)
cg_module = cupy.RawModule(code=CG_SOURCE, options=("-std=c++17",), enable_cooperative_groups=True)


def _numbers(*values):
    return tuple(numpy.int32(one) for one in values)


def _checked(barrier):
    kernel = module.get_function("gpusync_phases")
    return lambda *numbers: gpusync.cupy.launch(kernel, BLOCKS, THREADS, (barrier, data, seen_words, *_numbers(*numbers)))


def _plain(kernel):
    return lambda *numbers: kernel((BLOCKS,), (THREADS,), (numpy.uint64(0), data, seen_words, *_numbers(*numbers)))


def ways():
    made = [Way(method, _checked(barrier)) for method, barrier in barriers().items()]
    return [*made, Way("cg", _plain(cg_module.get_function("cg_phases")), rival=True),
            Way("none", _plain(module.get_function("none_phases")), phases=CONTROL, must_be_wrong=True)]


def timed(run):
    first, last = cupy.cuda.Event(), cupy.cuda.Event()
    first.record()
    run()
    last.record()
    last.synchronize()
    return 1000 * cupy.cuda.get_elapsed_time(first, last)


def seen():
    return seen_words.get().tolist()
