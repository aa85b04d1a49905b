#include "boundary/cuda_text.cuh"
#include "workloads/barrier_parts/barrier_parts_cuda.hpp"

namespace gpusync::tool {

namespace {

/// All steps of a run with a part between them.
template <barrier_part Part>
__global__ void __launch_bounds__(1024, full_blocks<1024>) part_kernel(barrier_parts_text text, uint32_t steps) {
  run_with_part<Part>(cuda_grid::current(), text, steps);
}

/// With a whole barrier between them. Bounds as in workload "average".
template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    whole_kernel(barrier_parts_text text, uint32_t steps, Barrier barrier) {
  run_with_barrier(cuda_grid::current(), text, steps, barrier);
}

}  // namespace

kernel_table barrier_parts_kernels() {
  kernel_table kernels = kernels_with_barriers<whole_barriers, barriers::all>(
      [](auto algorithm) { return &whole_kernel<barrier_with<decltype(algorithm)>>; });
  for_each_part([&](auto part, const char* name) { kernels.add(name, &part_kernel<part.value>); });
  return kernels;
}

}  // namespace gpusync::tool
