// The replicated-counter grid barrier: several counters that all add to, each polled by a part of the blocks.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync::grid {

/// A counter as lock_based's, but kept in `Copies` copies: a block adds to all of them, from as many lanes of its first
/// warp, and thread 0 polls one. So fewer polls get in the way of each copy's adds. Nothing of the papers.
///
/// Preconditions, synchronization, progress: as lock_based. Each adding thread releases for itself; the block barrier
///   before has put everybody's writes before its add.
/// Cost: one hop. Per block `Copies` adds that do not return the old value, in one instruction if the block has as many
///   threads, and polls of one word.
/// Storage: 4 KiB per copy, for lines that far apart are likely to be served by different slices of the L2 cache; at
///   most 32,767 blocks.
template <int Copies, ordering Order>
struct replicated_counters : algorithm_defaults {
  static_assert(Copies == 2 || Copies == 4 || Copies == 8 || Copies == 16 || Copies == 32,
                "a power of two, at most a warp");

  static constexpr ordering order = Order;
  static constexpr const char* family = Copies == 2    ? "replicated-2"
                                        : Copies == 4  ? "replicated-4"
                                        : Copies == 8  ? "replicated-8"
                                        : Copies == 16 ? "replicated-16"
                                                       : "replicated-32";
  /// Half of what a word can count: while adds of one phase are still under way to a copy, those of the next may come.
  static constexpr uint32_t max_blocks = phase_word::max_blocks / 2;

  /// The counters at the end of the phase in which the block arrived.
  using token = uint32_t;

  struct state {
    uint32_t goal;  ///< the counters at the end of the phase to come
    uint32_t step;  ///< what its block adds
    uint32_t copy;  ///< which copy it polls
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t) { return Copies * copy_words; }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t, uint32_t phase) {
    for (uint32_t copy = 0; copy < Copies; ++copy) words[copy * copy_words] = phase_word::start_of(phase);
  }

  GPUSYNC_HD static uint32_t stamp(token goal) { return goal | 1u; }
  /// The token of the phase to come.
  GPUSYNC_HD static token upcoming(const state& own) { return own.goal; }
  GPUSYNC_HD static uint32_t next_stamp(token goal) { return stamp(goal + phase_word::one_phase); }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid, const uint32_t* words, membership who) {
    // No copy can end a phase in which this block has not arrived. But a phase has ended once one copy says so, and
    // others may still lack some adds: the foremost counts. (At the start of a launch all agree.)
    uint32_t now = 0;
    for (uint32_t copy = 0; copy < Copies; ++copy) {
      const uint32_t value =
          Grid::memory::template load<memory_order::relaxed, scope::device>(words + copy * copy_words);
      if (copy == 0 || phase_reached(value, now)) now = value;
    }
    return {phase_word::goal(now), who.rank == 0 ? phase_word::completing(who.count) : 1u, who.rank % Copies};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    release_block<Order>(grid);
    for (uint32_t copy = grid.thread(); copy < Copies; copy += grid.threads()) {
      Grid::memory::template add<publishes<Order>, scope::device>(words + copy * copy_words, own.step);
    }
    const token goal = own.goal;
    own.goal += phase_word::one_phase;
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t* words, const state& own, token goal, Context& context) {
    return wait_for_goal<Order>(grid, words + own.copy * copy_words, goal, context);
  }

 private:
  static constexpr uint32_t copy_words = 1024;
};

}  // namespace gpusync::grid
