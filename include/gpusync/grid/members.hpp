// Which blocks of a grid a barrier joins.
#pragma once

#include <gpusync/core/arrival_log.hpp>
#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync {

/// A barrier's members as one of them sees them.
struct membership {
  uint32_t rank;   ///< its own, 0 to count - 1
  uint32_t count;  ///< of members
};

/// @page Members
/// Which blocks of a grid a barrier joins, as a thread of one of them knows it. Copied freely.
/// - `may_drop`: whether members may leave in the course of a launch; then there are drop() and changed(), see
///   dropping_blocks
/// - `of(grid)`: the calling block's membership; of a block that never was a member, the rank is not below the count
/// - `place(grid)`: the calling block's place in the arrival log, the same throughout a launch
/// - `places(grid)`: how many places the calling block asks for when it has waited in vain
/// - `block_at(grid, place)`: the block at a place, as the grid counts its blocks
/// - `takes_part(grid, place)`: whether the block at a place is (still) a member
/// - `in_log(grid, log, place)`: what stands at a place, for a block that has the arrival log of its own grid
/// - `tell_others(grid)`: that a phase is lost, the barrier's blocks in other grids

/// Members that are all of one grid: the base of those. Fulfils @ref Members with what derives from it.
struct members_of_one_grid {
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD entry_in_log in_log(Grid grid, const arrival_log& log, uint32_t place) const {
    return entry_in_log::at(grid, log.arrived + place, log.entered + place);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void tell_others(Grid) const {}
};

/// All blocks of the grid, from the launch's beginning to its end. Fulfils @ref Members.
struct whole_grid : members_of_one_grid {
  static constexpr bool may_drop = false;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD membership of(Grid grid) const {
    return {grid.block(), grid.blocks()};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t place(Grid grid) const {
    return grid.block();
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t places(Grid grid) const {
    return grid.blocks();
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t block_at(Grid, uint32_t place) const {
    return place;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool takes_part(Grid, uint32_t) const {
    return true;
  }
};

/// The blocks `first` to `first + count - 1` of the grid. The others must not call the barrier: they are refused.
/// Fulfils @ref Members.
struct block_range : members_of_one_grid {
  static constexpr bool may_drop = false;

  uint32_t first = 0;  ///< the first block, counted as the grid counts its blocks
  uint32_t count = 1;  ///< how many blocks from there

  /// Block 0 alone.
  GPUSYNC_HD constexpr block_range() {}
  /// `blocks` blocks from `from` on.
  GPUSYNC_HD constexpr block_range(uint32_t from, uint32_t blocks) : first(from), count(blocks) {}

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD membership of(Grid grid) const {
    return {grid.block() - first, count};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t place(Grid grid) const {
    return grid.block() - first;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t places(Grid) const {
    return count;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t block_at(Grid, uint32_t place) const {
    return first + place;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool takes_part(Grid, uint32_t) const {
    return true;
  }
};

/// All blocks of the grid that have not dropped out (arrive_and_drop). Members are counted anew in each launch;
/// gpusync::launch() clears the roster before the kernel starts.
///
/// Drops of even and of odd phases are noted apart: a block that reads the notes of phase p after that phase may find
/// drops of phase p + 1 under way, which do not count yet, but none of phase p + 2, for it has not arrived in p + 1.
/// Fulfils @ref Members.
class dropping_blocks : public members_of_one_grid {
 public:
  static constexpr bool may_drop = true;

  /// With the storage's roster of `capacity` blocks: use its dropping_barrier().
  GPUSYNC_HD explicit dropping_blocks(uint32_t* roster = nullptr, uint32_t capacity = 0)
      : roster_(roster), capacity_(capacity) {}

  /// 32-bit words of the roster for up to `capacity` blocks: for each parity a count and a bit for each block.
  GPUSYNC_HD static constexpr uint32_t words(uint32_t capacity) { return 2 * (1 + (capacity + 31) / 32); }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD membership of(Grid grid) const {
    return {grid.block() - even_.before - odd_.before, grid.blocks() - even_.gone - odd_.gone};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t place(Grid grid) const {
    return grid.block();
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t places(Grid grid) const {
    return grid.blocks();
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t block_at(Grid, uint32_t place) const {
    return place;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool takes_part(Grid, uint32_t place) const {
    return ((bits<Grid>(0, place / 32) | bits<Grid>(1, place / 32)) >> place % 32 & 1u) == 0;
  }

  /// One thread of the block, before it arrives in the launch's `phase`-th phase, its last: notes the drop.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void drop(Grid grid, uint32_t phase) const {
    using memory = typename Grid::memory;
    const uint32_t block = grid.block();
    memory::template add<memory_order::relaxed, scope::device>(half(phase) + 1 + block / 32, 1u << block % 32);
    memory::template add<memory_order::relaxed, scope::device>(half(phase), 1u);
  }

  /// Each thread, after the launch's `phase`-th phase: whether members have dropped in it; then of() has changed.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool changed(Grid grid, uint32_t phase) {
    using memory = typename Grid::memory;
    const uint32_t gone = memory::template load<memory_order::relaxed, scope::device>(half(phase));
    if (gone == (phase % 2 == 0 ? even_ : odd_).gone) return false;
    uint32_t before = 0;
    const uint32_t block = grid.block();
    for (uint32_t word = 0; word <= block / 32; ++word) {
      const uint32_t mask = word == block / 32 ? (1u << block % 32) - 1 : ~0u;
      before += ones(bits<Grid>(phase, word) & mask);
    }
    // Not an array: an index known at run time only would put it, and the barrier around it, into memory.
    if (phase % 2 == 0) {
      even_ = {before, gone};
    } else {
      odd_ = {before, gone};
    }
    return true;
  }

 private:
  GPUSYNC_HD uint32_t* half(uint32_t phase) const { return roster_ + phase % 2 * (words(capacity_) / 2); }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t bits(uint32_t phase, uint32_t word) const {
    return Grid::memory::template load<memory_order::relaxed, scope::device>(half(phase) + 1 + word);
  }
  GPUSYNC_HD static uint32_t ones(uint32_t word) {
    uint32_t count = 0;
    for (; word != 0; word &= word - 1) ++count;
    return count;
  }

  uint32_t* roster_;
  uint32_t capacity_;
  struct drops {
    uint32_t before;  ///< of blocks before this one
    uint32_t gone;    ///< in all
  };
  drops even_{0, 0}, odd_{0, 0};  ///< of phases with such a number
};

}  // namespace gpusync
