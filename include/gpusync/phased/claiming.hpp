// Dynamic schedule of a phased grid: whoever is free takes the next virtual block.
#pragma once

#include <gpusync/phased/resident_block.hpp>

namespace gpusync::phased {

/// Resident block p runs virtual block p first. Then it claims those that nobody has begun, one after the other, with
/// an atomic addition to one counter, until none is left. One barrier per phase.
///
/// The counter needs no reset between phases or launches. Each of the V - P claims that get something adds one, and so
/// does each of the P that get nothing, one per resident block: V in all, whatever the order. So the one that brings
/// the counter to V is the phase's last, nobody looks at it again before the barrier, and it puts the counter back to
/// zero.
///
/// Synchronizes: nothing; the barrier that ends the phase does, also for the counter. Between two virtual blocks of one
///   resident block lies a block barrier.
/// Cost: an atomic addition per virtual block, served one after the other on one word, and for each its round trip and
///   a block barrier on the way from one virtual block to the next. None if there are no more virtual blocks than
///   resident ones.
/// Balance: a phase ends when the last virtual block that was begun ends; nobody waits while there is something to do.
/// Storage: one word.
/// Fulfils @ref Schedule.
struct claiming {
  static constexpr const char* name = "claiming";
  static constexpr uint32_t barriers = 1;

  GPUSYNC_HD static constexpr size_t words(uint32_t) { return 1; }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Sync, class Body>
  GPUSYNC_HD static bool for_each(const resident_block<Grid>& at, Sync&&, Body&& body) {
    const bool more = at.virtual_blocks > at.grid.blocks();
    uint32_t block = at.grid.block();
    body(block);
    if (!more) return true;
    at.begin_turn();
    GPUSYNC_UNROLL(1)
    while (true) {
      block = at.told_by_first(at.grid.thread() == 0 ? claim(at) : no_block);
      if (block == no_block) return true;
      body(block);
    }
  }

 private:
  /// By one thread of the block.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t claim(const resident_block<Grid>& at) {
    using memory = typename Grid::memory;
    const uint32_t ticket = memory::template fetch_add<memory_order::relaxed, scope::device>(at.words, 1u);
    if (ticket + 1 == at.virtual_blocks) memory::template store<memory_order::relaxed, scope::device>(at.words, 0u);
    const uint32_t unclaimed = at.virtual_blocks - at.grid.blocks();
    return ticket < unclaimed ? at.grid.blocks() + ticket : no_block;
  }
};

}  // namespace gpusync::phased
