"""A persistent kernel in CuPy: a Jacobi relaxation whose steps are parted by gpusync's grid barrier."""

import cupy
import numpy

import gpusync
import gpusync.cupy
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

a = cupy.asarray(start())
b, n, steps = a.copy(), numpy.int32(a.size), numpy.int32(1000)

barrier = gpusync.GridBarrier()
module = cupy.RawModule(code=source, options=gpusync.nvrtc_options(), enable_cooperative_groups=True)
gpusync.cupy.launch(module.get_function("relax"), 132, 256, (barrier, a, b, n, steps))

report("CuPy", a.get(), 1000)
