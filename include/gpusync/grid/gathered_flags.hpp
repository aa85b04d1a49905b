// The gathered-flags grid barrier: a flag for each block, and a counter that one block adds to for each group.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/arrival_flags.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync::grid {

/// Flags as lock_free's, gathered group by group, and a counter as lock_based's for the groups. Each block stores the
/// phase in its flag. The first block of a group, its leader, polls the flags of the others, which are one line, each
/// from a thread of its own if it has enough. When all are here, its thread 0 adds to the counter, which thread 0 of
/// every block polls. Nothing of the papers.
///
/// Preconditions: as lock_based.
/// Synchronizes: as lock_based. The leader's threads acquire the flags of its group, its block barrier joins what they
///   have seen, and the release of its add is cumulative. With ordering fence the leader also fences between gathering
///   and adding.
/// Progress: as lock_based; besides, the other blocks' waits end only when the leaders have called wait(), not only
///   arrive().
/// Cost: two hops, flag to leader and counter to all. Per block one store, whose word only the leader polls, and polls
///   of the counter; per group one add, so n / 32 of n blocks, and polls of up to 31 words of a line, spread over the
///   leader's threads: with fewer of them each takes several, one after the other. The deadline of a leader's thread
///   begins when that thread first waits long, so a leader may wait for its group and then as long for the others.
/// Storage: a line for each group and one for the counter; at most 65,535 blocks.
///
/// Group: members of a group, 32 but for tests.
template <ordering Order, uint32_t Group = detail::line_words>
struct gathered_flags : flag_barrier_defaults {
  static_assert(Group == 2 || Group == detail::line_words, "a group's flags are one line, and the tests have pairs");

  static constexpr ordering order = Order;
  static constexpr const char* family = Group == 2 ? "gathered-flags-2" : "gathered-flags";

  GPUSYNC_HD static constexpr size_t words(uint32_t blocks) {
    return detail::line_words * (1 + (size_t{blocks} + Group - 1) / Group);
  }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t blocks, uint32_t phase) {
    for (size_t i = 0; i < gathered_flags::words(blocks); ++i) words[i] = phase;
    *words = phase_word::start_of(phase);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid, const uint32_t* words, membership who) {
    using memory = typename Grid::memory;
    // The counter is exact, for the phase cannot end before this block has arrived; but it has only 16 bits of the
    // phase. The flag of rank 0 has them all, and is never old: in each phase somebody has that rank. It may be one
    // phase ahead, if that member has arrived; which it is, the counter tells.
    const uint32_t ended = memory::template load<memory_order::relaxed, scope::device>(words);
    const uint32_t first = memory::template load<memory_order::relaxed, scope::device>(words + flag(0));
    const uint32_t ahead = (first - phase_word::phase(ended)) & (phase_word::one_phase - 1);
    return {first - ahead + 1, who.rank, who.count};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    release_block<Order>(grid);
    const token goal = own.goal++;
    if (grid.thread() == 0) {
      Grid::memory::template store<publishes<Order>, scope::device>(words + flag(own.rank), goal);
    }
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, uint32_t* words, const state& own, token goal, Context& context) {
    if (own.rank % Group == 0) {
      if (gather(grid, words, own, goal, context) == wait_status::timed_out) return wait_status::timed_out;
    }
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      status = gpusync::detail::poll_until_or<sees<Order>, scope::device>(
                   grid, words, [goal](uint32_t current) { return phase_reached(current, counted(goal)); },
                   after_a_while<Grid>{goal, words + flag(0)}, context)
                   .status;
      after_poll<Order>(grid);
    }
    return sync_block_status(grid, status, context);
  }

 private:
  // The words: a line with the counter, then a line of flags for each group. A member stores in its flag before the
  // phase can end, and nobody stores anything later: blocks that have dropped out undo nothing of what the next owners
  // of their ranks have stored.
  GPUSYNC_HD static constexpr size_t flag(uint32_t rank) {
    return size_t{1 + rank / Group} * detail::line_words + rank % Group;
  }

  /// The counter at the end of the phase with this goal: its phase is the same number, modulo 2^16.
  GPUSYNC_HD static constexpr uint32_t counted(uint32_t goal) { return phase_word::start_of(goal); }

  /// A leader's part: waits for its group, and adds for it.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status gather(Grid grid, uint32_t* words, const state& own, token goal, Context& context) {
    const uint32_t left = own.count - own.rank;
    const uint32_t sharing = left < Group ? left : Group;
    wait_status status = wait_status::completed;
    for (uint32_t i = grid.thread(); i < sharing && status == wait_status::completed; i += grid.threads()) {
      if (i == 0) continue;  // the leader's own
      status = poll_until<sees<Order>, scope::device>(
          grid, words + flag(own.rank + i), [goal](uint32_t flag) { return arrival_flags::counts(flag, goal); },
          context);
    }
    after_poll<Order>(grid);
    status = sync_block_status(grid, status, context);
    if (status == wait_status::timed_out) return status;
    if (grid.thread() == 0) {
      // Between what other threads have seen and the add.
      after_poll<Order>(grid);
      const uint32_t groups = (own.count + Group - 1) / Group;
      Grid::memory::template add<publishes<Order>, scope::device>(words,
                                                                  own.rank == 0 ? phase_word::completing(groups) : 1u);
    }
    if constexpr (Context::bounded) grid.separate_timeout_flags();
    return status;
  }

  /// What a long wait asks besides the counter, once in so many polls: whether the next phase has begun. That is for
  /// blocks that drop out and are slow to see it: phases go on without them, and after 2^15 of these the counter no
  /// longer tells that it has come to the goal.
  template <class Grid>
  struct after_a_while {
    uint32_t goal;
    const uint32_t* first;  ///< the flag of rank 0
    uint32_t polls = 0;

    GPUSYNC_API bool operator()(uint32_t current) {
      using memory = typename Grid::memory;
      if (phase_reached(current, counted(goal))) return true;
      if (++polls % Grid::polls_per_look != 0) return false;
      if (!phase_reached(memory::template load<memory_order::relaxed, scope::device>(first), goal + 1)) return false;
      if constexpr (sees<Order> == memory_order::acquire) memory::template acquire<scope::device>(first);
      return true;
    }
  };
};

}  // namespace gpusync::grid
