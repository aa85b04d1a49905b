"""A persistent kernel in JAX: a Jacobi relaxation whose steps are parted by gpusync's grid barrier, called from jitted
code."""

import jax
import jax.numpy as jnp
import numpy

import gpusync
import gpusync.jax
from reference import report, start

source = r"""
#include <gpusync/device.cuh>

extern "C" __global__ void relax(unsigned long long address, const float* in, float* a, float* b, int n, int steps) {
  auto barrier = gpusync::barrier_at(address);
  const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  for (int i = first; i < n; i += stride) a[i] = b[i] = in[i];
  barrier.sync();
  for (int s = 0; s < steps; ++s) {
    for (int i = 1 + first; i < n - 1; i += stride) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    barrier.sync();  // every thread of every block now sees every write
    float* t = a; a = b; b = t;
  }
}
"""

x = jnp.asarray(start())
shape = jax.ShapeDtypeStruct(x.shape, x.dtype)

barrier = gpusync.GridBarrier()
kernel = gpusync.jax.Kernel(source, "relax", grid=132, block=256, barrier=barrier)
relax = jax.jit(lambda x: kernel(x, numpy.int32(x.size), numpy.int32(1000), results=(shape, shape))[0])

report("JAX", relax(x), 1000)
