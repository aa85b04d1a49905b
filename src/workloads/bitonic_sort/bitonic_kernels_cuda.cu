#include "boundary/cuda_text.cuh"
#include "workloads/bitonic_sort/bitonic_cuda.hpp"

namespace gpusync::tool {

template <class Element>
sort_kernels sort_kernels_of() {
  return {kernels_of<bitonic_steps<Element>, grid::cuda_algorithms>(),
          kernels_of<bitonic_stages<Element>, few_barriers>()};
}

template sort_kernels sort_kernels_of<uint32_t>();
template sort_kernels sort_kernels_of<uint64_t>();
template sort_kernels sort_kernels_of<sort_pair>();

}  // namespace gpusync::tool
