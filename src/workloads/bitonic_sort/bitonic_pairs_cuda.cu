#include "boundary/cuda_text.cuh"
#include "workloads/bitonic_sort/bitonic_cuda.hpp"

namespace gpusync::tool {

template <>
sort_kernels sort_kernels_of<sort_pair>() {
  return {kernels_of<bitonic_steps<sort_pair>, grid::cuda_algorithms>(),
          kernels_of<bitonic_stages<sort_pair>, few_barriers>()};
}

}  // namespace gpusync::tool
