#include "boundary/cuda_text.cuh"
#include "workloads/stencil/stencil_cuda.hpp"

namespace gpusync::tool {

cuda_kernels stencil_kernels() {
  return kernels_of<stencil_text, grid::cuda_algorithms, barriers::that_order>();
}

}  // namespace gpusync::tool
