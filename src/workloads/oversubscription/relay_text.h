// Workload "oversubscription": phases of a grid that may have more blocks than run at once. In each phase every thread
// of every virtual block reads the word that a thread of another virtual block left in the phase before, compares it
// with what it must be, and leaves its own. One text for CUDA, host threads and OpenCL: see boundary/step_text.h.
//
// Words lie in two halves that are used in turn. They repeat every `relay_period` phases, so that replayed graphs leave
// the same; a word that is two phases old is wrong all the same.

/// Phases after which the words repeat. Even, so that halves continue to alternate.
STEP_CONSTANT(relay_period, 64);

/// The word that thread `element` leaves in a phase.
STEP_FUNCTION uint32_t relay_word(uint32_t element, uint32_t phase) {
  return (phase % relay_period + 1) * 0x9e3779b9u ^ element * 0x85ebca6bu;
}

/// The virtual block whose words `block` reads in a phase: the next one, or one some eighths of the grid away.
STEP_FUNCTION uint32_t relay_other(uint32_t block, uint32_t blocks, uint32_t phase) {
  const uint32_t apart = 1 + phase % 8 * ((blocks - 1) / 8);
  return apart < blocks - block ? block + apart : block + apart - blocks;
}

/// One thread's part of one phase of a virtual block: 1 if the word that it read is wrong, else 0. `words`: 2 x blocks
/// x threads, of which a first run finds the second half as phase relay_period - 1 leaves it.
STEP_FUNCTION uint32_t relay_step(STEP_GLOBAL uint32_t* words, uint32_t blocks, uint32_t block, uint32_t threads,
                                  uint32_t thread, uint32_t phase) {
  const uint32_t elements = blocks * threads, before = phase + relay_period - 1;
  const uint32_t read = relay_other(block, blocks, phase) * threads + thread;
  const uint32_t own = block * threads + thread;
  const uint32_t found = words[before % 2 * elements + read];
  words[phase % 2 * elements + own] = relay_word(own, phase);
  return found == relay_word(read, before) ? 0u : 1u;
}

#ifdef __OPENCL_VERSION__
#ifdef GPUSYNC_SCHEDULE  // behind the text of phased grids: all phases in one kernel
__kernel void relay_phased(__global uint* storage, __global uint* phased, __global uint* words,
                           __global uint* wrong_words, uint first, uint phases) {
  __local gpusync_phased_local shared;
  gpusync_phased grid;
  if (!gpusync_phased_enter(storage, phased, &shared, &grid)) return;
  const uint groups = gpusync_virtual_groups(&grid);
  uint wrong = 0;
  for (uint phase = 0; phase < phases; ++phase) {
    GPUSYNC_FOR_EACH_GROUP(
        &grid, group,
        wrong += relay_step(words, groups, group, (uint)get_local_size(0), (uint)get_local_id(0), first + phase));
    gpusync_end_phase(&grid);
  }
  step_report(wrong_words, wrong);
}
#else  // what boundary/steps.cl asks for
#define STEP_PARAMETERS __global uint *words, __global uint *wrong_words
#define STEP_ARGUMENTS words, wrong_words
typedef uint step_kept;  // words found wrong
static step_kept step_load(uint phase, STEP_PARAMETERS) {
  return 0;
}
static void step_once(uint phase, step_kept* wrong, STEP_PARAMETERS) {
  const step_place here = step_here();
  *wrong += relay_step(words, here.blocks, here.block, here.threads, here.thread, phase);
}
static void step_save(const step_kept* wrong, STEP_PARAMETERS) {
  step_report(wrong_words, *wrong);
}
#endif
#else
/// What runs work on.
struct relay_data {
  uint32_t* words;
  uint32_t* wrong;  ///< counts words that are not what the other block should have left
  uint32_t blocks;  ///< virtual ones
};

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
    now.wrong += relay_step(data.words, data.blocks, grid.block(), grid.threads(), grid.thread(), phase);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(Grid grid, const kept& now) const {
    step_report(grid, data.wrong, now.wrong);
  }
};

/// `phases` phases, the first of which is the cycle's `first`-th, in one kernel with the phased grid `grid`.
GPUSYNC_API_TEMPLATE
template <class Here, class PhasedGrid>
GPUSYNC_HD void relay_phases(Here here, PhasedGrid& grid, const relay_data& data, uint32_t first, uint32_t phases) {
  uint32_t wrong = 0;
  const uint32_t threads = here.threads(), thread = here.thread();
  grid.run(phases, [&](uint32_t block, uint32_t phase) {
    wrong += relay_step(data.words, data.blocks, block, threads, thread, first + phase);
  });
  step_report(here, data.wrong, wrong);
}
#endif
