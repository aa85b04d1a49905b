// The fault-tolerant barrier of a CUDA grid.
#pragma once

#include <memory>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/cuda_storage_control.hpp>
#include <gpusync/core/size.hpp>
#include <gpusync/rmw/cuda.cuh>
#include <gpusync/rmw/fault_tolerant_barrier.hpp>

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
      asm volatile("atom.acquire.gpu.global.add.u64 %0, [%1], 1;"
                   : "=l"(before)
                   : "l"(__cvta_generic_to_global(word))
                   : "memory");
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
class cuda_fault_tolerant_storage {
 public:
  /// What a kernel gets.
  using barrier_type = fault_tolerant_barrier<N>;

  /// Throws invalid_argument unless there are 1 to N blocks, cuda_failure if memory is short.
  cuda_fault_tolerant_storage(const cuda_device& device, block_count blocks)
      : blocks_(rmw::require_survivable<N>(blocks)),
        words_(device, barrier_type::bytes(blocks_)),
        control_(std::make_unique<control>(words_, blocks_)) {}

  /// The barrier to hand to a kernel by gpusync::launch(), which makes all blocks members again, on the stream, before
  /// each launch (for other launches: check_launch()). Blocks that the launch does not have are lost in the first
  /// phase.
  barrier_type barrier() {
    return barrier_type(static_cast<uint64_t*>(words_.address()), blocks_,
                        {detail::handle_header::magic, control_->number(), detail::handle_kind::survivors, 0, blocks_});
  }

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { control_->order.forget(); }

  /// The blocks that it was made for.
  uint32_t blocks() const { return blocks_; }
  /// Bytes of device memory.
  size_t bytes() const { return words_.bytes(); }

 private:
  class control : public detail::storage_control {
   public:
    control(const cuda_buffer& words, uint32_t blocks)
        : order(words.ordinal()),
          address_(words.address()),
          bytes_(words.bytes()),
          ordinal_(words.ordinal()),
          blocks_(blocks) {}

    int device() const override { return ordinal_; }
    void check(const detail::handle_header&, const detail::launch_request& launch) override {
      if (launch.device != ordinal_) {
        throw invalid_argument("A fault-tolerant barrier's storage was made for CUDA device " +
                               std::to_string(ordinal_) + ", but the launch is on another. Make a storage there.");
      }
      if (launch.blocks > blocks_) {
        throw invalid_argument("The grid has " + std::to_string(launch.blocks) +
                               " blocks, but its fault-tolerant barrier's storage was made for " +
                               std::to_string(blocks_) + ". Make a larger storage.");
      }
      if (launch.threads < cuda_grid::warp_size) {
        throw invalid_argument(
            "A fault-tolerant barrier needs blocks of at least a warp of 32 threads, which acts for "
            "the block; these have " +
            std::to_string(launch.threads) + ".");
      }
      order.check(launch);
    }
    void prepare(const detail::handle_header&, const detail::launch_request& launch) override {
      order.follow();
      check_cuda(cudaMemsetAsync(address_, 0, bytes_, static_cast<cudaStream_t>(launch.stream)), "cudaMemsetAsync");
    }

    detail::stream_order order;

   private:
    void* address_;
    size_t bytes_;
    int ordinal_;
    uint32_t blocks_;
  };

  uint32_t blocks_;
  cuda_buffer words_;
  std::unique_ptr<control> control_;
};

}  // namespace gpusync
