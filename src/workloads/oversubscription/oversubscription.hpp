// Workload "oversubscription": phases of a grid that may have more blocks than run at once. In each phase every thread
// of every virtual block reads the word that a thread of another virtual block left in the phase before, compares it
// with what it must be, and leaves its own. The text of a phase, for host threads and CUDA; oversubscription.cl says
// the same in OpenCL C.
//
// Words lie in two halves that are used in turn. They repeat every `relay_period` phases, so that replayed graphs leave
// the same; a word that is two phases old is wrong all the same.
#pragma once

#include <gpusync/core/ordering.hpp>

#include "boundary/computation.hpp"

namespace gpusync::tool {

/// Phases after which the words repeat. Even, so that halves continue to alternate.
inline constexpr uint32_t relay_period = 64;

/// What runs work on. `words` has 2 x blocks x threads words, its second half as phase relay_period - 1 leaves it.
struct relay_data {
  uint32_t* words;
  uint32_t* wrong;  ///< counts words that are not what the other block should have left
  uint32_t blocks;  ///< virtual ones
};

/// The word that thread `element` leaves in a phase.
GPUSYNC_HD inline uint32_t relay_word(uint32_t element, uint32_t phase) {
  return (phase % relay_period + 1) * 0x9e3779b9u ^ element * 0x85ebca6bu;
}

/// The virtual block whose words `block` reads in a phase: the next one, or one some eighths of the grid away.
GPUSYNC_HD inline uint32_t relay_other(uint32_t block, uint32_t blocks, uint32_t phase) {
  const uint32_t apart = 1 + phase % 8 * ((blocks - 1) / 8);
  return apart < blocks - block ? block + apart : block + apart - blocks;
}

/// One thread's part of one phase of a virtual block: 1 if the word that it read is wrong, else 0.
GPUSYNC_HD inline uint32_t relay_step(const relay_data& data, uint32_t block, uint32_t threads, uint32_t thread,
                                      uint32_t phase) {
  const uint32_t elements = data.blocks * threads, before = phase + relay_period - 1;
  const uint32_t read = relay_other(block, data.blocks, phase) * threads + thread;
  const uint32_t own = block * threads + thread;
  const uint32_t found = data.words[before % 2 * elements + read];
  data.words[phase % 2 * elements + own] = relay_word(own, phase);
  return found == relay_word(read, before) ? 0u : 1u;
}

/// A phase for each step, where a grid of all blocks is launched for each.
struct relay_text : computation {
  struct kept {
    uint32_t wrong;
  };

  relay_data data;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid, uint32_t) const {
    return {0};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t phase, kept& now) const {
    now.wrong += relay_step(data, grid.block(), grid.threads(), grid.thread(), phase);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(Grid, const kept& now) const {
    if (now.wrong != 0)
      (void)Grid::memory::template fetch_add<memory_order::relaxed, scope::device>(data.wrong, now.wrong);
  }
};

/// `phases` phases, the first of which is the cycle's `first`-th, in one kernel with the phased grid `grid`.
GPUSYNC_API_TEMPLATE
template <class Here, class PhasedGrid>
GPUSYNC_HD void relay_phases(Here here, PhasedGrid& grid, const relay_data& data, uint32_t first, uint32_t phases) {
  uint32_t wrong = 0;
  const uint32_t threads = here.threads(), thread = here.thread();
  grid.run(phases,
           [&](uint32_t block, uint32_t phase) { wrong += relay_step(data, block, threads, thread, first + phase); });
  if (wrong != 0) (void)Here::memory::template fetch_add<memory_order::relaxed, scope::device>(data.wrong, wrong);
}

}  // namespace gpusync::tool
