// The lock-free grid barrier: flags instead of a counter, and one block that collects them.
#pragma once

#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/arrival_flags.hpp>
#include <gpusync/grid/members.hpp>

namespace gpusync::grid {

/// Xiao and Feng's lock-free barrier (2009/2010; items F3 and F5), which needs no read-modify-write: each block stores
/// the phase in its flag, the threads of the first block poll all flags, one or more each, and then store the phase in
/// a flag for each block, which its thread 0 polls. Different from the original: any number of threads per block will
/// do, waits end by more than equality, and the first block does not wait for its own release.
///
/// Preconditions, ordering, progress: as lock_based; besides, blocks are released only when the first block has called
///   wait(), not only arrive(). With ordering fence the first block also fences between collecting and releasing.
/// Cost: two hops. Per block one store and polls of one word, all words different; for the first block `n` of each,
///   spread over its threads: with fewer threads than blocks each takes several, one after the other.
/// Storage: two words per block and a line; at most 65,535 blocks.
template <ordering Order>
struct lock_free : flag_barrier_defaults {
  static constexpr ordering order = Order;
  static constexpr const char* family = "lock-free";

  GPUSYNC_HD static constexpr size_t words(uint32_t blocks) {
    return detail::line_words + (size_t{blocks} + detail::line_words - 1) / detail::line_words * 2 * detail::line_words;
  }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t blocks, uint32_t phase) {
    for (size_t i = 0; i < lock_free::words(blocks); ++i) words[i] = phase;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid grid, const uint32_t* words, membership who) {
    return {arrival_flags::next_goal(grid, words, words + arrived(who.rank)), who.rank, who.count};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    release_block<Order>(grid);
    const token goal = own.goal++;
    if (grid.thread() == 0) {
      Grid::memory::template store<publishes<Order>, scope::device>(words + arrived(own.rank), goal);
    }
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, uint32_t* words, const state& own, token goal, Context& context) {
    if (own.rank == 0) return collect_and_release(grid, words, own, goal, context);
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      bool all_here = false;
      status = arrival_flags::wait_for<Order>(
          grid, words + released(own.rank), goal, words, own.count,
          [words](uint32_t rank) { return words + arrived(rank); }, context, all_here);
    }
    return sync_block_status(grid, status, context);
  }

 private:
  // The words: a line with the number of phases that have ended, then for every 32 ranks a line of arrivals and a line
  // of releases.
  GPUSYNC_HD static constexpr size_t arrived(uint32_t rank) {
    return detail::line_words + size_t{rank / detail::line_words} * 2 * detail::line_words + rank % detail::line_words;
  }
  GPUSYNC_HD static constexpr size_t released(uint32_t rank) { return arrived(rank) + detail::line_words; }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status collect_and_release(Grid grid, uint32_t* words, const state& own, token goal,
                                                    Context& context) {
    using memory = typename Grid::memory;
    wait_status status = wait_status::completed;
    for (uint32_t rank = grid.thread(); rank < own.count && status == wait_status::completed; rank += grid.threads()) {
      status = poll_until<sees<Order>, scope::device>(
          grid, words + arrived(rank), [goal](uint32_t flag) { return arrival_flags::counts(flag, goal); }, context);
    }
    after_poll<Order>(grid);
    status = sync_block_status(grid, status, context);
    if (status == wait_status::timed_out) return status;
    // Each thread releases members that others have collected.
    after_poll<Order>(grid);
    for (uint32_t rank = grid.thread(); rank < own.count; rank += grid.threads()) {
      if (rank == 0) continue;
      memory::template store<publishes<Order>, scope::device>(words + released(rank), goal);
    }
    // An add, for one who drops out may be late with it. Behind the releases: nobody waits for it.
    if (grid.thread() == 0) memory::template add<memory_order::relaxed, scope::device>(words, 1u);
    return status;
  }
};

}  // namespace gpusync::grid
