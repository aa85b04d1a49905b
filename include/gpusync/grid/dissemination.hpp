// The dissemination grid barrier: in each round a block tells another that all it has heard of are here.
#pragma once

#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/arrival_flags.hpp>
#include <gpusync/grid/members.hpp>

namespace gpusync::grid {

/// The dissemination barrier of Hensgen, Finkel and Manber (1988), which has neither a counter nor a collector: in
/// round r thread 0 of the member with rank i signals to i + 2^r and waits for i - 2^r (modulo the number of members);
/// after log2 of their number, rounded up, each has heard of all. Nothing of the papers reproduced here.
///
/// Preconditions, ordering: as lock_based; every signal releases and every wait acquires, which adds up over the
///   rounds.
/// Progress: as lock_based; besides, other blocks' waits end only if this block calls wait() too, for the rounds after
///   the first are in it.
/// Cost: log2(n) hops, rounded up, each with a release: 8 for 132 blocks. Per block as many stores, and
///   polls of as many words, of which no two blocks share one; no read-modify-write but one by the first block, behind
///   the phase.
/// Storage: 64 bytes per block and a line; at most 65,535 blocks.
template <ordering Order>
struct dissemination : flag_barrier_defaults {
  static constexpr ordering order = Order;
  static constexpr const char* family = "dissemination";

  GPUSYNC_HD static constexpr size_t words(uint32_t blocks) {
    return detail::line_words + size_t{blocks} * most_rounds;
  }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t blocks, uint32_t phase) {
    for (size_t i = 0; i < dissemination::words(blocks); ++i) words[i] = phase;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid grid, const uint32_t* words, membership who) {
    return {arrival_flags::next_goal(grid, words, words + signal(who.rank, 0)), who.rank, who.count};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    release_block<Order>(grid);
    const token goal = own.goal++;
    if (grid.thread() == 0) {
      Grid::memory::template store<publishes<Order>, scope::device>(words + signal(own.rank, 0), goal);
    }
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, uint32_t* words, const state& own, token goal, Context& context) {
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) status = all_rounds(grid, words, own, goal, context);
    return sync_block_status(grid, status, context);
  }

 private:
  static constexpr uint32_t most_rounds = 16;

  /// A member's signal of a round lies with the sender: so that of round 0 is its arrival, a word which only the owner
  /// of the rank stores in.
  GPUSYNC_HD static constexpr size_t signal(uint32_t rank, uint32_t round) {
    return detail::line_words + size_t{rank} * most_rounds + round;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status all_rounds(Grid grid, uint32_t* words, const state& own, token goal, Context& context) {
    using memory = typename Grid::memory;
    bool all_here = false;
    for (uint32_t round = 0, distance = 1; distance < own.count; ++round, distance *= 2) {
      if (round != 0) memory::template store<publishes<Order>, scope::device>(words + signal(own.rank, round), goal);
      if (all_here) continue;  // knows enough, but others wait for the signals
      const uint32_t from = own.rank >= distance ? own.rank - distance : own.rank + own.count - distance;
      const wait_status status = arrival_flags::wait_for<Order>(
          grid, words + signal(from, round), goal, words, own.count,
          [words](uint32_t rank) { return words + signal(rank, 0); }, context, all_here);
      if (status == wait_status::timed_out) return status;
    }
    // An add, for one who drops out may be late with it.
    if (own.rank == 0) memory::template add<memory_order::relaxed, scope::device>(words, 1u);
    return wait_status::completed;
  }
};

}  // namespace gpusync::grid
