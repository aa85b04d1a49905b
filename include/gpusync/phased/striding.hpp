// Static schedule of a phased grid: every P-th virtual block.
#pragma once

#include <gpusync/phased/resident_block.hpp>

namespace gpusync::phased {

/// Resident block p of P runs the virtual blocks p, p + P, p + 2P, … in this order, the same ones in every phase.
///
/// Synchronizes: nothing; the barrier that ends the phase does. Between two virtual blocks of one resident block lies a
///   block barrier, so that shared memory can be used anew.
/// Cost: a block barrier per virtual block beyond the first. No memory, no atomics.
/// Balance: a phase lasts as long as the longest of the resident blocks' shares.
/// Storage: none.
/// Fulfils @ref Schedule.
struct striding {
  static constexpr const char* name = "striding";
  static constexpr uint32_t barriers = 1;

  GPUSYNC_HD static constexpr size_t words(uint32_t) { return 0; }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Sync, class Body>
  GPUSYNC_HD static bool for_each(const resident_block<Grid>& at, Sync&&, Body&& body) {
    const uint32_t resident = at.grid.blocks();
    uint32_t block = at.grid.block();
    GPUSYNC_UNROLL(1)
    while (true) {
      body(block);
      if (at.virtual_blocks - block <= resident) return true;
      block += resident;
      at.grid.sync_block();
    }
  }
};

}  // namespace gpusync::phased
