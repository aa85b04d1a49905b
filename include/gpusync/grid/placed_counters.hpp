// The placed-counters grid barrier: counters in several copies, one of which is near each poller.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/counter_plan.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>
#include <gpusync/grid/sm_partitions.hpp>
#include <gpusync/grid/votes.hpp>

namespace gpusync::grid {

/// Where the counters of a placed-counters barrier lie, which multiprocessors are near which of them, and how the grid
/// uses them. Travels with the barrier to the kernel, so that a block finds its part without a look at memory.
struct counter_places {
  static constexpr uint32_t most_lines = 8;  ///< per partition: sub-counters x copies at most

  uint32_t* lines = nullptr;       ///< lines are counted from here
  packed_plan plan;                ///< how the grid uses them
  sm_partitions partitions;        ///< who is near which
  uint32_t line[most_lines] = {};  ///< line i of partition 0, and in the high half of partition 1

  /// Says that line `i` of a partition (0 or 1; i < most_lines) is line `number`, below 2^16, counted from `lines`.
  GPUSYNC_HD void put_line(uint32_t partition, uint32_t i, uint32_t number) {
    line[i] = (line[i] & 0xffffu << 16 * (1 - partition)) | number << 16 * partition;
  }
  /// Line `i` of a partition.
  GPUSYNC_HD uint32_t* line_at(uint32_t partition, uint32_t i) const { return at(partition, line[i]); }
  /// The line that an entry of `line` names for a partition.
  GPUSYNC_HD uint32_t* at(uint32_t partition, uint32_t entry) const {
    return lines + (entry >> 16 * partition & 0xffffu) * detail::line_words;
  }
};

/// A counter as lock_based's, but kept in copies: a block adds to all copies and polls one. On devices whose L2 cache
/// has two partitions (H100, H200), an atomic on a line of the far partition takes some 150 cycles more, and a line
/// that others modify is cheap to poll only from its own partition; so each partition has a copy. Where several blocks
/// share an SM, the members are spread over sub-counters to keep the adds of one line few, and the copies of a
/// partition share its pollers. A first poll that waits a little does not delay the arrivals; a second fence after the
/// add, in a warp that nobody waits for, makes the next arrival's cheaper. docs/grid-barriers.md has what each is
/// worth.
///
/// Which plan a grid uses, the launch decides; plans and places change the speed only.
///
/// Preconditions, ordering, progress: as lock_based.
/// Cost: one hop. Per block one add instruction of partitions x copies lanes, and polls of sub_counters words. In the
///   first phase of a launch the add of a block that has one counter comes back with the phase; with more, one load
///   does.
/// Storage: 16 lines of 128 bytes, elsewhere if they are placed; at most 32,767 blocks.
template <ordering Order>
struct placed_counters : algorithm_defaults {
  static constexpr ordering order = Order;
  static constexpr bool has_fused_form = true;
  static constexpr bool has_places = true;  ///< places and find()
  /// An arrival that orders nothing cannot part what was before the first vote from the votes.
  static constexpr bool has_votes = orders_data(Order);
  static constexpr const char* family = "placed-counters";
  /// Half of what a word can count: while adds of one phase are still under way to a copy, those of the next may come.
  static constexpr uint32_t max_blocks = phase_word::max_blocks / 2;

  struct token {
    uint32_t goal;  ///< the counters at the end of the phase in which the block arrived
    uint32_t word;  ///< the plan's word of each line: the phases of different plans have nothing to do with each other
  };

  struct state {
    uint32_t* add_to;         ///< what this thread adds to, if it does
    const uint32_t* poll_at;  ///< what this thread polls, if it does
    /// The counters at the end of the phase to come, in the threads that poll. Until settle(): what the block's own
    /// counter holds.
    uint32_t goal;
    uint32_t step;          ///< what is added
    uint32_t part;          ///< what it does: see the constants below; a register is dear here
    uint32_t drains;        ///< 1: adders and pollers drain, off the critical path
    uint32_t poll_backoff;  ///< cycles before it
  };

  /// Where the counters lie, and the plan to use them by.
  using places = counter_places;

  GPUSYNC_HD static constexpr size_t words(uint32_t) {
    return size_t{2} * counter_places::most_lines * detail::line_words;
  }

  /// Fresh lines.
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t, uint32_t phase) {
    for (size_t i = 0; i < placed_counters::words(1); ++i) words[i] = phase_word::start_of(phase);
  }
  /// For lines that lie anywhere: those of `words`, partitions by parity, a simple plan.
  GPUSYNC_HD static places places_in(uint32_t* words) {
    places made;
    made.lines = words;
    made.plan = packed_plan::of({1, 1, 2, 0, 0});
    for (uint32_t i = 0; i < counter_places::most_lines; ++i) {
      made.put_line(0, i, i);
      made.put_line(1, i, counter_places::most_lines + i);
    }
    made.partitions = sm_partitions::in_turn();
    return made;
  }

  GPUSYNC_HD static uint32_t stamp(token of) { return of.goal | of.word << 1 | 1u; }
  GPUSYNC_HD static uint32_t next_stamp(token of) { return stamp({of.goal + phase_word::one_phase, of.word}); }
  GPUSYNC_HD static token upcoming(const state& own) { return {own.goal, word_of(own)}; }

  /// A block's part, and the phase that it is in. Foremost: members may have changed within the launch, and then the
  /// phase is found from all copies; at the start of a launch all agree. What is loaded need not be there before it is
  /// used.
  GPUSYNC_API_TEMPLATE
  template <bool Foremost, class Grid>
  GPUSYNC_HD static state find(Grid grid, const places& at, membership who) {
    packed_plan plan = at.plan;
    if (Foremost || !Grid::whole_block || !plan.is_fitted()) {
      plan = fit(plan, who.count, grid.threads(), Grid::warp_size);
    }
    return find_by<Foremost>(grid, at, plan, who);
  }

  /// find() and arrive_fused() in one. With one counter the add itself comes back with the phase, and what it
  /// does not need is found while it is under way. `lost`: what `log` then knows of a lost phase
  /// (arrival_log::lost_to_block).
  GPUSYNC_API_TEMPLATE
  template <bool Foremost, class Grid>
  GPUSYNC_HD static token arrive_first(Grid grid, const places& at, membership who, state& own, const arrival_log& log,
                                       uint32_t& lost) {
    if (__builtin_expect(!Foremost && Grid::whole_block && at.plan.has_one_counter(), 1)) {
      return arrive_at_one(grid, at, who, own, log, lost);
    }
    own = find<Foremost>(grid, at, who);
    settle(own);
    const token arrived = add<true>(grid, own);
    lost = log.lost_to_block(grid);
    return arrived;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t*, state& own) {
    return add<false>(grid, own);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t*, const state& own, token arrived, Context& context) {
    wait_status status = wait_status::completed;
    if (own.part & polls) status = poll(grid, own, arrived.goal, context);
    return sync_block_status(grid, status, context);
  }

  /// arrive() for a block that waits at once.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive_fused(Grid grid, uint32_t*, state& own) {
    return add<true>(grid, own);
  }

  /// Makes of what a block has loaded what a phase leaves behind, so that its first arrival can be like the others.
  GPUSYNC_API static void settle(state& own) { own.goal = phase_word::goal(own.goal); }

  /// wait() right after arrive_fused().
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait_fused(Grid grid, const uint32_t*, const state& own, token arrived,
                                           Context& context) {
    wait_status status = wait_status::completed;
    if (own.part & polls) {
      drain<Grid>(own);
      grid.delay(own.poll_backoff);
      status = poll(grid, own, arrived.goal, context);
    }
    return sync_block_status(grid, status, context);
  }

  // Votes: who adds to a counter, or polls it, does so to a vote_word of its line, under any plan.
  /// Whether the calling thread adds to a vote's word.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static bool vote_adds(Grid, const state& own) {
    return (own.part & adds) != 0;
  }
  /// Whether it adds where that need not wait for the block: the first threads, of the warp that polls. No fence is in
  /// their way, and they have the addresses too.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static bool vote_adds_at_once(Grid, const state& own) {
    return (own.part & adds_at_once) != 0;
  }
  /// The threads that do. vote_adds() holds for as many: the same ones, or the first of a second warp.
  GPUSYNC_HD static uint32_t vote_lanes(const state& own) { return own.part >> lanes_shift; }
  /// Whether it is the block's first, which polls one: found once, for the registers with a thread's place take 30
  /// cycles to read.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static bool vote_first(Grid, const state& own) {
    return (own.part & first) != 0;
  }
  /// Whether it polls one.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static bool vote_polls(Grid, const state& own) {
    return (own.part & polls) != 0;
  }
  /// The first word that it adds to.
  GPUSYNC_HD static uint64_t* vote_added(uint32_t*, const state& own) { return votes_beside(own.add_to); }
  /// The first word that it polls.
  GPUSYNC_HD static const uint64_t* vote_polled(uint32_t*, const state& own) { return votes_beside(own.poll_at); }
  /// What it does besides, off the critical path.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void vote_drain(const state& own) {
    drain<Grid>(own);
  }
  /// Cycles from its add to its first poll. AtOnce: adds did not wait for a fence or for the block, so the answer is
  /// there earlier: on an H100, where 200 to 225 cycles suit the barrier, 125 to 150 suit such votes.
  template <bool AtOnce>
  GPUSYNC_HD static uint32_t vote_backoff(const state& own) {
    return AtOnce ? (own.poll_backoff >> 1) + (own.poll_backoff >> 3) : own.poll_backoff;
  }

 private:
  // Bits of state::part: this thread adds; it polls; it adds to votes that need not wait for the block; it is the
  // block's first. The high half has a bit for each thread that adds; bits 8 to 15 are free for who keeps a state in
  // fewer words.
  static constexpr uint32_t adds = 2, polls = 4, adds_at_once = 8, first = 16, lanes_shift = 16;

  /// arrive_first() under a plan with one counter.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive_at_one(Grid grid, const places& at, membership who, state& own, const arrival_log& log,
                                        uint32_t& lost) {
    const packed_plan plan = at.plan.of_one_counter();
    const uint32_t thread = grid.thread(), two_partitions = plan.partitions_log2();
    const uint32_t partition = two_partitions != 0 ? at.partitions.of(grid) : 0;
    const auto counter = [&](uint32_t of_partition) { return at.at(of_partition, at.line[0]) + plan.word(); };
    uint32_t *const near = counter(partition), *const far = counter(1 - partition);
    release_block<Order>(grid);
    const uint32_t step = who.rank == 0 ? phase_word::completing(who.count) : 1u;
    two_words before{};
    if (thread == 0) {
      if (two_partitions != 0) {
        before = Grid::memory::template fetch_add_both<publishes<Order>, scope::device>(near, far, step);
      } else {
        before.first = Grid::memory::template fetch_add<publishes<Order>, scope::device>(near, step);
        before.second = before.first;
      }
    }
    lost = log.lost_to_block(grid);
    own = tasks_of(grid, plan);
    own.step = step;
    own.add_to = partition_added(grid, plan, partition) == partition ? near : far;
    own.poll_at = near;
    // Between the two adds others may pass the phase and add to the second counter in the next one. The add that is
    // performed first finds both counters in the block's phase, so of what the two tell the earlier is right.
    own.goal = phase_reached(before.first, before.second) ? before.second : before.first;
    settle(own);
    return take(own);
  }

  /// The calling thread among those that add; beyond them all if it comes before the first.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t lane_of(Grid grid, packed_plan plan) {
    return grid.thread() - (plan.second_warp() != 0 ? Grid::warp_size : 0);
  }

  /// What the calling thread does; nothing else of the state.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state tasks_of(Grid grid, packed_plan plan) {
    state own{};
    // Opaque, or the compiler would find them anew in each phase.
    own.drains = grid.opaque(plan.second_warp());
    own.poll_backoff = grid.opaque(plan.poll_backoff());
    const uint32_t lanes_log2 = plan.partitions_log2() + plan.copies_log2();
    static_assert(counter_places::most_lines * 2 <= 32 - lanes_shift, "a bit for each copy of a counter");
    own.part = ((1u << (1u << lanes_log2)) - 1) << lanes_shift;
    if (grid.thread() == 0) own.part |= first;
    if (grid.thread() >> lanes_log2 == 0) own.part |= adds_at_once;
    if (lane_of(grid, plan) >> lanes_log2 == 0) own.part |= adds;
    if (grid.thread() >> plan.counters_log2() == 0) own.part |= polls;
    return own;
  }

  /// The partition of the line that a thread that adds adds to. The far copies first: they take longest.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t partition_added(Grid grid, packed_plan plan, uint32_t partition) {
    const uint32_t added =
        ((lane_of(grid, plan) >> plan.copies_log2()) + (1u << plan.partitions_log2()) - 1 + partition) & 1u;
    // Votes are added to from a block's first thread on, too. Where a warp has fewer threads than there may be copies,
    // those before the second warp are lanes of any parity.
    constexpr bool is_lane_of_any_warp = Grid::warp_size % (2 * counter_places::most_lines) == 0;
    return is_lane_of_any_warp ? added : added & ((1u << plan.partitions_log2()) - 1);
  }

  /// find() under a plan that fits.
  GPUSYNC_API_TEMPLATE
  template <bool Foremost, class Grid>
  GPUSYNC_HD static state find_by(Grid grid, const places& at, packed_plan plan, membership who) {
    const uint32_t counters_log2 = plan.counters_log2(), copies_log2 = plan.copies_log2();
    const uint32_t partitions_log2 = plan.partitions_log2();
    const uint32_t counters = 1u << counters_log2, copies = 1u << copies_log2;
    const uint32_t partition = partitions_log2 != 0 ? at.partitions.of(grid) : 0;
    const uint32_t lane = lane_of(grid, plan);
    const uint32_t sub = who.rank & (counters - 1u);
    const uint32_t copy = who.rank >> counters_log2 & (copies - 1u);
    const auto line = [&](uint32_t of_partition, uint32_t counter, uint32_t of_copy) {
      const uint32_t i = (counter << copies_log2) + of_copy;
      return at.at(of_partition, i == 0 ? at.line[0] : grid.pick(at.line, i)) + plan.word();
    };
    state own = tasks_of(grid, plan);
    const uint32_t sharing = (who.count >> counters_log2) + (sub < (who.count & (counters - 1u)) ? 1 : 0);
    own.step = who.rank < counters ? phase_word::completing(sharing) : 1u;
    own.add_to = line(partition_added(grid, plan, partition), sub, lane & (copies - 1u));
    // The block's own counter: its phase cannot end before the block has arrived.
    const uint32_t* const look_at = line(partition, sub, copy);
    own.poll_at = line(partition, own.part & polls ? grid.thread() : sub, copy);  // the plan's word in every thread
    if constexpr (Foremost) {
      // After a change of the membership the copy that the block polled so far may be ahead of others, whose adds are
      // under way: the foremost copy tells.
      GPUSYNC_UNROLL(1)
      for (uint32_t i = 0; i >> (partitions_log2 + copies_log2) == 0; ++i) {
        const uint32_t value = Grid::memory::template load<memory_order::relaxed, scope::device>(
            line(i >> copies_log2, sub, i & (copies - 1u)));
        if (i == 0 || phase_reached(value, own.goal)) own.goal = value;
      }
    } else {
      own.goal = Grid::memory::template load<memory_order::relaxed, scope::device>(look_at);
    }
    return own;
  }

  /// The plan's word of each line, taken from an address: a member of the state would need a register.
  GPUSYNC_HD static uint32_t word_of(const state& own) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(own.poll_at) / sizeof(uint32_t) % detail::line_words);
  }

  /// The first vote_word of the line that `counter` is on.
  GPUSYNC_HD static uint64_t* votes_beside(const uint32_t* counter) {
    constexpr uintptr_t line_bytes = detail::line_words * sizeof(uint32_t);
    return vote_word::of_line(reinterpret_cast<uint32_t*>(reinterpret_cast<uintptr_t>(counter) & ~(line_bytes - 1)));
  }

  GPUSYNC_API_TEMPLATE
  template <bool Drain, class Grid>
  GPUSYNC_HD static token add(Grid grid, state& own) {
    release_block<Order>(grid);
    if (own.part & adds) {
      // Each adding lane releases for itself: the block barrier has put everybody's writes before it.
      Grid::memory::template add<publishes<Order>, scope::device>(own.add_to, own.step);
      if constexpr (Drain) drain<Grid>(own);
    }
    return take(own);
  }

  /// The token of an arrival, after which the next phase is to come.
  GPUSYNC_HD static token take(state& own) {
    const token arrived = upcoming(own);
    own.goal += phase_word::one_phase;
    return arrived;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void drain(const state& own) {
    Grid::memory::drain(own.drains);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status poll(Grid grid, const state& own, uint32_t goal, Context& context) {
    const wait_status status = poll_until<sees<Order>, scope::device>(
        grid, own.poll_at, [goal](uint32_t current) { return phase_reached(current, goal); }, context);
    after_poll<Order>(grid);
    return status;
  }
};

}  // namespace gpusync::grid
