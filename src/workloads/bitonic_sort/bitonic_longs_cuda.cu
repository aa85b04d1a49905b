#include "boundary/cuda_text.cuh"
#include "workloads/bitonic_sort/bitonic_cuda.hpp"

namespace gpusync::tool {

template <>
sort_kernels sort_kernels_of<uint64_t>() {
  return {kernels_of<bitonic_steps<uint64_t>, grid::cuda_algorithms>(),
          kernels_of<bitonic_stages<uint64_t>, few_barriers>()};
}

}  // namespace gpusync::tool
