// Phased grids whose blocks are host threads: their memory, and their launch.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <gpusync/grid/host_storage.hpp>
#include <gpusync/grid/lock_based.hpp>
#include <gpusync/launch/host.hpp>
#include <gpusync/phased/phased_grid.hpp>
#include <gpusync/phased/shape.hpp>
#include <gpusync/phased/state.hpp>
#include <gpusync/phased/storage_layout.hpp>

namespace gpusync {

/// Owns the state of one phased grid of up to `virtual_blocks` virtual blocks on host threads: its barrier and what its
/// schedule needs. Reusable by one launch after another without a reset, unless a wait timed out or a block threw.
template <class Schedule, class Algorithm = grid::lock_based<ordering::acquire_release>, class Grid = host_grid>
class host_phased_storage {
 public:
  /// What a kernel gets.
  using grid_type = basic_phased_grid<Schedule, Algorithm, Grid>;

  /// For up to `resident` resident blocks; 0: as many as the host has cores. Throws invalid_argument for no virtual
  /// blocks, or if the barrier cannot serve that many resident ones.
  explicit host_phased_storage(block_count virtual_blocks, uint32_t resident = 0)
      : virtual_blocks_(phased::at_least_one(virtual_blocks)),
        resident_(std::min(virtual_blocks_, resident != 0 ? resident : host_device{}.cores())),
        layout_(phased::layout::of<Schedule, Grid>(virtual_blocks_, resident_)),
        barrier_(resident_),
        words_(std::make_unique<line[]>(layout_.total / grid::layout::line_words)) {}

  /// What a kernel takes as its first parameter. launch_phased() calls it.
  grid_type grid(uint32_t virtual_blocks) {
    phased::require_capacity(virtual_blocks, virtual_blocks_);
    return {barrier_.barrier().given(), words(), words() + layout_.told, virtual_blocks};
  }

  /// The most virtual blocks that it serves.
  uint32_t capacity() const { return virtual_blocks_; }
  /// The most resident blocks that it serves.
  uint32_t resident_capacity() const { return resident_; }

  /// The resident blocks that a timed-out wait missed, with the phase; empty if none timed out.
  std::vector<missing_block> missing() { return phased::in_phases<Schedule>(barrier_.missing()); }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage.
  void reset() {
    barrier_.reset();
    std::fill(words(), words() + layout_.total, 0u);
  }

  /// Bytes of shared state.
  size_t bytes() const { return barrier_.bytes() + layout_.total * sizeof(uint32_t); }

  /// The words of the schedule, for tests.
  uint32_t* state() { return words(); }

 private:
  struct alignas(128) line {
    uint32_t words[grid::layout::line_words] = {};
  };
  uint32_t* words() { return words_[0].words; }

  uint32_t virtual_blocks_;
  uint32_t resident_;
  phased::layout layout_;
  host_barrier_storage<Algorithm, Grid> barrier_;
  std::unique_ptr<line[]> words_;
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
