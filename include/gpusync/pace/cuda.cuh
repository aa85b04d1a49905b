// Artificial barriers and windows on a CUDA device.
#pragma once

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/pace/device.cuh>
#include <gpusync/pace/window_storage.hpp>

namespace gpusync {

/// Owns the counters of a window over grids of any size of a CUDA device: a line of 128 bytes for each, as many as the
/// lead's next power of two. Reusable by one launch after another; gpusync::launch() sets them to zero before each,
/// which queues a memset. For launches on one stream, as cuda_barrier_storage; hand_over() as there.
///
/// With pace::best_effort gpusync::launch() takes grids of any size, also such as do not run as a whole at one time.
template <class Policy = pace::best_effort>
class cuda_window_storage : public detail::window_storage<cuda_grid, Policy, detail::cuda_backend> {
 public:
  /// A lead of 1 to 4,096 epochs. `limit`: how long a block waits in one epoch at most, before it gives up pacing;
  /// longer than an epoch. Without meaning for pace::strict. Throws invalid_argument for another lead, cuda_failure if
  /// memory is short.
  explicit cuda_window_storage(const cuda_device& device, uint64_t lead = 2, timeout limit = timeout(200000))
      : cuda_window_storage::window_storage(device, lead, limit) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }
};

/// The storage of a grid_window.
using grid_window_storage = cuda_window_storage<>;
/// The storage of a strict_grid_window.
using strict_grid_window_storage = cuda_window_storage<pace::strict>;

}  // namespace gpusync
