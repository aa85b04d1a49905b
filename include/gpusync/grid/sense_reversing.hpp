// The centralized sense-reversing grid barrier: a counter to arrive at, and another word to wait for.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync::grid {

/// The centralized barrier of Mellor-Crummey and Scott (1991), with a phase number in place of the sense. Each block
/// adds to a counter; the last one sets it back to zero and changes the phase, which the others poll. Nothing of the
/// papers reproduced here.
///
/// Preconditions, synchronization, progress: as lock_based. The reset of the counter is ordered by the change of the
///   phase; with ordering none nothing would order it, so there is no such barrier.
/// Cost: two hops: the last block learns that it is the last, then tells. Per block one add; polls do not disturb it,
///   as they go to another line.
/// Storage: two lines of 128 bytes; phases wrap at 2^32; any number of blocks.
template <ordering Order>
struct sense_reversing : algorithm_defaults {
  static_assert(orders_data(Order), "the reset of the counter must be seen before the new phase");

  static constexpr ordering order = Order;
  static constexpr const char* family = "sense-reversing";
  static constexpr uint32_t max_blocks = 0x7fffffffu;

  /// Phases that will have ended with the one in which the block arrived, modulo 2^32.
  using token = uint32_t;

  struct state {
    uint32_t goal;   ///< of the phase to come
    uint32_t count;  ///< of members
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t) { return counter + 1; }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t, uint32_t phase) {
    words[0] = phase;
    words[counter] = 0;
  }

  /// Odd, so never 0, and different from phase to phase.
  GPUSYNC_HD static uint32_t stamp(token goal) { return goal << 1 | 1u; }
  /// The token of the phase to come.
  GPUSYNC_HD static token upcoming(const state& own) { return own.goal; }
  GPUSYNC_HD static uint32_t next_stamp(token goal) { return stamp(goal + 1); }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid, const uint32_t* words, membership who) {
    return {Grid::memory::template load<memory_order::relaxed, scope::device>(words) + 1, who.count};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    using memory = typename Grid::memory;
    release_block<Order>(grid);
    const token goal = own.goal++;
    if (grid.thread() == 0 &&
        memory::template fetch_add<hands_on<Order>, scope::device>(words + counter, 1u) == own.count - 1) {
      memory::template store<memory_order::relaxed, scope::device>(words + counter, 0u);
      // Between what was seen of the others, and the reset, and the new phase.
      after_poll<Order>(grid);
      memory::template store<publishes<Order>, scope::device>(words, goal);
    }
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t* words, const state&, token goal, Context& context) {
    return wait_for_goal<Order>(grid, words, goal, context);
  }

 private:
  static constexpr uint32_t counter = 32;  ///< on a line of its own, behind the phase's
};

}  // namespace gpusync::grid
