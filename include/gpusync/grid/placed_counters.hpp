// The placed-counters grid barrier: counters in several copies, one of which is near each poller.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/watch.hpp>
#include <gpusync/grid/counter_plan.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync::grid {

/// Where the counters of a placed-counters barrier lie, which multiprocessors are near which of them, and how grids use
/// them. Stands at the head of the barrier's words and does not change while a kernel runs.
struct counter_table {
  static constexpr uint32_t most_lines = 8;  ///< per side: sub-counters x copies at most
  static constexpr uint32_t line_words = 32;
  static constexpr uint32_t most_processors = 256;  ///< those with higher numbers count as on side 0

  uint32_t* lines;                       ///< lines are counted from here
  uint32_t line[most_lines];             ///< line i of side 0, and in the high half of side 1
  uint32_t sides[most_processors / 32];  ///< a bit for each multiprocessor
  uint32_t sm_count;
  counter_rules rules;

  GPUSYNC_HD void put_line(uint32_t side, uint32_t i, uint32_t number) {
    line[i] = (line[i] & 0xffffu << 16 * (1 - side)) | number << 16 * side;
  }
  /// Where a line begins, in words from `lines`.
  GPUSYNC_HD uint32_t offset_of(uint32_t side, uint32_t i) const {
    return (line[i] >> 16 * side & 0xffffu) * line_words;
  }
  GPUSYNC_HD uint32_t* line_at(uint32_t side, uint32_t i) const { return lines + offset_of(side, i); }
};

/// What of the table travels with the barrier to the kernel, so that blocks of a plan with one counter a side find
/// their part without a look at memory. Plans with more are for several blocks per multiprocessor.
struct counter_places {
  const counter_table* table = nullptr;
  uint32_t* lines = nullptr;                                 ///< as in the table
  uint32_t* first[2] = {};                                   ///< line 0 of each side
  uint32_t sides[counter_table::most_processors / 32] = {};  ///< as in the table
  packed_plan plan;                                          ///< for blocks that act as a whole
  packed_plan plan_of_warps;                                 ///< for blocks of which some warps act

  GPUSYNC_HD static counter_places of(const counter_table* known_as, const counter_table& table) {
    counter_places made;
    made.table = known_as;
    made.lines = table.lines;
    for (uint32_t side = 0; side < 2; ++side) made.first[side] = table.line_at(side, 0);
    for (uint32_t i = 0; i < counter_table::most_processors / 32; ++i) made.sides[i] = table.sides[i];
    return made;
  }
};

/// A counter as lock_based's, but kept in copies: a block adds to all copies and polls one. On devices whose L2 cache
/// has two sides (H100, H200), an atomic on a line of the far side takes some 150 cycles more, and a line that others
/// modify is cheap to poll only from its own side; so each side has a copy. Where several blocks share an SM, the
/// members are spread over sub-counters to keep the adds of one line few, and the copies of a side share its pollers. A
/// first poll that waits a little does not delay the arrivals; a second fence after the add, in a warp that nobody
/// waits for, makes the next arrival's cheaper. docs/grid-barriers.md has what each is worth.
///
/// Which plan a grid uses, the launch decides, or else the block by the counter_table; plans and places change the
/// speed only.
///
/// Preconditions, ordering, progress: as lock_based.
/// Cost: one hop. Per block one add instruction of sides x copies lanes, and polls of sub_counters words. In the first
///   phase of a launch one load more, which nobody waits for before the arrival.
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
    /// The counters at the end of the phase to come. Before the first arrival, and until settle(): what the block's own
    /// counter holds, for that is still under way from memory when the block arrives.
    uint32_t goal;
    uint32_t step;  ///< what is added
    uint32_t part;  ///< what it does: see the constants below; a register is dear here
  };

  /// A block's part, but for the phase: what place() finds.
  struct part_found {
    state own;
    const uint32_t* look_at;  ///< the block's own counter, whose phase cannot end before the block has arrived
  };

  using places = counter_places;

  GPUSYNC_HD static constexpr size_t words(uint32_t) {
    return table_words + 2 * counter_table::most_lines * counter_table::line_words;
  }

  /// Fresh state without places: lines of the barrier's own words, sides by parity, one plan for all.
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t, uint32_t phase) {
    counter_table& table = *reinterpret_cast<counter_table*>(words);
    table = counter_table{};
    table.lines = words + table_words;
    for (uint32_t i = 0; i < counter_table::most_lines; ++i) {
      table.put_line(0, i, i);
      table.put_line(1, i, counter_table::most_lines + i);
    }
    for (uint32_t& sides : table.sides) sides = 0xaaaaaaaau;
    table.sm_count = 1;
    table.rules.count = 1;
    table.rules.rules[0] = {counter_rules::any, counter_rules::any, {1, 1, 2, 0, 0}};
    for (size_t i = table_words; i < placed_counters::words(1); ++i) words[i] = phase_word::start_of(phase);
  }
  /// Where a barrier's own lines begin, behind the table.
  GPUSYNC_HD static uint32_t* own_lines(uint32_t* words) { return words + table_words; }

  /// For words that start_at() has made where they are.
  GPUSYNC_HD static places places_in(uint32_t* words) {
    const auto* table = reinterpret_cast<const counter_table*>(words);
    return counter_places::of(table, *table);
  }

  GPUSYNC_HD static uint32_t stamp(token of) { return of.goal | of.word << 1 | 1u; }
  GPUSYNC_HD static uint32_t next_stamp(token of) { return stamp({of.goal + phase_word::one_phase, of.word}); }
  GPUSYNC_HD static token upcoming(const state& own) { return {own.goal, word_of(own)}; }

  /// A block's part. Foremost: members may have changed within the launch, and then the phase is found here, from all
  /// copies. look() makes a state of it.
  GPUSYNC_TEMPLATE_TEXT
  template <bool Foremost, class Grid>
  GPUSYNC_HD static part_found place(Grid grid, const places& at, membership who) {
    const packed_plan plan = Grid::whole_block ? at.plan : at.plan_of_warps;
    if (Foremost || !plan.has_one_counter()) {
      const part_in_table found = place_by_table<Foremost>(grid, at.table, plan, who);
      state own{};
      own.add_to = at.lines + found.add_to;
      own.poll_at = at.lines + found.poll_at;
      own.goal = found.goal;
      own.step = found.step;
      own.part = found.part;
      return {own, at.lines + found.look_at};
    }
    const uint32_t sides = 1 + plan.sides_log2();
    const uint32_t side = sides == 2 ? side_of(grid, at.sides) : 0;
    state own = tasks_of(grid, plan);
    // The far copy first: it takes longest.
    const uint32_t lane = grid.thread() - (plan.second_warp() != 0 ? Grid::warp_size : 0);
    own.add_to = ((lane + sides - 1 + side) & 1u) != 0 ? at.first[1] : at.first[0];
    own.add_to += plan.word();
    uint32_t* const near = (side != 0 ? at.first[1] : at.first[0]) + plan.word();
    own.poll_at = near;
    own.step = who.rank == 0 ? phase_word::completing(who.count) : 1u;
    return {own, near};
  }

  /// Finds the phase that the block is in. At the start of a launch all copies agree. The value need not be there
  /// before it is used.
  GPUSYNC_TEMPLATE_TEXT
  template <bool Foremost, class Grid>
  GPUSYNC_HD static state look(Grid, const part_found& found) {
    state own = found.own;
    if constexpr (!Foremost) {
      own.goal = Grid::memory::template load<memory_order::relaxed, scope::device>(found.look_at);
    }
    return own;
  }

  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t*, state& own) {
    return add<false, false>(grid, own);
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
  template <bool First, class Grid>
  GPUSYNC_HD static token arrive_fused(Grid grid, uint32_t*, state& own) {
    return add<true, First>(grid, own);
  }

  /// For a block that has joined and does not arrive yet: makes of what it has loaded what a phase leaves behind, so
  /// that its first arrival can be like the others.
  GPUSYNC_TEXT static void settle(state& own) { own.goal = phase_word::goal(own.goal); }

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

 private:
  // Bits of state::part: this thread adds; it polls; adders and pollers drain, off the critical path. Above them the
  // cycles before the first poll.
  static constexpr uint32_t adds = 1, polls = 2, drains = 4, first_poll_shift = 3;

  static constexpr size_t table_words = (sizeof(counter_table) + 127) / 128 * counter_table::line_words;

  /// The side of the L2 cache that the block is on. Sides: 8 words, of a table or of a kernel's parameter.
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static uint32_t side_of(Grid grid, const uint32_t (&sides)[counter_table::most_processors / 32]) {
    const uint32_t processor = grid.processor();
    if (processor >= counter_table::most_processors) return 0;
    return grid.pick(sides, processor / 32) >> processor % 32 & 1u;
  }

  /// What the calling thread does under a plan; nothing else of the state.
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD static state tasks_of(Grid grid, packed_plan plan) {
    const uint32_t thread = grid.thread();
    const uint32_t lane = thread - (plan.second_warp() != 0 ? Grid::warp_size : 0);  // wraps before the first adder
    state own{};
    own.part = plan.first_poll() << first_poll_shift;
    if (plan.second_warp() != 0) own.part |= drains;
    if (lane >> (plan.sides_log2() + plan.copies_log2()) == 0) own.part |= adds;
    if (thread >> plan.counters_log2() == 0) own.part |= polls;
    return own;
  }

  /// A block's part with words counted from the table's lines: few registers, in the middle of somebody's kernel.
  struct part_in_table {
    uint32_t add_to, poll_at, look_at, goal, step, part;
  };

  /// The table's plan. Out of line, that its caller needs fewer registers.
  GPUSYNC_HD GPUSYNC_COLD static packed_plan plan_of(const counter_table* table, uint32_t members, uint32_t threads,
                                                     uint32_t warp_size) {
    return fit(packed_plan::of(table->rules.choose(members, threads, table->sm_count)), members, threads, warp_size);
  }

  /// place() for any plan, and for one that is not known yet. Out of line: few launches need it.
  GPUSYNC_TEMPLATE_TEXT
  template <bool Foremost, class Grid>
  GPUSYNC_HD GPUSYNC_COLD static part_in_table place_by_table(Grid grid, const counter_table* known, packed_plan given,
                                                              membership who) {
    const counter_table& table = *known;
    packed_plan plan = given;
    if (Foremost || !given.is_fitted()) {
      plan = plan_of(known, who.count, Grid::whole_block ? grid.threads() : Grid::warp_size, Grid::warp_size);
    }
    const uint32_t counters_log2 = plan.counters_log2(), copies_log2 = plan.copies_log2();
    const uint32_t counters = 1u << counters_log2, copies = 1u << copies_log2, sides_log2 = plan.sides_log2();
    const uint32_t thread = grid.thread();
    const uint32_t lane = thread - (plan.second_warp() != 0 ? Grid::warp_size : 0);
    const uint32_t processor = grid.processor();
    const uint32_t side = sides_log2 != 0 && processor < counter_table::most_processors
                              ? table.sides[processor / 32] >> processor % 32 & 1u
                              : 0;
    const uint32_t sub = who.rank & (counters - 1u);
    const uint32_t copy = who.rank >> counters_log2 & (copies - 1u);
    const auto line = [&](uint32_t of_side, uint32_t counter, uint32_t of_copy) {
      return table.offset_of(of_side, (counter << copies_log2) + of_copy) + plan.word();
    };
    part_in_table own{};
    own.part = tasks_of(grid, plan).part;
    const uint32_t sharing = (who.count >> counters_log2) + (sub < (who.count & (counters - 1u)) ? 1 : 0);
    own.step = who.rank < counters ? phase_word::completing(sharing) : 1u;
    // One address after the other, for a kernel may have no registers to spare. The far copies first: they take
    // longest.
    grid.in_turn();
    if (own.part & adds) {
      own.add_to = line(((lane >> copies_log2) + (1u << sides_log2) - 1 + side) & 1u, sub, lane & (copies - 1u));
    }
    grid.in_turn();
    own.look_at = line(side, sub, copy);
    grid.in_turn();
    own.poll_at = own.part & polls ? line(side, thread, copy) : own.look_at;  // the plan's word in every thread
    if constexpr (Foremost) {
      // After a change of the membership the copy that the block polled so far may be ahead of others, whose adds are
      // under way: the foremost copy tells.
      GPUSYNC_NOT_UNROLLED
      for (uint32_t i = 0; i >> (sides_log2 + copies_log2) == 0; ++i) {
        const uint32_t value = Grid::memory::template load<memory_order::relaxed, scope::device>(
            table.lines + line(i >> copies_log2, sub, i & (copies - 1u)));
        if (i == 0 || reached(value, own.goal)) own.goal = value;
      }
    }
    return own;
  }

  /// The plan's word of each line, taken from an address: a member of the state would need a register.
  GPUSYNC_HD static uint32_t word_of(const state& own) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(own.poll_at) / sizeof(uint32_t) %
                                 counter_table::line_words);
  }

  GPUSYNC_TEMPLATE_TEXT
  template <bool Drain, bool First, class Grid>
  GPUSYNC_HD static token add(Grid grid, state& own) {
    gather_block<Order>(grid);
    if (own.part & adds) {
      // Each adding lane releases for itself: the block barrier has put everybody's writes before it.
      Grid::memory::template add<publishes<Order>, scope::device>(own.add_to, own.step);
      if constexpr (Drain) drain<Grid>(own);
    }
    if constexpr (First) settle(own);
    const token arrived = upcoming(own);
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
