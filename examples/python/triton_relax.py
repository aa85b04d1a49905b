"""A persistent kernel in Triton: a Jacobi relaxation whose steps are parted by gpusync's grid barrier."""

import torch
import triton
import triton.language as tl

import gpusync
from gpusync.triton import enter, launch, sync
from reference import report, start


@triton.jit
def relax(barrier, a, b, n, steps, BLOCK: tl.constexpr):
    enter(barrier)
    for _ in tl.range(0, steps, num_stages=1):
        for first in tl.range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK, num_stages=1):
            i = first + tl.arange(0, BLOCK)
            inner = (i > 0) & (i < n - 1)
            left = tl.load(a + i - 1, mask=inner)
            right = tl.load(a + i + 1, mask=inner)
            tl.store(b + i, 0.5 * (left + right), mask=inner)
        sync(barrier)  # every program now sees every write
        a, b = b, a


if __name__ == "__main__":
    a = torch.from_numpy(start()).cuda()
    b = a.clone()

    barrier = gpusync.GridBarrier()
    launch(relax, 132, barrier, a, b, a.numel(), 1000, BLOCK=256, num_warps=8)

    report("Triton", a.cpu(), 1000)
