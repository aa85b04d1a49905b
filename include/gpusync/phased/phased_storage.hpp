// What the storages of phased grids have in common, whatever memory is behind them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gpusync/core/error.hpp>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/core/size.hpp>
#include <gpusync/grid/layout.hpp>
#include <gpusync/phased/phased_grid.hpp>

namespace gpusync::detail {

/// `virtual_blocks`, or throws invalid_argument if there cannot be so many.
inline uint32_t at_least_one(uint64_t virtual_blocks) {
  if (virtual_blocks != 0 && virtual_blocks < phased::no_block) return static_cast<uint32_t>(virtual_blocks);
  throw invalid_argument("A phased grid has 1 to " + std::to_string(phased::no_block - 1) + " virtual blocks, not " +
                         std::to_string(virtual_blocks) + ".");
}

/// The base of cuda_phased_storage and host_phased_storage. BarrierStorage: of its resident blocks, on Grid.
template <class Schedule, class Algorithm, class Grid, class Backend, class BarrierStorage>
class phased_storage {
 public:
  using grid_type = basic_phased_grid<Schedule, Algorithm, Grid>;

  /// What a kernel takes as its first parameter. launch_phased() calls it. Throws invalid_argument for no virtual
  /// blocks or more than the storage was made for.
  grid_type grid(uint32_t virtual_blocks) {
    if (at_least_one(virtual_blocks) > virtual_blocks_) {
      throw invalid_argument("The phased grid has " + std::to_string(virtual_blocks) +
                             " virtual blocks, but its storage was made for " + std::to_string(virtual_blocks_) +
                             ". Make a larger storage.");
    }
    auto given = barrier_.barrier().given();
    given.header.kind = handle_kind::at_most_grid;
    given.header.count = virtual_blocks;
    return {given, state(), state() + told_, virtual_blocks};
  }

  uint32_t capacity() const { return virtual_blocks_; }
  /// The most resident blocks that it serves.
  uint32_t resident_capacity() const { return resident_; }

  /// The resident blocks that a timed-out wait missed, with the phase; empty if none timed out. Synchronizes with
  /// nothing: call it after the kernel, or at any time while it runs.
  std::vector<missing_block> missing() const { return barrier_.missing(); }

  /// What went wrong in a launch on this storage, in a sentence or two; empty if nothing did.
  std::string report() const { return barrier_.report(); }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage. Blocking.
  void reset() {
    barrier_.reset();
    words_.clear();
  }

  /// Bytes of the memory that blocks share, the lines of placed counters not counted.
  size_t bytes() const { return barrier_.bytes() + words_.bytes(); }

  /// The words of the schedule, for tests.
  uint32_t* state() { return words_.data(); }

 protected:
  /// For up to `resident` resident blocks. `make_barrier(number)` makes the BarrierStorage for so many.
  template <class MakeBarrier>
  phased_storage(const typename Backend::place& where, block_count virtual_blocks, uint32_t resident,
                 const MakeBarrier& make_barrier)
      : virtual_blocks_(at_least_one(virtual_blocks)),
        resident_(std::min(virtual_blocks_, resident)),
        told_(whole_lines(Schedule::words(virtual_blocks_) + 1)),
        barrier_(make_barrier(resident_)),
        words_(where, told_ + whole_lines(size_t{phased::detail::block_words<Grid>::per_block} * resident_)) {
    barrier_.count_phases_of(Schedule::barriers);
  }

  BarrierStorage& barrier_storage() { return barrier_; }
  const BarrierStorage& barrier_storage() const { return barrier_; }

 private:
  uint32_t virtual_blocks_;
  uint32_t resident_;
  size_t told_;  ///< where the words lie in which a block tells its threads
  BarrierStorage barrier_;
  typename Backend::template words<uint32_t> words_;
};

}  // namespace gpusync::detail
