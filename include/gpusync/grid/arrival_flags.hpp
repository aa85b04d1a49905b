// Flags that hold the number of a phase, for barriers in which each member says in a word of its own that it is here.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync::grid {

/// How flags are read: a member stores the phase's goal, the number of phases that will have ended with it, in its own
/// flag; one more word counts the phases that have ended. Goals wrap at 2^32.
///
/// A flag counts for a goal if it holds that goal or one of the next 2^16, never by `phase_reached()`: the flags of
/// those that did not take part for a while are old, and must not be taken for new until the goal has come round to
/// them (2^32 - 2^16 phases, more than an hour of nothing but barriers).
///
/// The margin is for blocks that drop out. Ranks close up behind them, so a slow one may find in the flag it waits for
/// what its next owner stored some phases later.
struct arrival_flags {
  static constexpr uint32_t margin = 1u << 16;        ///< goals for which a flag counts: its own and those before it
  static constexpr uint32_t max_blocks = margin - 1;  ///< most members of a barrier with such flags

  /// Whether a flag that holds `flag` counts for `goal`.
  GPUSYNC_HD static constexpr bool counts(uint32_t flag, uint32_t goal) { return flag - goal < margin; }

  /// A mark of the phase with this goal, never 0.
  GPUSYNC_HD static constexpr uint32_t stamp(uint32_t goal) { return goal << 1 | 1u; }

  /// The goal of the phase to come, for a member that has not arrived in it. `ended` counts the phases, `own` is the
  /// flag of the member's rank.
  ///
  /// At the start of a launch `ended` is exact and cannot change, while `own` may be old. Later in the launch, after a
  /// change of the membership, `ended` may lag: whoever counts may be slow, and may have dropped out since. But `own`
  /// is exact then: whoever had this rank in the last phase has stored its goal, before that phase could end, and the
  /// next to store there is this member.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t next_goal(Grid, const uint32_t* ended, const uint32_t* own) {
    const uint32_t count = Grid::memory::template load<memory_order::relaxed, scope::device>(ended);
    const uint32_t last = Grid::memory::template load<memory_order::relaxed, scope::device>(own);
    return (counts(last, count) ? last : count) + 1;
  }

  /// Waits until `*flag` counts for `goal`. Also ends, after a longer time, when the flags `arrival(0)` to
  /// `arrival(count - 1)` of all members do, and says so in `all_here`.
  ///
  /// The second way is for what dropping out does to flags that are not arrivals: a block that has dropped, or one that
  /// signals to it, may store late and so undo what the next owner of the rank has stored. Arrivals are safe from
  /// that, for the phase cannot end without them. They are looked at one after the other, so that a look stays short.
  GPUSYNC_API_TEMPLATE
  template <ordering Order, class Grid, class Arrival, class Context>
  GPUSYNC_HD static wait_status wait_for(Grid grid, const uint32_t* flag, uint32_t goal, const uint32_t* ended,
                                         uint32_t count, Arrival arrival, Context& context, bool& all_here) {
    const auto end = gpusync::detail::poll_until_or<sees<Order>, scope::device>(
        grid, flag, [goal](uint32_t current) { return counts(current, goal); },
        after_a_while<Order, Grid, Arrival>{goal, ended, count, arrival}, context);
    all_here = end.done.all_here;
    after_poll<Order>(grid);
    return end.status;
  }

 private:
  /// What a long wait asks: besides the flag, in every so many polls, one of the arrivals.
  template <ordering Order, class Grid, class Arrival>
  struct after_a_while {
    uint32_t goal;
    const uint32_t* ended;
    uint32_t count;
    Arrival arrival;
    uint32_t polls = 0;
    uint32_t seen = 0;
    bool all_here = false;

    GPUSYNC_API bool operator()(uint32_t current) {
      using memory = typename Grid::memory;
      if (counts(current, goal)) return true;
      if (++polls % Grid::polls_per_look != 0) return false;
      const uint32_t* next = arrival(seen);
      if (counts(memory::template load<memory_order::relaxed, scope::device>(next), goal)) {
        if constexpr (sees<Order> == memory_order::acquire) memory::template acquire<scope::device>(next);
        all_here = ++seen == count;
      }
      // Only for one who drops out can the next phase end too, and then all flags may be beyond the margin.
      if (phase_reached(memory::template load<memory_order::relaxed, scope::device>(ended), goal + 1)) all_here = true;
      return all_here;
    }
  };
};

/// What barriers share in which each member says in a flag of its own that it is here: see algorithm.hpp.
struct flag_barrier_defaults : algorithm_defaults {
  /// Others wait for what a member does in its wait: one that arrived must wait for the end of the phase.
  static constexpr bool wait_needed_by_others = true;
  /// Most blocks of a barrier: see arrival_flags.
  static constexpr uint32_t max_blocks = arrival_flags::max_blocks;

  /// Phases that will have ended with the one in which the block arrived, modulo 2^32.
  using token = uint32_t;

  /// What a member keeps between phases.
  struct state {
    uint32_t goal;   ///< of the phase to come
    uint32_t rank;   ///< of the block among the members
    uint32_t count;  ///< of members
  };

  /// What the flag of a member says that has arrived in the phase of this token.
  GPUSYNC_HD static uint32_t stamp(token goal) { return arrival_flags::stamp(goal); }
  /// The token of the phase to come.
  GPUSYNC_HD static token upcoming(const state& own) { return own.goal; }
  /// The stamp of the phase after that of this token.
  GPUSYNC_HD static uint32_t next_stamp(token goal) { return stamp(goal + 1); }
};

}  // namespace gpusync::grid
