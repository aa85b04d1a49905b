// The lock-based barrier: Xiao and Feng's (2009/2010; items F2 and F4). Work-item 0 of each work-group adds to one
// counter and polls it until all have. The counter never returns to zero (see gpusync::phase_word), so neither phases
// nor launches need a reset, and work-groups of different launches may differ in number; the wrap-safe comparison
// replaces the `!=` of the original, which can hang.
//
// Preconditions, of this and of every barrier here: all work-groups that take part run at once
//   (gpusync::opencl::launch checks); all work-items of a work-group call together; any number of work-items; all
//   work-groups pass the same phases; an arrival is waited for before the next. At most 65,535 work-groups.
// Synchronizes, as every barrier here: with acquire_release or fence, everything before arrive in any work-item of any
//   work-group happens before everything after wait in every work-item, as far as memory.cl says that the device can
//   promise it. With none: nothing. Here: all adds are read-modify-writes of one word, so the value that ends the wait
//   heads a release sequence of every one of them.
// Cost: one hop; one atomic addition per work-group, served one after the other, and polls of the same word.
// Storage: one line (128 bytes).

enum { gpusync_lock_based_number = 1 };

typedef struct {
  uint step;
} gpusync_lock_based_state;

static gpusync_lock_based_state gpusync_lock_based_join(const gpusync_part part) {
  // Rank 0 adds what completes the phase: 2^16 - (n - 1). So a whole phase adds 2^16, whatever n is.
  gpusync_lock_based_state state = {part.rank == 0 ? (1u << 16) - (part.count - 1) : 1u};
  return state;
}

/// The number of phases that will have ended with the next one. Exact until this work-group has arrived in it.
static uint gpusync_lock_based_next_goal(const __global uint* own) {
  return (gpusync_load(own) >> 16) + 1;
}

static void gpusync_lock_based_arrive(__global uint* own, const gpusync_lock_based_state* state,
                                      const gpusync_part part, uint goal) {
  gpusync_release_group();
  if (gpusync_is_first_item()) gpusync_publish_add(own, state->step);
}

static int gpusync_lock_based_wait(__global uint* own, const gpusync_part part, uint goal, __global uint* answer,
                                   ulong limit) {
  int status = GPUSYNC_COMPLETED;
  if (gpusync_is_first_item()) {
    status = gpusync_wait_until(own, goal << 16, limit);
    gpusync_see(own);
  }
  return gpusync_sync_status(answer, status, limit);
}
