// The placed-counters grid barrier: counters in several copies, one of which is near each poller.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/watch.hpp>
#include <gpusync/grid/counter_plan.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync::grid {

/// Where the counters of a placed-counters barrier lie, and how grids use them. Stands at the head of the barrier's
/// words and does not change while a kernel runs.
struct counter_table {
  static constexpr uint32_t most_lines = 8;  ///< per side: sub-counters x copies at most
  static constexpr uint32_t line_words = 32;

  int64_t line[2][most_lines];  ///< of each side, in words from the head of the barrier's words
  int64_t sides;                ///< bytes that say on which side each processor is, in words from there; 0: by parity
  uint32_t processors;          ///< entries of that
  uint32_t sm_count;
  counter_rules rules;
};

/// A counter as lock_based's, but kept in copies: a block adds to all copies and polls one. On devices whose L2 cache
/// has two sides (H100, H200), an atomic on a line of the far side takes some 150 cycles more, and a line that others
/// modify is cheap to poll only from its own side; so each side has a copy. Where several blocks share an SM, the
/// members are spread over sub-counters to keep the adds of one line few, and the copies of a side share its pollers. A
/// first poll that waits a little does not delay the arrivals; a second fence after the add, in a warp that nobody
/// waits for, makes the next arrival's cheaper. docs/grid-barriers.md has what each is worth.
///
/// Which plan a grid uses is in its counter_table; plans and places change the speed only.
///
/// Preconditions, ordering, progress: as lock_based.
/// Cost: one hop. Per block one add instruction of sides x copies lanes, and polls of sub_counters words.
/// Storage: the table and 16 lines of 128 bytes, elsewhere if they are placed; at most 32,767 blocks.
template <ordering Order>
struct placed_counters {
  static constexpr ordering order = Order;
  static constexpr bool bounded = true;
  static constexpr bool waiting_forwards = false;
  static constexpr bool has_orderings = true;
  static constexpr bool has_fused_form = true;
  static constexpr const char* family = "placed-counters";
  static constexpr const char* paper_item = "";
  /// Half of what a word can count: while adds of one phase are still under way to a copy, those of the next may come.
  static constexpr uint32_t max_blocks = phase_word::max_blocks / 2;

  struct token {
    uint32_t goal;  ///< the counters at the end of the phase in which the block arrived
    uint32_t word;  ///< the plan's word of each line: the phases of different plans have nothing to do with each other
  };

  struct state {
    uint32_t* add_to;         ///< what this thread adds to, if it does
    const uint32_t* poll_at;  ///< what this thread polls, if it does
    uint32_t goal;            ///< the counters at the end of the phase to come
    uint32_t step;            ///< what is added
    uint32_t part;            ///< what it does: see the constants below; a register is dear here
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t) {
    return table_words + 2 * counter_table::most_lines * counter_table::line_words;
  }

  /// Fresh state without places: lines of the barrier's own words, sides by parity, one plan for all.
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t, uint32_t phase) {
    counter_table& table = *reinterpret_cast<counter_table*>(words);
    table = counter_table{};
    for (uint32_t side = 0; side < 2; ++side) {
      for (uint32_t i = 0; i < counter_table::most_lines; ++i) {
        table.line[side][i] = table_words + (side * counter_table::most_lines + i) * int64_t{counter_table::line_words};
      }
    }
    table.sm_count = 1;
    table.rules.count = 1;
    table.rules.rules[0] = {counter_rules::any, counter_rules::any, {1, 1, 2, 0, 0}};
    for (size_t i = table_words; i < placed_counters::words(1); ++i) words[i] = phase_word::start_of(phase);
  }

  GPUSYNC_HD static uint32_t stamp(token of) { return of.goal | of.word << 1 | 1u; }
  GPUSYNC_HD static uint32_t next_stamp(token of) { return stamp({of.goal + phase_word::one_phase, of.word}); }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static state join(Grid grid, uint32_t* words, membership who) {
    const counter_table& table = *reinterpret_cast<const counter_table*>(words);
    const counter_plan plan =
        fit(table.rules.choose(who.count, grid.threads(), table.sm_count), who.count, grid.threads(), Grid::warp_size);
    const uint32_t side = plan.sides == 2 ? side_of(grid, words, table) : 0;
    // Powers of two, and this may run in a kernel that has no registers to spare for divisions.
    const uint32_t counters_log2 = log2(plan.sub_counters), copies_log2 = log2(plan.copies);
    const uint32_t sub = who.rank & (plan.sub_counters - 1u);
    const uint32_t copy = who.rank >> counters_log2 & (plan.copies - 1u);
    const uint32_t word = word_of(plan);
    const uint32_t first_adder = plan.second_warp != 0 ? Grid::warp_size : 0;
    const uint32_t lane = grid.thread() - first_adder;  // wraps for those before the first
    const auto line = [&](uint32_t of_side, uint32_t counter, uint32_t of_copy) {
      return words + table.line[of_side][(counter << copies_log2) + of_copy] + word;
    };
    state own{};
    own.part = plan.first_poll << first_poll_shift;
    if (plan.second_warp != 0) own.part |= drains;
    if (grid.thread() >= first_adder && lane < uint32_t{plan.sides} * plan.copies) own.part |= adds;
    if (grid.thread() < plan.sub_counters) own.part |= polls;
    // The far copies first: they take longest.
    if (own.part & adds)
      own.add_to = line(((lane >> copies_log2) + plan.sides - 1 + side) & 1u, sub, lane & (plan.copies - 1u));
    own.poll_at = line(side, own.part & polls ? grid.thread() : sub, copy);
    const uint32_t sharing = (who.count >> counters_log2) + (sub < (who.count & (plan.sub_counters - 1u)) ? 1 : 0);
    own.step = who.rank < plan.sub_counters ? phase_word::completing(sharing) : 1u;
    // The phase of the block's own counter cannot end before the block has arrived. After a change of the membership
    // the copy that it polled so far may be ahead of others, whose adds are under way: the foremost copy tells.
    uint32_t now = 0;
    GPUSYNC_NOT_UNROLLED
    for (uint32_t i = 0; i < uint32_t{plan.sides} * plan.copies; ++i) {
      const uint32_t value = Grid::memory::template load<memory_order::relaxed, scope::device>(
          line(i >> copies_log2, sub, i & (plan.copies - 1u)));
      if (i == 0 || reached(value, now)) now = value;
    }
    own.goal = phase_word::goal(now);
    return own;
  }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t*, state& own) {
    return add<false>(grid, own);
  }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid, class Watch>
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t*, const state& own, token arrived, Watch& watch) {
    wait_status status = wait_status::completed;
    if (own.part & polls) status = poll(grid, own, arrived.goal, watch);
    return meet(grid, status, watch);
  }

  /// arrive() for a block that waits at once.
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static token arrive_fused(Grid grid, uint32_t*, state& own) {
    return add<true>(grid, own);
  }

  /// wait() right after arrive_fused().
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid, class Watch>
  GPUSYNC_HD static wait_status wait_fused(Grid grid, const uint32_t*, const state& own, token arrived, Watch& watch) {
    wait_status status = wait_status::completed;
    if (own.part & polls) {
      drain<Grid>(own);
      grid.delay(own.part >> first_poll_shift);
      status = poll(grid, own, arrived.goal, watch);
    }
    return meet(grid, status, watch);
  }

  /// Where in each line the counters of a plan are: plans with other counters must not share words, for a word takes
  /// part in a phase only if its plan is in use.
  GPUSYNC_HD static constexpr uint32_t word_of(const counter_plan& plan) {
    return (log2(plan.sub_counters) * 4 + log2(plan.copies)) * 2 + plan.sides - 1;
  }

 private:
  // Bits of state::part: this thread adds; it polls; adders and pollers drain, off the critical path. Above them the
  // cycles before the first poll.
  static constexpr uint32_t adds = 1, polls = 2, drains = 4, first_poll_shift = 3;

  static constexpr size_t table_words = (sizeof(counter_table) + 127) / 128 * counter_table::line_words;

  GPUSYNC_HD static constexpr uint32_t log2(uint32_t power) { return power >= 8 ? 3 : power >= 4 ? 2 : power / 2; }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static uint32_t side_of(Grid grid, const uint32_t* words, const counter_table& table) {
    const uint32_t processor = grid.processor();
    if (table.sides == 0) return processor % 2;
    return processor < table.processors ? reinterpret_cast<const unsigned char*>(words + table.sides)[processor] % 2
                                        : 0;
  }

  GPUSYNC_TEMPLATE_TEXT
  template <bool Drain, class Grid>
  GPUSYNC_HD static token add(Grid grid, state& own) {
    gather_block<Order>(grid);
    if (own.part & adds) {
      // Each adding lane releases for itself: the block barrier has put everybody's writes before it.
      Grid::memory::template add<publishes<Order>, scope::device>(own.add_to, own.step);
      if constexpr (Drain) drain<Grid>(own);
    }
    // The word is taken from the address: a member of the state would need a register.
    const token arrived{own.goal, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(own.poll_at) / sizeof(uint32_t) %
                                                        counter_table::line_words)};
    own.goal += phase_word::one_phase;
    return arrived;
  }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static void drain(const state& own) {
    Grid::memory::drain((own.part & drains) / drains);
  }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid, class Watch>
  GPUSYNC_HD static wait_status poll(Grid grid, const state& own, uint32_t goal, Watch& watch) {
    const wait_status status = wait_until<sees<Order>, scope::device>(
        grid, own.poll_at, [goal](uint32_t current) { return reached(current, goal); }, watch);
    after_poll<Order>(grid);
    return status;
  }
};

}  // namespace gpusync::grid
