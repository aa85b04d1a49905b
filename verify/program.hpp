// The program that is explored: blocks that write, meet at a barrier and read, phase after phase.
#pragma once

#include <vector>

#include <gpusync/gpusync.hpp>
#include <gpusync/grid/registry.hpp>

#include "explorer/model_grid.hpp"

namespace gpusync::verify {

/// In each phase every thread writes its slot of the half that the phase's number chooses, passes the barrier, and
/// reads the slots of all members' threads. That is a data race unless the barrier orders the writes before the reads
/// and the reads before the writes two phases later.
struct program {
  static constexpr uint32_t never = ~0u;

  uint32_t phases = 3;                  ///< of each launch
  uint32_t first_phase = 0;             ///< where the barrier's counters start
  bool split = false;                   ///< arrive() and wait() instead of sync()
  std::vector<uint32_t> launches = {};  ///< blocks of each launch; if empty, one of all blocks
  uint32_t dropping = never;            ///< this block arrives in `last_phase` and drops out
  uint32_t last_phase = 0;
};

/// `launched(block)`: whether the launch has it.
template <class Algorithm, class Barrier, class Launched>
void run_phases(Barrier& barrier, const program& what, uint32_t first, const Launched& launched) {
  explorer& active = explorer::active();
  const bool drops = active.block() == what.dropping;
  for (uint32_t i = 0; i < what.phases; ++i) {
    const uint32_t phase = first + i;
    const uint32_t half = phase % 2;
    if constexpr (orders_data(Algorithm::order)) active.write_slot(half);
    active.arriving(phase);
    if constexpr (Barrier::members::may_drop) {
      if (drops && i == what.last_phase) return barrier.arrive_and_drop();
    }
    if (what.split) {
      auto token = barrier.arrive();
      barrier.wait(std::move(token));
    } else {
      barrier.sync();
    }
    const auto member = [&](uint32_t block) {
      return launched(block) && (block != what.dropping || i <= what.last_phase);
    };
    active.passing(phase, member);
    if constexpr (orders_data(Algorithm::order)) active.read_slots(half, member);
    active.checkpoint(phase, &barrier, sizeof(barrier));
  }
}

/// Explores `what` on a grid of the given shape.
template <class Algorithm, class Memory = model_memory, bool Looking = false>
exploration explore(shape form, const program& what) {
  using grid = model_grid<Memory, Looking>;
  form.looking = Looking;
  form.fences = Algorithm::order == ordering::fence;
  const std::vector<uint32_t> launches = what.launches.empty() ? std::vector<uint32_t>{form.blocks} : what.launches;
  host_barrier_storage<Algorithm, grid> storage(form.blocks, what.first_phase);
  explorer search(form, [&] {
    explorer& active = explorer::active();
    uint32_t first = 0;
    for (const uint32_t blocks : launches) {
      active.set_blocks(blocks);
      const auto launched = [blocks](uint32_t block) { return block < blocks; };
      if (launched(active.block())) {
        if (what.dropping == program::never) {
          auto barrier = storage.barrier();
          run_phases<Algorithm>(barrier, what, first, launched);
        } else if constexpr (orders_data(Algorithm::order) && Algorithm::safe) {
          // Without an order nobody may drop out, nor of the texts of 2010.
          auto barrier = storage.dropping_barrier();
          run_phases<Algorithm>(barrier, what, first, launched);
        }
      }
      first += what.phases;
      if (launches.size() > 1) active.end_launch();
    }
  });
  // Between the algorithm's own words and the roster stands the arrival log, which only waits with a deadline read.
  const auto layout = gpusync::detail::barrier_layout::of(Algorithm::words(form.blocks), form.blocks);
  search.ignore_stores(storage.state() + layout.claimed, storage.state() + layout.roster);
  search.name_words(storage.state());
  return search.run();
}

}  // namespace gpusync::verify
