// Workload "reduction" on CUDA devices: kernels of which each block leaves its sum for another kernel, or for what
// comes behind a barrier.
#pragma once

#include <algorithm>

#include <gpusync/reduce/tiles.cuh>

#include "measure/cuda_full_blocks.cuh"
#include "workloads/reduction/reduction_cuda.cuh"

namespace gpusync::tool {

/// Their blocks: so many threads, each of which loads so many vectors at once, and so many on a multiprocessor.
namespace sum_form {
inline constexpr unsigned threads = 512, vectors = 4, blocks_per_sm = 4;
}

/// The calling block's sum, in its first thread.
template <class T>
__device__ __forceinline__ T sum_of_this_block(const reduction::input<T>& in) {
  return reduction::sum_of_block<sum_form::threads>(
      reduction::sum_of_tiles<T, sum_form::threads, sum_form::vectors, reduction_walk::dealt, false>(
          in, nullptr, blockIdx.x, gridDim.x));
}

/// The calling thread's share of what blocks have left, where one of so many threads adds it up.
template <unsigned Threads, class T>
__device__ __forceinline__ T share_of_sums(const T* sums, uint32_t count) {
  T total = 0;
  for (uint32_t i = threadIdx.x; i < count; i += Threads) total += __ldcg(sums + i);
  return total;
}

/// Leaves the blocks' sums. A dependent launch may begin at once, and wait.
template <class T>
__global__ void __launch_bounds__(sum_form::threads, full_blocks<sum_form::threads, sum_form::blocks_per_sm>)
    sum_blocks(reduction::input<T> in, T* sums) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const T sum = sum_of_this_block(in);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Blocks for the tiles of so many elements.
template <class T>
uint32_t blocks_for(const cuda_target& where, uint64_t elements) {
  const uint64_t tiles = (elements * sizeof(T) + sum_form::threads * sum_form::vectors * 16 - 1) /
                         (sum_form::threads * sum_form::vectors * 16);
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(tiles, 1, uint64_t{sum_form::blocks_per_sm} * where.device().sm_count()));
}

}  // namespace gpusync::tool
