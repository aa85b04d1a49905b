// Wrong barriers across GPUs: a memory that tells the two levels apart by their scopes, and exchanges and two-level
// barriers of which one function is wrong.
#pragma once

#include <cstdlib>

#include <gpusync/multi_gpu/registry.hpp>
#include <gpusync/multi_gpu/signalled.hpp>

#include "explorer/model_grid.hpp"

namespace gpusync::verify {

/// Two GPUs that add at once may lose one of the additions.
struct torn_add_of_gpus : model_memory {
  template <memory_order Order, scope Scope, class T>
  static void add(T* address, T value) {
    if constexpr (Scope == scope::system) {
      store<memory_order::release, Scope>(address, load<memory_order::acquire, Scope>(address) + value);
    } else {
      model_memory::add<Order, Scope>(address, value);
    }
  }
};

/// Signals on one host, where a GPU stores to all others: what is sent releases what came before.
struct stored_signals {
  static constexpr const char* family = "multi-gpu-signals";
  static constexpr memory_order order_of_stores = memory_order::release;
  template <class Grid>
  static void complete(Grid) {}
  template <class Grid>
  static void set(Grid, uint64_t*, uint64_t, const multi_gpu::peer&) {
    std::abort();
  }
  template <class Grid>
  static void add(Grid, uint32_t*, uint32_t, const multi_gpu::peer&) {
    std::abort();
  }
  static void see(const uint64_t*, uint64_t) { std::abort(); }
};

/// Neither the stores nor what comes before them release anything.
struct unreleased_signals : stored_signals {
  static constexpr memory_order order_of_stores = memory_order::relaxed;
};

/// Waits for just this phase: whoever looks too late hangs.
struct flags_for_equality : multi_gpu::all_to_all {
  static constexpr bool reached(uint32_t word, uint32_t goal) { return word == goal; }
};

/// Phases are compared as plain numbers.
template <class Exchange>
struct ignores_wraps : Exchange {
  static constexpr bool reached(typename Exchange::word word, uint32_t goal) { return word >= Exchange::word_of(goal); }
};

/// A block polls the flags of all GPUs but the last.
struct overlooks_a_gpu : multi_gpu::all_to_all {
  static constexpr uint32_t sources(uint32_t gpus) { return gpus - 1; }
};

/// The copies on partition 1 are told nothing.
struct forgets_the_copies : multi_gpu::all_to_all {
  template <class Grid, class Context>
  static wait_status tell(Grid, const multi_gpu::sender& own, uint32_t, uint32_t goal, Context&) {
    for (uint32_t i = 0; i < own.gpus; ++i) {
      Grid::memory::template store<memory_order::release, scope::system>(target(own.peers, own.gpu, own.gpus, i), goal);
    }
    return wait_status::completed;
  }
};

/// The phase from one of two counters: the one that this GPU's blocks need not have polled.
struct phase_of_the_first_line : multi_gpu::replicated {
  template <class Grid>
  static uint32_t phase_of(Grid, const multi_gpu::exchange_places& at) {
    return phase_word::phase(Grid::memory::template load<memory_order::relaxed, scope::system>(at.line[0]));
  }
};

/// Every GPU adds 1, and none completes the phase.
struct nobody_completes : multi_gpu::central {
  template <class Grid, class Context>
  static wait_status tell(Grid, const multi_gpu::sender& own, uint32_t, uint32_t, Context&) {
    Grid::memory::template add<memory_order::release, scope::system>(own.out, 1u);
    return wait_status::completed;
  }
};

/// One round fewer than there must be.
struct without_its_last_round : multi_gpu::disseminated {
  template <class Grid, class Context>
  static wait_status tell(Grid grid, const multi_gpu::sender& own, uint32_t, uint32_t goal, Context& context) {
    using memory = typename Grid::memory;
    uint32_t round = 0;
    for (uint32_t distance = 1; 2 * distance < own.gpus; distance *= 2, ++round) {
      const uint32_t next = (own.gpu + distance) % own.gpus;
      memory::template store<memory_order::release, scope::system>(own.peers[next].line[0] + round, goal);
      (void)poll_until<memory_order::acquire, scope::system>(
          grid, own.peers[own.gpu].line[0] + round, [goal](uint32_t current) { return phase_reached(current, goal); },
          context);
    }
    memory::template store<memory_order::release, scope::device>(own.out, goal);
    return wait_status::completed;
  }
};

/// One word for all rounds: a message of one is taken for that of another.
struct one_word_for_all_rounds : multi_gpu::disseminated {
  template <class Grid, class Context>
  static wait_status tell(Grid grid, const multi_gpu::sender& own, uint32_t, uint32_t goal, Context& context) {
    using memory = typename Grid::memory;
    for (uint32_t distance = 1; distance < own.gpus; distance *= 2) {
      const uint32_t next = (own.gpu + distance) % own.gpus;
      memory::template store<memory_order::release, scope::system>(own.peers[next].line[0], goal);
      (void)poll_until<memory_order::acquire, scope::system>(
          grid, own.peers[own.gpu].line[0], [goal](uint32_t current) { return phase_reached(current, goal); }, context);
    }
    memory::template store<memory_order::release, scope::device>(own.out, goal);
    return wait_status::completed;
  }
};

/// two_level<Exchange>, but a block's part is changed after it has been found. Change: static change(who, thread,
/// state).
template <class Exchange, class Change>
struct with_another_part : multi_gpu::two_level<Exchange> {
  using base = multi_gpu::two_level<Exchange>;
  using typename base::places;
  using typename base::state;
  using typename base::token;

  template <bool Foremost, class Grid>
  static state find(Grid grid, const places& at, membership who) {
    state own = base::template find<Foremost>(grid, at, who);
    Change::change(who, grid.thread(), own);
    return own;
  }
  template <bool Foremost, class Grid>
  static token arrive_first(Grid grid, const places& at, membership who, state& own, const arrival_log&, uint32_t&) {
    own = find<Foremost>(grid, at, who);
    return base::arrive_fused(grid, nullptr, own);
  }
};

/// The leading block adds as well.
struct leader_adds {
  template <class State>
  static void change(membership who, uint32_t thread, State& own) {
    if (who.rank != 0 || thread != 0 || who.count == 1) return;
    own.part |= 1;
    own.step = 1;
  }
};
/// A block that is alone leaves the counter as it is.
struct out_of_step {
  template <class State>
  static void change(membership, uint32_t, State& own) {
    own.part &= ~16u;
  }
};
/// No block completes its GPU's count.
struct no_block_completes {
  template <class State>
  static void change(membership who, uint32_t, State& own) {
    if (who.rank == 1) own.step = 1;
  }
};

/// The block finds the phase after it has arrived: by then it may be over.
template <class Exchange>
struct phase_after_the_arrival : multi_gpu::two_level<Exchange> {
  using base = multi_gpu::two_level<Exchange>;
  template <bool Foremost, class Grid>
  static typename base::token arrive_first(Grid grid, const typename base::places& at, membership who,
                                           typename base::state& own, const arrival_log&, uint32_t&) {
    own = base::template find<Foremost>(grid, at, who);
    (void)base::arrive_fused(grid, nullptr, own);
    own = base::template find<Foremost>(grid, at, who);
    return own.goal++;
  }
};

}  // namespace gpusync::verify
