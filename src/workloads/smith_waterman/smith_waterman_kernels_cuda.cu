#include "boundary/cuda_text.cuh"
#include "workloads/smith_waterman/smith_waterman_cuda.hpp"

namespace gpusync::tool {

cuda_kernels kernels_in_memory() {
  return kernels_of<wavefront_steps, grid::cuda_algorithms>();
}

cuda_kernels kernels_in_registers(uint32_t rows) {
  if (rows == 1) return kernels_of<wavefront_rows<1>, few_barriers>();
  if (rows == 2) return kernels_of<wavefront_rows<2>, few_barriers>();
  return kernels_of<wavefront_rows<4>, few_barriers>();
}

}  // namespace gpusync::tool
