// The lock-based grid barrier: one counter that every block adds to and polls.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>

namespace gpusync::grid {

/// Xiao and Feng's lock-based barrier (2009/2010; items F2 and F4), in which thread 0 of each block adds to one counter
/// and polls it until all have. Since the counter never returns to zero (see phase_word), neither phases nor launches
/// need a reset, and the wrap-safe comparison replaces the `!=` of the original, which can hang.
///
/// Preconditions: all blocks of the grid run at once; all threads of a block call together.
/// Synchronizes: with ordering acquire_release or fence (see docs/memory-model.md on the latter), everything before
/// arrive() in any thread of any block happens
///   before everything after wait() in every thread, at device scope. With ordering none: nothing is ordered.
/// Progress: each block must make progress independently of the others (co-residency gives that).
/// Cost: one hop. Per block one atomic add on one word and polls of that word; the adds are served one after the
///   other (about 0.7 ns each on H200), so the cost grows with the number of blocks, and polls delay them.
/// Storage: one word on a line of its own; at most 65,535 blocks.
template <ordering Order>
struct lock_based {
  static constexpr ordering order = Order;
  static constexpr bool bounded = true;  ///< waits can carry a deadline
  static constexpr bool has_orderings = true;
  static constexpr const char* family = "lock-based";
  static constexpr const char* paper_item = Order == ordering::none ? "F2" : Order == ordering::fence ? "F4" : "";
  static constexpr uint32_t max_blocks = phase_word::max_blocks;

  /// The counter as it was when the block arrived. Meaningful in thread 0 of the block, the one that waits.
  using token = uint32_t;

  /// 32-bit words of shared state; all zero is a valid start.
  GPUSYNC_HD static constexpr size_t words(uint32_t) { return 1; }
  /// Puts fresh state into phase `phase` (modulo 2^16) instead of 0, so that tests can start near the wrap.
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t phase) { *words = phase_word::start_of(phase); }

  /// A mark of the phase that the token belongs to: the same in all blocks, never 0.
  GPUSYNC_HD static uint32_t stamp(token arrived) { return phase_word::goal(arrived) | 1u; }
  /// The mark of the phase after that.
  GPUSYNC_HD static uint32_t next_stamp(token arrived) { return stamp(phase_word::goal(arrived)); }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words) {
    using memory = typename Grid::memory;
    if constexpr (Order == ordering::fence) memory::template fence<scope::device>();
    grid.sync_block();
    if (grid.thread() != 0) return 0;
    const uint32_t step = grid.block() == 0 ? phase_word::completing(grid.blocks()) : 1u;
    // The block barrier has put the other threads' writes before this; release is cumulative and publishes them all.
    constexpr memory_order publish = Order == ordering::acquire_release ? memory_order::release : memory_order::relaxed;
    return memory::template fetch_add<publish, scope::device>(words, step);
  }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid, class Deadline>
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t* words, token arrived, Deadline limit) {
    constexpr memory_order see = Order == ordering::acquire_release ? memory_order::acquire : memory_order::relaxed;
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      const uint32_t goal = phase_word::goal(arrived);
      status = wait_until<see, scope::device>(
          grid, words, [goal](uint32_t current) { return reached(current, goal); }, limit);
      if constexpr (Order == ordering::fence) Grid::memory::template fence<scope::device>();
    }
    if constexpr (Deadline::bounded) {
      const bool late = grid.sync_block_or(status == wait_status::timed_out);
      return late ? wait_status::timed_out : wait_status::completed;
    } else {
      grid.sync_block();
      return wait_status::completed;
    }
  }
};

}  // namespace gpusync::grid
