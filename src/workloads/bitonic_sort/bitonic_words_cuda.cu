#include "boundary/cuda_text.cuh"
#include "workloads/bitonic_sort/bitonic_cuda.hpp"

namespace gpusync::tool {

template <>
sort_kernels sort_kernels_of<uint32_t>() {
  return {kernels_of<bitonic_steps<uint32_t>, grid::cuda_algorithms>(),
          kernels_of<bitonic_stages<uint32_t>, few_barriers>()};
}

}  // namespace gpusync::tool
