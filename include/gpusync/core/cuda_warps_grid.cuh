// The grid as some warps of each block see it that act for their block.
#pragma once

#include <gpusync/core/cuda_grid.cuh>

namespace gpusync {

/// For a view of a single warp: it needs no named barrier.
inline constexpr int no_named_barrier = -1;

/// As cuda_grid, but what a barrier takes for "the block" are the warps that this view was made of: they call together,
/// and the block's other warps are not waited for. Whoever uses it says how those learn what these have waited for.
/// In one phase only one view of each block may act for it.
///
/// NamedBarrier: 1 to 15, on which these warps, and they alone, meet (0 is __syncthreads()); or no_named_barrier for a
/// view of one warp, which meets by __syncwarp().
template <int NamedBarrier = no_named_barrier>
class cuda_warps_grid : public cuda_grid {
  static_assert(NamedBarrier == no_named_barrier || (NamedBarrier >= 1 && NamedBarrier <= 15),
                "a named barrier from 1 to 15, or none for a view of one warp");

 public:
  static constexpr bool whole_block = false;
  /// Whether the view is of a single warp.
  static constexpr bool one_warp = NamedBarrier == no_named_barrier;

  /// The `threads` threads of the block from `first` on: whole warps. Both must be the same in all of them.
  __device__ __forceinline__ explicit cuda_warps_grid(uint32_t first = 0, uint32_t threads = warp_size)
      : first_(first), threads_(threads) {}

  /// Whether these warps can act for the calling thread's block.
  __device__ __forceinline__ bool valid() const {
    if constexpr (one_warp) return threads_ == warp_size && cuda_grid::threads() >= warp_size;
    return threads_ != 0 && threads_ % warp_size == 0 && first_ % warp_size == 0 && threads_ <= cuda_grid::threads() &&
           first_ <= cuda_grid::threads() - threads_;
  }

  /// Threads that call together.
  __device__ __forceinline__ uint32_t threads() const {
    if constexpr (one_warp) return warp_size;
    return threads_;
  }
  /// The calling thread among them.
  __device__ __forceinline__ uint32_t thread() const {
    if constexpr (!one_warp) return cuda_grid::thread() - first_;
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }

  /// Waits for all of them and orders their memory accesses.
  __device__ __forceinline__ void sync_block() const {
    if constexpr (one_warp) {
      __syncwarp();
    } else {
      cuda_grid().sync_named<NamedBarrier>(threads_);
    }
  }
  /// The same; returns whether `value` was true in any of them.
  __device__ __forceinline__ bool sync_block_or(bool value) const {
    if constexpr (one_warp) {
      __syncwarp();
      return __any_sync(all_lanes, value) != 0;
    } else {
      uint32_t any;
      asm volatile(
          "{\n\t.reg .pred mine, all;\n\tsetp.ne.u32 mine, %1, 0;\n\tbarrier.cta.red.or.pred all, %2, %3, mine;\n\t"
          "selp.u32 %0, 1, 0, all;\n\t}"
          : "=r"(any)
          : "r"(static_cast<uint32_t>(value)), "n"(NamedBarrier), "r"(threads_)
          : "memory");
      return any != 0;
    }
  }
  /// A vote needs no memory to be prepared.
  __device__ __forceinline__ uint32_t prepare_timeout_flag() const { return 1; }
  __device__ __forceinline__ void separate_timeout_flags() const {}
  __device__ __forceinline__ void raise_timeout_flag(uint32_t) const {}
  __device__ __forceinline__ bool sync_block_any(bool value, uint32_t) const { return sync_block_or(value); }

 private:
  static constexpr unsigned all_lanes = 0xffffffffu;

  uint32_t first_;
  uint32_t threads_;
};

static_assert(is_grid<cuda_warps_grid<>> && is_grid<cuda_warps_grid<1>>, "see core/concepts.hpp");

}  // namespace gpusync
