// The lock-based grid barrier: one counter that every block adds to and polls.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>
#include <gpusync/grid/votes.hpp>

namespace gpusync::grid {

/// Xiao and Feng's lock-based barrier (2009/2010; items F2 and F4), in which thread 0 of each block adds to one counter
/// and polls it until all have. Since the counter never returns to zero (see phase_word), neither phases nor launches
/// need a reset, and the wrap-safe comparison replaces the `!=` of the original, which can hang.
///
/// Preconditions: all members run at once; all threads of a block call together.
/// Synchronizes: with ordering acquire_release or fence (see docs/memory-model.md on the latter), everything before
///   arrive() in any thread of any block happens before everything after wait() in every thread, at device scope. With
///   ordering none: nothing is ordered.
/// Progress: each block must make progress independently of the others (co-residency gives that).
/// Cost: one hop. Per block one atomic add on one word and polls of that word; the adds are served one after the
///   other (about 0.7 ns each on H200), so the cost grows with the number of blocks, and polls delay them. The add is
///   one that returns the old value: a block starts to poll only once its add is done.
/// Storage: one word, and two of 64 bits for votes, on a line of its own; at most 65,535 blocks.
template <ordering Order>
struct lock_based : algorithm_defaults {
  static constexpr ordering order = Order;
  static constexpr const char* family = "lock-based";
  static constexpr uint32_t max_blocks = phase_word::max_blocks;
  /// An arrival that orders nothing cannot part what was before the first vote from the votes.
  static constexpr bool has_votes = orders_data(Order);

  /// The counter at the end of the phase in which the block arrived. Meaningful in thread 0, the one that waits.
  using token = uint32_t;

  /// A thread's own part.
  struct state {
    uint32_t goal;  ///< the counter at the end of the phase to come
    uint32_t step;  ///< what its block adds
  };

  /// 32-bit words of shared state; all zero is a valid start.
  GPUSYNC_HD static constexpr size_t words(uint32_t) { return vote_word::second + 2; }
  /// Puts fresh state into phase `phase` (modulo the counter's 2^16) instead of 0, so that tests can start near the
  /// wrap.
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t, uint32_t phase) {
    *words = phase_word::start_of(phase);
    vote_word::start_at(words, phase);
  }

  /// A mark of the phase that the token belongs to: the same in all blocks, never 0.
  GPUSYNC_HD static uint32_t stamp(token goal) { return goal | 1u; }
  /// The token of the phase to come.
  GPUSYNC_HD static token upcoming(const state& own) { return own.goal; }
  /// The mark of the phase after a token's.
  GPUSYNC_HD static uint32_t next_stamp(token goal) { return stamp(goal + phase_word::one_phase); }

  /// Every thread of a member, before the block's first arrival in a launch and whenever the membership has changed.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid, const uint32_t* words, membership who) {
    // The phase cannot end before this block has arrived, so that every thread reads the same phase.
    const uint32_t now = Grid::memory::template load<memory_order::relaxed, scope::device>(words);
    return {phase_word::goal(now), who.rank == 0 ? phase_word::completing(who.count) : 1u};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    release_block<Order>(grid);
    token goal = own.goal;
    own.goal += phase_word::one_phase;
    if (grid.thread() == 0) {
      goal = phase_word::goal(Grid::memory::template fetch_add<publishes<Order>, scope::device>(words, own.step));
    }
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t* words, const state&, token goal, Context& context) {
    return wait_for_goal<Order>(grid, words, goal, context);
  }

  // Votes: thread 0 adds and polls.
  /// Whether the calling thread adds to a vote's word.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static bool vote_adds(Grid grid, const state&) {
    return grid.thread() == 0;
  }
  /// Whether it adds where that need not wait for the block.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static bool vote_adds_at_once(Grid grid, const state& own) {
    return vote_adds(grid, own);
  }
  /// The threads that do.
  GPUSYNC_HD static uint32_t vote_lanes(const state&) { return 1; }
  /// Whether it is the block's first, which polls one.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static bool vote_first(Grid grid, const state&) {
    return grid.thread() == 0;
  }
  /// Whether it polls one.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static bool vote_polls(Grid grid, const state& own) {
    return vote_first(grid, own);
  }
  /// The first word that it adds to.
  GPUSYNC_HD static uint64_t* vote_added(uint32_t* words, const state&) { return vote_word::of_line(words); }
  /// The first word that it polls.
  GPUSYNC_HD static const uint64_t* vote_polled(uint32_t* words, const state&) { return vote_word::of_line(words); }
  /// What it does besides, off the critical path.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void vote_drain(const state&) {}
  /// Cycles from its add to its first poll.
  template <bool AtOnce>
  GPUSYNC_HD static uint32_t vote_backoff(const state&) {
    return 0;
  }
};

}  // namespace gpusync::grid
