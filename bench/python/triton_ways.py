"""Triton's extern_libs and launch_cooperative_grid. It has no grid barrier of its own: beside ours stands the loop of atomics
that its users write."""

import torch
import triton
import triton.language as tl

from figures import CONTROL, Way, barriers
from gpusync.triton import enter, launch, sync, sync_add, sync_for, sync_or
from kernels import BLOCKS, THREADS

# Or a seed that is a multiple of 16 would be another program, compiled while it is timed.
NUMBERS = ["phases", "seed"]


@triton.jit
def write(data, p, check, seed):
    if check:
        n = tl.num_programs(0)
        tl.store(data + (p & 1) * n + tl.program_id(0), seed + p * n + tl.program_id(0))


@triton.jit
def wrong(data, p, check, seed, BLOCK: tl.constexpr):
    n = tl.num_programs(0)
    other = tl.program_id(0) + 1 + (p + tl.arange(0, BLOCK)) % (n - 1)
    other = tl.where(other >= n, other - n, other)
    read = tl.load(data + (p & 1) * n + other, mask=other * 0 + check != 0, other=0)
    return ((read != seed + p * n + other) & (check != 0)).to(tl.int32)


@triton.jit
def tell(seen, bad, phases):
    b = tl.program_id(0)
    tl.store(seen + b, tl.sum(bad, 0))
    tl.store(seen + tl.num_programs(0) + b, phases)


@triton.jit(do_not_specialize=NUMBERS)
def gpusync_phases(barrier, data, seen, phases, check: tl.constexpr, seed, BLOCK: tl.constexpr):
    bad = tl.zeros([BLOCK], tl.int32)
    enter(barrier)
    for p in tl.range(0, phases, num_stages=1):
        write(data, p, check, seed)
        sync(barrier)
        if check:
            bad |= wrong(data, p, check, seed, BLOCK)
    tell(seen, bad, phases)


@triton.jit(do_not_specialize=NUMBERS)
def atomic_phases(count, data, seen, phases, check: tl.constexpr, seed, BLOCK: tl.constexpr):
    bad = tl.zeros([BLOCK], tl.int32)
    for p in tl.range(0, phases, num_stages=1):
        write(data, p, check, seed)
        tl.debug_barrier()
        tl.atomic_add(count, 1, sem="release", scope="gpu")
        while tl.atomic_add(count, 0, sem="acquire", scope="gpu") < (p + 1) * tl.num_programs(0):
            pass
        tl.debug_barrier()
        if check:
            bad |= wrong(data, p, check, seed, BLOCK)
    tell(seen, bad, phases)


@triton.jit(do_not_specialize=NUMBERS)
def none_phases(count, data, seen, phases, check: tl.constexpr, seed, BLOCK: tl.constexpr):
    bad = tl.zeros([BLOCK], tl.int32)
    for p in tl.range(0, phases, num_stages=1):
        write(data, p, check, seed)
        tl.debug_barrier()
        if check:
            bad |= wrong(data, p, check, seed, BLOCK)
    tell(seen, bad, phases)


@triton.jit
def dead_program(barrier, dead):
    """For misuse.py: as its kernel in CUDA C++."""
    enter(barrier)
    sync(barrier)
    if tl.program_id(0) != dead:
        if sync_for(barrier, 20_000_000) == 0:
            sync(barrier)


@triton.jit
def votes(barrier, wrong, phases):
    """For misuse.py: how many answers were wrong."""
    bad = 0
    n = tl.num_programs(0)
    enter(barrier)
    for p in tl.range(0, phases, num_stages=1):
        chosen = p % (2 * n)  # a program, or none
        bad += (sync_add(barrier, tl.program_id(0) + p) != n * (n - 1) // 2 + n * p).to(tl.int32)
        bad += (sync_or(barrier, tl.program_id(0) == chosen) != (chosen < n).to(tl.int32)).to(tl.int32)
    tl.atomic_add(wrong, bad)


def ways():
    global data, seen_words, count
    data = torch.zeros(2 * BLOCKS, dtype=torch.int32, device="cuda")
    seen_words = torch.zeros(2 * BLOCKS, dtype=torch.int32, device="cuda")
    count = torch.zeros(1, dtype=torch.int32, device="cuda")

    def checked(barrier):
        return lambda phases, check, seed: launch(gpusync_phases, BLOCKS, barrier, data, seen_words, phases, check, seed,
                                                  BLOCK=THREADS, num_warps=THREADS // 32)

    def plain(kernel):
        def run(phases, check, seed):
            count.zero_()
            kernel[(BLOCKS,)](count, data, seen_words, phases, check, seed, BLOCK=THREADS, num_warps=THREADS // 32,
                              launch_cooperative_grid=True)
        return run

    made = [Way(method, checked(barrier)) for method, barrier in barriers().items()]
    return [*made, Way("atomic-loop", plain(atomic_phases), rival=True),
            Way("none", plain(none_phases), phases=CONTROL, must_be_wrong=True)]


def timed(run):
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    run()
    last.record()
    last.synchronize()
    return 1000 * first.elapsed_time(last)


def seen():
    return seen_words.tolist()
