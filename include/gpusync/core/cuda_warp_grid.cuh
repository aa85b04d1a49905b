// The grid as one warp sees it that acts for its block.
#pragma once

#include <gpusync/core/cuda_grid.cuh>

namespace gpusync {

/// As cuda_grid, but what a barrier takes for "the block" is the calling warp alone: its 32 lanes call together, and
/// the block's other warps are not waited for. Whoever uses it says how those learn what the warp has waited for
/// (attended_barrier). In one phase only one warp of each block may act for it.
struct cuda_warp_grid : cuda_grid {
  static __device__ __forceinline__ cuda_warp_grid current() { return {}; }

  /// Threads that call together.
  __device__ __forceinline__ uint32_t threads() const { return warp_size; }
  /// The calling thread's lane.
  __device__ __forceinline__ uint32_t thread() const {
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }

  /// Waits for all lanes of the warp and orders their memory accesses.
  __device__ __forceinline__ void sync_block() const { __syncwarp(); }
  /// The same; returns whether `value` was true in any lane.
  __device__ __forceinline__ bool sync_block_or(bool value) const {
    __syncwarp();
    return __any_sync(all_lanes, value) != 0;
  }
  /// A vote needs no memory to be prepared.
  __device__ __forceinline__ uint32_t prepare_telling() const { return 1; }
  __device__ __forceinline__ void tell_block(uint32_t) const {}
  __device__ __forceinline__ bool sync_block_telling(bool value, uint32_t) const { return sync_block_or(value); }

 private:
  static constexpr unsigned all_lanes = 0xffffffffu;
};

}  // namespace gpusync
