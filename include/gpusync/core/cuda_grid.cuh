// The grid that a CUDA kernel sees.
#pragma once

#include <gpusync/core/cuda_memory.cuh>

namespace gpusync {

/// The running kernel's grid and the calling thread's place in it, with grids and blocks of one to three dimensions
/// counted as one row (x fastest). Empty: everything is read from special registers when asked for.
struct cuda_grid {
  using memory = cuda_memory;
  /// A poll takes about a third of a microsecond, and a read of the global timer longer than that: the clock is asked
  /// every ten microseconds or so, which is how exact deadlines are.
  static constexpr uint32_t polls_per_clock_read = 32;

  /// The grid of the calling thread.
  static __device__ __forceinline__ cuda_grid current() { return {}; }

  __device__ __forceinline__ uint32_t blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
  __device__ __forceinline__ uint32_t block() const {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  /// Threads in a block.
  __device__ __forceinline__ uint32_t threads() const { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ __forceinline__ uint32_t thread() const {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }

  /// Waits for all threads of the block and orders their memory accesses (block scope).
  __device__ __forceinline__ void sync_block() const { __syncthreads(); }
  /// The same; returns whether `value` was true in any thread of the block.
  __device__ __forceinline__ bool sync_block_or(bool value) const { return __syncthreads_or(value) != 0; }

  /// Nanoseconds of the device's global timer (32 ns ticks on H200, 1 us on some others).
  __device__ __forceinline__ uint64_t now() const {
    uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  }

  /// Between two polls. A poll of a GPU is a round trip to L2 in which other warps run: nothing to add.
  __device__ __forceinline__ void pause() const {}
};

}  // namespace gpusync
