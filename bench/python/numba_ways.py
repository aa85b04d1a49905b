"""numba-cuda's declare_device."""

import numpy

if not hasattr(numpy, "row_stack"):  # numba 0.68 asks newer releases of numpy for it
    numpy.row_stack = numpy.vstack

from numba import cuda, int32

from figures import CONTROL, Way, barriers
from gpusync.numba import enter, launch, sync, sync_add, sync_count, sync_for, sync_or
from kernels import BLOCKS, THREADS

data = cuda.to_device(numpy.zeros(2 * BLOCKS, numpy.int32))
seen_words = cuda.to_device(numpy.zeros(2 * BLOCKS, numpy.int32))


@cuda.jit(device=True, inline=True)
def write(data, p, check, seed):
    if check and cuda.threadIdx.x == p % cuda.blockDim.x:
        data[(p & 1) * cuda.gridDim.x + cuda.blockIdx.x] = seed + p * cuda.gridDim.x + cuda.blockIdx.x


@cuda.jit(device=True, inline=True)
def is_wrong(data, p, check, seed):
    if not check:
        return int32(0)
    n = cuda.gridDim.x
    other = cuda.blockIdx.x + 1 + (p + cuda.threadIdx.x) % (n - 1)
    if other >= n:
        other -= n
    return int32(data[(p & 1) * n + other] != seed + p * n + other)


@cuda.jit(device=True, inline=True)
def tell(seen, bad, phases):
    wrong = cuda.syncthreads_count(bad)
    if cuda.threadIdx.x == 0:
        seen[cuda.blockIdx.x] = wrong
        seen[cuda.gridDim.x + cuda.blockIdx.x] = phases


@cuda.jit
def gpusync_phases(barrier, data, seen, phases, check, seed):
    bad = int32(0)
    enter(barrier)
    for p in range(phases):
        write(data, p, check, seed)
        sync(barrier)
        bad |= is_wrong(data, p, check, seed)
    tell(seen, bad, phases)


@cuda.jit
def cg_phases(data, seen, phases, check, seed):
    bad = int32(0)
    grid = cuda.cg.this_grid()
    for p in range(phases):
        write(data, p, check, seed)
        grid.sync()
        bad |= is_wrong(data, p, check, seed)
    tell(seen, bad, phases)


@cuda.jit
def none_phases(data, seen, phases, check, seed):
    bad = int32(0)
    for p in range(phases):
        write(data, p, check, seed)
        cuda.syncthreads()
        bad |= is_wrong(data, p, check, seed)
    tell(seen, bad, phases)


@cuda.jit
def dead_block(barrier, dead):
    """For misuse.py: as its kernel in CUDA C++."""
    enter(barrier)
    sync(barrier)
    if cuda.blockIdx.x == dead:
        return
    if sync_for(barrier, 20_000_000) == 0:
        sync(barrier)


@cuda.jit
def votes(barrier, wrong, phases):
    """For misuse.py: how many answers were wrong."""
    bad = int32(0)
    n = cuda.gridDim.x
    enter(barrier)
    for p in range(phases):
        chosen = p % (2 * n)  # a block, or none
        if sync_add(barrier, int32(cuda.blockIdx.x + p)) != int32(n * (n - 1) // 2 + n * p):
            bad += 1
        if sync_or(barrier, int32(cuda.blockIdx.x == chosen)) != int32(chosen < n):
            bad += 1
        if sync_count(barrier, int32(cuda.threadIdx.x < p % 7)) != int32(n * (p % 7)):
            bad += 1
    if bad != 0:
        cuda.atomic.add(wrong, 0, bad)


def _numbers(*values):
    return tuple(numpy.int32(one) for one in values)


def _checked(barrier):
    return lambda *numbers: launch(gpusync_phases, BLOCKS, THREADS, (barrier, data, seen_words, *_numbers(*numbers)))


def _plain(kernel):
    return lambda *numbers: kernel[BLOCKS, THREADS](data, seen_words, *_numbers(*numbers))


def ways():
    made = [Way(method, _checked(barrier)) for method, barrier in barriers().items()]
    return [*made, Way("cg", _plain(cg_phases), rival=True),
            Way("none", _plain(none_phases), phases=CONTROL, must_be_wrong=True)]


def timed(run):
    first, last = cuda.event(), cuda.event()
    first.record()
    run()
    last.record()
    last.synchronize()
    return 1000 * cuda.event_elapsed_time(first, last)


def seen():
    cuda.synchronize()
    return seen_words.copy_to_host().tolist()
