"""A persistent kernel in a C++ extension of PyTorch, with the whole library: its launch is checked by gpusync::launch."""

import torch
from torch.utils.cpp_extension import load_inline

import gpusync
from reference import report, start

source = r"""
#include <ATen/cuda/CUDAContext.h>
#include <gpusync/gpusync.cuh>

__global__ void relax_steps(gpusync::grid_barrier barrier, float* a, float* b, int n, int steps) {
  barrier.enter();
  for (int s = 0; s < steps; ++s) {
    for (int i = 1 + blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * blockDim.x) {
      b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    }
    barrier.sync();  // every thread of every block now sees every write
    float* t = a; a = b; b = t;
  }
}

void relax(torch::Tensor a, torch::Tensor b, int64_t steps) {
  static gpusync::cuda_device gpu{a.get_device()};
  static gpusync::grid_barrier_storage storage{gpu, 132};
  gpusync::launch(gpu, at::cuda::getCurrentCUDAStream(), {132, 256}, relax_steps, storage.barrier(), a.data_ptr<float>(),
                  b.data_ptr<float>(), static_cast<int>(a.numel()), static_cast<int>(steps));
}
"""

a = torch.from_numpy(start()).cuda()
b = a.clone()

extension = load_inline(
    "gpusync_relax", cpp_sources="void relax(torch::Tensor a, torch::Tensor b, int64_t steps);", cuda_sources=source,
    functions=["relax"], extra_include_paths=[gpusync.include_dir()])
extension.relax(a, b, 1000)

report("PyTorch, C++ extension", a.cpu(), 1000)
