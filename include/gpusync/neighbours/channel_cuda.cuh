// Channels between blocks of a CUDA kernel.
#pragma once

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_warps_grid.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/neighbours/channel_storage.hpp>
#include <gpusync/neighbours/device.cuh>

namespace gpusync {

/// Owns channels between blocks of a grid on a CUDA device. Memory: for each channel 256 bytes and the ring, of 8 bytes
/// a word (16 for values of 8 bytes). Nothing needs a reset between launches, which follow each other on one stream;
/// another stream's is refused until hand_over().
template <class T>
class channel_storage : public detail::channels_storage<T, cuda_grid, detail::cuda_backend> {
 public:
  /// A channel for each of `ends`, with a ring of `depth` chunks of `chunk` words. A grid must have all the blocks that
  /// they name. `before`: as if so many chunks had been sent and taken, for tests. Throws invalid_argument if there is
  /// none, or one with no room, cuda_failure if memory is short.
  channel_storage(const cuda_device& device, const std::vector<channel_ends>& ends, uint64_t chunk, uint64_t depth,
                  uint64_t before = 0)
      : channel_storage::channels_storage(device, ends, chunk, depth, before) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }
};

}  // namespace gpusync
