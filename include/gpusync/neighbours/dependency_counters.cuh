// Dependency counters on a CUDA device.
#pragma once

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/neighbours/dependency_counters_storage.hpp>
#include <gpusync/neighbours/device.cuh>

namespace gpusync {

/// Owns the dependency counters of a grid of `blocks` blocks of a CUDA device. Reusable by one launch after another
/// without a reset, unless a wait timed out: a launch goes on with the epoch behind the last one. For launches on one
/// stream, as cuda_barrier_storage, graphs and their replays among them; hand_over() as there.
class dependency_counter_storage : public detail::dependency_counter_storage<cuda_grid, detail::cuda_backend> {
 public:
  /// `expected`: by counter, how many publishes it gets in an epoch; 0 for one that need not be waited for.
  /// `producers`: by counter, the blocks that publish to it, each once; only reports of time-outs look at them. Empty:
  /// they are not known. `first_epoch`: for tests of the wrap.
  ///
  /// Throws invalid_argument for no counters, more than 2^28, more than 2^30 publishes to one, producers that are not
  /// in the grid or are more than publishes; cuda_failure if memory is short.
  dependency_counter_storage(const cuda_device& device, block_count blocks, std::vector<uint32_t> expected,
                             const std::vector<std::vector<uint32_t>>& producers = {},
                             counter_spacing spacing = counter_spacing::automatic, uint32_t first_epoch = 0)
      : detail::dependency_counter_storage<cuda_grid, detail::cuda_backend>(
            device, blocks,
            detail::counter_tables(detail::require_counter_blocks(blocks), std::move(expected), producers), spacing,
            first_epoch) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }
};

}  // namespace gpusync
