#include "boundary/cuda_text.cuh"
#include "workloads/barrier_parts/barrier_parts_cuda.hpp"

namespace gpusync::tool {

namespace {

/// All steps of a run with a part between them.
template <barrier_part Part>
__global__ void __launch_bounds__(1024, full_blocks<1024>) part_kernel(barrier_parts_text<Part> text, uint32_t steps) {
  computation::kept nothing;
  all_steps(text, cuda_grid::current(), steps, nothing, [](uint32_t) { return true; });
}

}  // namespace

cuda_kernels barrier_parts_kernels() {
  cuda_kernels kernels{};
  kernels.with_barrier = kernels_with_barriers<whole_barriers, barriers::all>([](auto algorithm) {
    return &run_all_steps<barrier_parts_text<barrier_part::whole>, barrier_with<decltype(algorithm)>>;
  });
  for_each_part([&](auto part, const char* name) {
    kernels.with_part.add(name, &part_kernel<part.value>);
  });
  return kernels;
}

}  // namespace gpusync::tool
