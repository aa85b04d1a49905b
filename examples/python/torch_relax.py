"""A persistent kernel in PyTorch, compiled at run time: a Jacobi relaxation whose steps are parted by gpusync's grid
barrier."""

import torch

import gpusync
import gpusync.torch
from reference import report, start

source = r"""
#include <gpusync/device.cuh>

extern "C" __global__ void relax(unsigned long long address, float* a, float* b, int n, int steps) {
  auto barrier = gpusync::barrier_at(address);
  barrier.enter();
  for (int s = 0; s < steps; ++s) {
    for (int i = 1 + blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * blockDim.x) {
      b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    }
    barrier.sync();  // every thread of every block now sees every write
    float* t = a; a = b; b = t;
  }
}
"""

a = torch.from_numpy(start()).cuda()
b = a.clone()

barrier = gpusync.GridBarrier()
relax = gpusync.torch.compile_kernel(source, "relax")
gpusync.torch.launch(relax, 132, 256, (barrier, a, b, a.numel(), 1000))

report("PyTorch", a.cpu(), 1000)
