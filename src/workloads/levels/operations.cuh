// Operations for chains (measure/cuda_chain.cuh) that more than one experiment measures.
#pragma once

#include <cooperative_groups.h>

#include "measure/cuda_chain.cuh"

namespace gpusync::tool {

/// What an operation has that all threads take part in and that leaves no value to look at.
class plain_operation {
 public:
  static constexpr bool leaves_value = false;

  __device__ static bool takes_part(const chain_setting&) { return true; }
  __device__ bool wrong(unsigned int) const { return false; }
  __device__ static unsigned int read(const unsigned int* word) { return *word; }
};

/// A value that the operation changes in a known way.
class counting_operation : public plain_operation {
 public:
  static constexpr bool leaves_value = true;

  __device__ explicit counting_operation(const chain_setting& setting)
      : first_(setting.seed + threadIdx.x), value_(first_) {}

 protected:
  unsigned int first_, value_;
};

/// The next thread of the warp.
__device__ __forceinline__ unsigned int next_in_warp() {
  return threadIdx.x / 32 * 32 + (threadIdx.x + 1) % 32;
}

/// A thread of another warp, if there is one.
__device__ __forceinline__ unsigned int far_in_block() {
  return (threadIdx.x + blockDim.x / 2 + 1) % blockDim.x;
}

class warp_sync : public plain_operation {
 public:
  __device__ explicit warp_sync(const chain_setting&) {}
  __device__ __forceinline__ void once(unsigned int) { __syncwarp(); }
  __device__ static unsigned int partner() { return next_in_warp(); }
};

class block_sync : public plain_operation {
 public:
  __device__ explicit block_sync(const chain_setting&) {}
  __device__ __forceinline__ void once(unsigned int) { __syncthreads(); }
  __device__ static unsigned int partner() { return far_in_block(); }
};

/// A tile of so many lanes.
template <unsigned int Lanes>
class in_tile {
 protected:
  /// The thread that is `steps` further in the tile.
  __device__ unsigned int further(unsigned int steps) const {
    return threadIdx.x - tile_.thread_rank() + (tile_.thread_rank() + steps) % Lanes;
  }

  const cooperative_groups::thread_block_tile<Lanes, cooperative_groups::thread_block> tile_ =
      cooperative_groups::tiled_partition<Lanes>(cooperative_groups::this_thread_block());
};

template <unsigned int Lanes>
class tile_sync : public plain_operation, in_tile<Lanes> {
 public:
  __device__ explicit tile_sync(const chain_setting&) {}
  __device__ __forceinline__ void once(unsigned int) { this->tile_.sync(); }
  __device__ unsigned int partner() const { return this->further(1); }
};

/// Each lane takes the value of the next.
template <unsigned int Lanes>
class tile_shuffle : public counting_operation, in_tile<Lanes> {
 public:
  __device__ explicit tile_shuffle(const chain_setting& setting)
      : counting_operation(setting), from_((this->tile_.thread_rank() + 1) % Lanes) {}
  __device__ __forceinline__ void once(unsigned int) { value_ = this->tile_.shfl(value_, from_); }
  __device__ bool wrong(unsigned int operations) const {
    return value_ != first_ - threadIdx.x + this->further(operations);
  }

 private:
  const unsigned int from_;
};

/// An addition to one float. Sums of whole numbers below 2^24 are exact. Each lane has another: one that is the same in
/// all is added by the uniform datapath of newer GPUs, which takes other times.
class float_add : public plain_operation {
 public:
  static constexpr bool leaves_value = true;

  __device__ explicit float_add(const chain_setting& setting)
      : first_(static_cast<float>(setting.seed % 1024 + threadIdx.x)),
        value_(first_),
        more_(setting.group != 0 ? 2.0f : 1.0f) {}
  __device__ __forceinline__ void once(unsigned int) {
    asm volatile("add.f32 %0, %0, %1;" : "+f"(value_) : "f"(more_));
  }
  __device__ bool wrong(unsigned int operations) const {
    return value_ != first_ + more_ * static_cast<float>(operations);
  }

 private:
  float first_, value_, more_;
};

}  // namespace gpusync::tool
