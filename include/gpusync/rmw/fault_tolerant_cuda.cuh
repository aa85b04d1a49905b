// The fault-tolerant barrier of a CUDA grid.
#pragma once

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/rmw/cuda.cuh>
#include <gpusync/rmw/survivor_storage.hpp>

namespace gpusync {

namespace rmw {

/// The warp that acts for its block at a fault-tolerant barrier: the block's first 32 threads, converged.
struct cuda_survivor : cuda_warp<space::global> {
  /// Stores `mark` to the flag, then adds 1 to the word, and returns what that held. Both release what came before; the
  /// addition acquires, too. One fence for both.
  __device__ __forceinline__ uint64_t arrive(uint64_t* flag, uint64_t mark, uint64_t* word) const {
    uint64_t before = 0;
    if (lane() == 0) {
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      store<memory_order::relaxed>(flag, mark);
      before = access::template fetch_add<memory_order::acquire>(word, uint64_t{1});
    }
    return of_lane_0(before);
  }
  /// One poll of a word in which `last` was found last. One lane polls: the others wait for it.
  __device__ __forceinline__ uint64_t poll(const uint64_t* word, uint64_t last) const {
    if (lane() == 0) last = load<memory_order::relaxed>(word);
    return of_lane_0(last);
  }
  /// Makes visible what was released before the value was written that was polled last.
  __device__ __forceinline__ void acquire(const uint64_t* word) const {
    if (lane() == 0) (void)load<memory_order::acquire>(word);
    __syncwarp();
  }
  /// Whether the deadline is over: by the clock that one lane has read.
  template <class Grid>
  __device__ __forceinline__ bool late(Grid grid, deadline& limit) const {
    return limit.passed(of_lane_0(grid.now()));
  }

 private:
  __device__ __forceinline__ uint64_t of_lane_0(uint64_t word) const {
    return __shfl_sync(0xffffffffu, static_cast<unsigned long long>(word), 0);
  }
};

}  // namespace rmw

/// A fault-tolerant barrier for grids of up to N blocks, of 32 threads or more.
template <uint32_t N>
using fault_tolerant_barrier = basic_fault_tolerant_barrier<N, cuda_grid, rmw::cuda_survivor>;

/// Owns the memory of one fault-tolerant barrier for `blocks` blocks of a CUDA device.
template <uint32_t N>
class cuda_fault_tolerant_storage
    : public detail::survivor_storage<N, cuda_grid, rmw::cuda_survivor, detail::cuda_backend> {
 public:
  /// Throws invalid_argument unless there are 1 to N blocks, cuda_failure if memory is short.
  cuda_fault_tolerant_storage(const cuda_device& device, block_count blocks)
      : cuda_fault_tolerant_storage::survivor_storage(device, blocks) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }
};

}  // namespace gpusync
