// The barrier of all blocks of several GPUs.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>
#include <gpusync/multi_gpu/exchange.hpp>
#include <gpusync/multi_gpu/peers.hpp>

namespace gpusync::multi_gpu {

/// One barrier on two levels: the blocks of each GPU add to a counter of their own, at device scope; one of them, the
/// leading block, which does not add but polls that counter, then tells the other GPUs, at system scope; and every
/// block waits for what the leading blocks of all GPUs tell. Nothing of the papers, whose multi_grid_group is gone.
///
/// Why so: a fence at system scope takes 0.6 us on an H200 whatever it has to order, and longer where several
/// multiprocessors issue one at once, so only the leading blocks do; and it must come after they have seen the counter.
/// A leading block that is the last to arrive has no fence at device scope before that one, and its own arrival is no
/// message. docs/multi-gpu.md has what each of this is worth.
///
/// Preconditions: all blocks of all GPUs run at once; all threads of a block call together; every GPU's launch goes
///   through the same phases. The number of blocks may differ between GPUs and between launches.
/// Synchronizes: everything before arrive() in any thread of any block of any GPU happens before everything after
///   wait() in every thread, at system scope. By cumulativity: a block's release at device scope, which its leading
///   block's senders acquire, precedes their release at system scope, which every block acquires (PTX ISA, memory
///   consistency model: causality order is transitive across scopes where each pair is morally strong in its own).
/// Progress: as lock_based; besides, the other blocks' waits end only when the leading blocks have called wait(), not
///   only arrive().
/// Cost: two hops, of which one is between GPUs. Per block one add, and polls of a line that only leading blocks write
///   to, in the block's partition; per GPU a fence at system scope and 2 x gpus stores (all_to_all).
/// Storage: 10 lines of 128 bytes on each GPU, three of them elsewhere if they are placed; at most 65,535 blocks on
///   each of at most 16 GPUs.
///
/// Exchange: how the leading blocks tell each other: all_to_all, replicated, central, disseminated; signalled (at most
/// 128 GPUs, 58 lines).
template <class Exchange>
struct two_level : grid::algorithm_defaults {
  static constexpr ordering order = ordering::acquire_release;
  static constexpr const char* family = Exchange::family;
  static constexpr bool has_orderings = false;
  static constexpr bool wait_needed_by_others = true;
  static constexpr bool whole_grid_only = true;
  static constexpr bool has_fused_form = true;
  static constexpr bool has_places = true;
  static constexpr uint32_t max_blocks = phase_word::max_blocks;

  using places = exchange_places;
  /// As the exchange has them.
  using word = typename Exchange::word;
  /// As the exchange has it.
  using layout = typename Exchange::layout;
  /// As the exchange says.
  static constexpr bool places_lines = Exchange::places_lines;
  /// The phase in which the block arrived.
  using token = uint32_t;

  struct state {
    sender own;             ///< for threads that tell
    uint32_t* counter;      ///< of the GPU's arrivals
    const word* poll_at;    ///< what this thread polls, if it does
    uint32_t goal;          ///< the phase to come
    uint32_t step;          ///< what is added
    uint32_t part;          ///< what the thread does: see the constants below
    uint32_t second_fence;  ///< see exchange_plan
    uint32_t poll_backoff;  ///< see exchange_plan
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t) { return layout::words; }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t, uint32_t phase) {
    words[layout::counter] = phase_word::start_of(phase);
    constexpr size_t parts = sizeof(word) / sizeof(uint32_t);  // little-endian: the low one holds the phase
    for (size_t i = layout::line; i < layout::peers; i += parts) words[i] = Exchange::word_of(phase);
  }
  /// All lines in the words; this GPU alone. A storage of several GPUs makes more of it.
  GPUSYNC_HD static places places_in(uint32_t* words) {
    places made;
    made.peers = reinterpret_cast<const peer*>(words + layout::peers);
    made.counter = words + layout::counter;
    for (uint32_t i = 0; i < 2; ++i) made.line[i] = words + layout::line + i * layout::line_words;
    made.partitions = grid::sm_partitions::in_turn();
    return made;
  }

  GPUSYNC_HD static uint32_t stamp(token goal) { return Exchange::stamp(goal); }
  GPUSYNC_HD static uint32_t next_stamp(token goal) { return Exchange::stamp(goal + 1); }
  GPUSYNC_HD static token upcoming(const state& own) { return own.goal; }
  /// Nothing: what find() has found is what a phase leaves behind.
  GPUSYNC_API static void settle(state&) {}

  /// A block's part, and the phase that it is in.
  GPUSYNC_API_TEMPLATE
  template <bool Foremost, class Grid>
  GPUSYNC_HD static state find(Grid grid, const places& at, membership who) {
    state own{};
    own.goal = Exchange::phase_of(grid, at) + 1;
    own.counter = at.counter;
    own.second_fence = grid.opaque(at.plan.second_fence);
    own.poll_backoff = grid.opaque(at.plan.poll_backoff);
    const uint32_t lanes = lanes_of(grid), thread = grid.thread();
    const uint32_t senders = Exchange::senders(at.gpus);
    own.own = {at.peers, nullptr, at.gpu, at.gpus, lanes < senders ? lanes : senders, at.across_hosts};
    if (who.rank == 0) {
      const uint32_t warps = Exchange::repeatable ? at.plan.leader_warps : 1;
      if ((thread < lanes || thread / lanes < warps) && thread % lanes < senders) {
        own.part |= tells;
        if (who.count > 1) own.part |= gathers;
        own.own.out = Exchange::target(at.peers, at.gpu, at.gpus, thread % lanes);
      }
      // A block that is alone keeps the counter in step with the phases, for larger grids to come.
      own.step = phase_word::one_phase;
      if (who.count == 1 && thread == 0) own.part |= keeps_step;
    } else {
      own.step = who.rank == 1 ? phase_word::completing(who.count - 1) : 1u;
      if (thread == 0) own.part |= adds;
    }
    if (thread < lanes && thread < Exchange::sources(at.gpus)) own.part |= polls;
    own.poll_at = Exchange::source(at, at.partitions.of(grid)) + ((own.part & polls) != 0 ? thread : 0);
    return own;
  }

  /// find() and arrive_fused() in one.
  GPUSYNC_API_TEMPLATE
  template <bool Foremost, class Grid>
  GPUSYNC_HD static token arrive_first(Grid grid, const places& at, membership who, state& own, const arrival_log& log,
                                       uint32_t& lost) {
    own = find<Foremost>(grid, at, who);
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
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t*, const state& own, token goal, Context& context) {
    return sync_block_status(grid, pass(grid, own, goal, 0, context), context);
  }

  /// arrive() for a block that waits at once.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive_fused(Grid grid, uint32_t*, state& own) {
    return add<true>(grid, own);
  }
  /// wait() right after arrive_fused().
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait_fused(Grid grid, const uint32_t*, const state& own, token goal, Context& context) {
    return sync_block_status(grid, pass(grid, own, goal, own.poll_backoff, context), context);
  }

 private:
  // Bits of state::part: this thread adds for its block; finds the last arrival; tells the other GPUs; polls what they
  // tell; keeps the counter in step.
  static constexpr uint32_t adds = 1, gathers = 2, tells = 4, polls = 8, keeps_step = 16;

  /// Threads of the block that work side by side: a warp's, where there are warps.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t lanes_of(Grid grid) {
    return Grid::warp_size == 1 || grid.threads() < Grid::warp_size ? grid.threads() : +Grid::warp_size;
  }

  GPUSYNC_API_TEMPLATE
  template <bool SecondFence, class Grid>
  GPUSYNC_HD static token add(Grid grid, state& own) {
    grid::release_block<order>(grid);
    if (own.part & adds) {
      Grid::memory::template add<memory_order::release, scope::device>(own.counter, own.step);
      if constexpr (SecondFence) Grid::memory::drain(own.second_fence);
    }
    return own.goal++;
  }

  /// What the calling thread does of a wait.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status pass(Grid grid, const state& own, token goal, uint32_t backoff, Context& context) {
    if (own.part & tells) {
      if (lead(grid, own, goal, context) == wait_status::timed_out) return wait_status::timed_out;
      backoff = 0;
    }
    if ((own.part & polls) == 0) return wait_status::completed;
    grid.delay(backoff);
    const uint32_t lanes = lanes_of(grid), sources = Exchange::sources(own.own.gpus);
    const word* at = own.poll_at;
    for (uint32_t i = grid.thread();; at += lanes) {
      const wait_status status = poll_until<memory_order::acquire, scope::system>(
          grid, at, [goal](word current) { return Exchange::reached(current, goal); }, context);
      if (status == wait_status::timed_out) return status;
      Exchange::see(own.own, at, goal);
      i += lanes;
      if (i >= sources) return status;
    }
  }

  /// A sender's part: finds that its GPU's blocks have arrived, and tells.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status lead(Grid grid, const state& own, token goal, Context& context) {
    const uint32_t lanes = lanes_of(grid), thread = grid.thread();
    if (own.part & gathers) {
      grid.delay(thread / lanes * turn);
      const wait_status status = poll_until<memory_order::acquire, scope::device>(
          grid, own.counter, [goal](uint32_t current) { return phase_reached(current, phase_word::start_of(goal)); },
          context);
      if (status == wait_status::timed_out) return status;
    }
    const wait_status status = Exchange::tell(grid, own.own, thread % lanes, goal, context);
    if (own.part & keeps_step) {
      Grid::memory::template add<memory_order::relaxed, scope::device>(own.counter, own.step);
    }
    return status;
  }

  /// Cycles by which the warps of a leading block look later than each other.
  static constexpr uint32_t turn = 60;
};

}  // namespace gpusync::multi_gpu
