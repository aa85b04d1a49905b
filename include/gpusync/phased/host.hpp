// Phased grids whose blocks are host threads: their memory, and their launch.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <gpusync/grid/host_storage.hpp>
#include <gpusync/grid/lock_based.hpp>
#include <gpusync/launch/host.hpp>
#include <gpusync/phased/phased_storage.hpp>
#include <gpusync/phased/shape.hpp>
#include <gpusync/phased/state.hpp>

namespace gpusync {

/// Owns the state of one phased grid of up to `virtual_blocks` virtual blocks on host threads: its barrier and what its
/// schedule needs. Reusable by one launch after another without a reset, unless a wait timed out or a block threw.
template <class Schedule, class Algorithm = grid::lock_based<ordering::acquire_release>, class Grid = host_grid>
class host_phased_storage : public detail::phased_storage<Schedule, Algorithm, Grid, detail::host_backend,
                                                          host_barrier_storage<Algorithm, Grid>> {
 public:
  /// For up to `resident` resident blocks; 0: as many as the host has cores. Throws invalid_argument for no virtual
  /// blocks, or if the barrier cannot serve that many resident ones.
  explicit host_phased_storage(block_count virtual_blocks, uint32_t resident = 0)
      : host_phased_storage::phased_storage(
            detail::on_host{}, virtual_blocks, resident != 0 ? resident : host_device{}.cores(),
            [](uint32_t blocks) { return host_barrier_storage<Algorithm, Grid>(blocks); }) {}
};

/// The memory behind a phased_state on the host; zero at first.
template <class T>
class host_phased_state {
 public:
  /// `per_block` values for each virtual block.
  host_phased_state(uint32_t virtual_blocks, uint32_t per_block)
      : per_block_(per_block), values_(size_t{virtual_blocks} * per_block) {}
  /// What a kernel takes as an argument.
  phased_state<T> view() { return {values_.data(), per_block_}; }
  /// Bytes of memory.
  size_t bytes() const { return values_.size() * sizeof(T); }

 private:
  uint32_t per_block_;
  std::vector<T> values_;
};

/// Runs `kernel(grid, arguments...)` in every thread of the resident blocks, which work on `shape.virtual_blocks`
/// virtual ones, and returns when all have ended. Resident blocks are as many as the host's cores carry, never more
/// than virtual ones or than the storage serves. Returns their number.
///
/// Never refuses a grid for its size. Throws invalid_argument for an empty grid or one beyond the storage's capacity,
/// otherwise as launch().
template <class Schedule, class Algorithm, class Grid, class Kernel, class... Arguments>
uint32_t launch_phased(const host_device& device, const phased_shape& shape, Kernel&& kernel,
                       host_phased_storage<Schedule, Algorithm, Grid>& storage, const Arguments&... arguments) {
  const auto threads = static_cast<uint32_t>(std::min<uint64_t>(shape.threads.count(), UINT32_MAX));
  const uint32_t fitting = shape.resident != 0 ? shape.resident : std::max(1u, device.cores() / std::max(1u, threads));
  const uint32_t resident = std::min({shape.virtual_blocks, storage.resident_capacity(), fitting});
  launch(device, {std::max(1u, resident), shape.threads}, kernel, storage.grid(shape.virtual_blocks), arguments...);
  return resident;
}

}  // namespace gpusync
