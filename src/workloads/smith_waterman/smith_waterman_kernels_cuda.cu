#include "boundary/cuda_text.cuh"
#include "workloads/smith_waterman/smith_waterman_cuda.hpp"

namespace gpusync::tool {

namespace {

__global__ void reset(handed_down* down, handed_on* on, row_best* best, uint32_t rows) {
  for (uint32_t row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
    down[row] = down[size_t{rows} + row] = {0, no_score};
    on[row] = {no_score, 0};
    best[row] = {0, 0};
  }
}

}  // namespace

void reset_rows(const cuda_target& where, handed_down* down, handed_on* on, row_best* best, uint32_t rows) {
  const cuda_device_scope scope(where.device().ordinal());
  reset<<<static_cast<unsigned>(where.device().sm_count()), 256, 0, where.stream()>>>(down, on, best, rows);
  check_cuda(cudaGetLastError(), "launch of reset_rows");
}

cuda_kernels kernels_in_memory() {
  return kernels_of<wavefront_steps, grid::cuda_algorithms>();
}

cuda_kernels kernels_in_registers(uint32_t rows) {
  if (rows == 1) return kernels_of<wavefront_rows<1>, few_barriers>();
  if (rows == 2) return kernels_of<wavefront_rows<2>, few_barriers>();
  return kernels_of<wavefront_rows<4>, few_barriers>();
}

}  // namespace gpusync::tool
