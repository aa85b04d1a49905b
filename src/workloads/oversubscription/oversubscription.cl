// Workload "oversubscription" in OpenCL C: says the same as oversubscription.hpp, which explains it. Goes behind the
// text of phased grids, or of a barrier.

#define RELAY_PERIOD 64u

static uint relay_word(uint element, uint phase) {
  return (phase % RELAY_PERIOD + 1) * 0x9e3779b9u ^ element * 0x85ebca6bu;
}

static uint relay_other(uint group, uint groups, uint phase) {
  const uint apart = 1 + phase % 8 * ((groups - 1) / 8);
  return apart < groups - group ? group + apart : group + apart - groups;
}

static uint relay_step(__global uint* words, uint groups, uint group, uint phase) {
  const uint items = (uint)get_local_size(0), item = (uint)get_local_id(0);
  const uint elements = groups * items, before = phase + RELAY_PERIOD - 1;
  const uint read = relay_other(group, groups, phase) * items + item, own = group * items + item;
  const uint found = words[before % 2 * elements + read];
  words[phase % 2 * elements + own] = relay_word(own, phase);
  return found == relay_word(read, before) ? 0u : 1u;
}

#define STEP_PARAMETERS __global uint *words, __global uint *wrong_words
#define STEP_ARGUMENTS words, wrong_words

typedef uint step_kept;  // words found wrong

static step_kept step_load(uint phase, STEP_PARAMETERS) {
  return 0;
}

static void step_once(uint phase, step_kept* wrong, STEP_PARAMETERS) {
  *wrong += relay_step(words, (uint)get_num_groups(0), (uint)get_group_id(0), phase);
}

static void step_save(const step_kept* wrong, STEP_PARAMETERS) {
  if (*wrong != 0) atomic_add((volatile __global uint*)wrong_words, *wrong);
}

#ifdef GPUSYNC_SCHEDULE  // behind the text of phased grids
__kernel void relay_phased(__global uint* storage, __global uint* phased, __global uint* words,
                           __global uint* wrong_words, uint first, uint phases) {
  __local gpusync_phased_local shared;
  gpusync_phased grid;
  if (!gpusync_phased_enter(storage, phased, &shared, &grid)) return;
  const uint groups = gpusync_virtual_groups(&grid);
  uint wrong = 0;
  for (uint phase = 0; phase < phases; ++phase) {
    GPUSYNC_FOR_EACH_GROUP(&grid, group, wrong += relay_step(words, groups, group, first + phase));
    gpusync_end_phase(&grid);
  }
  if (wrong != 0) atomic_add((volatile __global uint*)wrong_words, wrong);
}
#endif
