// The centralized barrier of Shen (2013; item S3; figure 3-3), made right. There the host sets a counter to the number
// of work-groups, work-item 0 of each takes one away and polls until nothing is left, and a second barrier must reset
// the counter before the next use. Different here:
//
// - Work-group 0 resets the counter and arrives in one operation: it puts n and takes its own one away, an addition of
//   n - 1. The others take one away. So the counter rests at zero, needs no reset, and serves launches of any size.
// - Two counters take turns, phase by phase. With one, a fast work-group would begin the next phase before a slow
//   one has seen the zero of this one. Nobody touches a counter again before all have seen its zero, for they have all
//   arrived in the phase between.
// - The condition is the one that the figure states. The code of the thesis's appendix C reads
//   `while (counter[0]&70 != 0)`, and so looks at the lowest bit only: it lets work-groups go while others are missing.
//
// "Zero" is the end of the phase in the eyes of whoever has arrived: with k < n - 1 others gone by, the counter reads
// -k before and n - 1 - k after work-group 0 has come, and k counts the reader itself. Never another zero.
//
// Preconditions, synchronizes: see lock_based.cl; every operation on the counter is a read-modify-write here too.
// Cost: one hop; one atomic addition per work-group, one after the other (the thesis's X * Ta), and polls of the same
//   word; besides one store by work-group 0, behind the phase.
// Storage: three lines (384 bytes): the number of phases that have ended, and the counters. Any number of work-groups.

enum { gpusync_centralized_number = 3 };

typedef struct {
  uint step;
} gpusync_centralized_state;

static gpusync_centralized_state gpusync_centralized_join(const gpusync_part part) {
  gpusync_centralized_state state = {part.rank == 0 ? part.count - 1 : ~0u};
  return state;
}

/// The number of phases that will have ended with the next one. Exact at the start of a launch.
static uint gpusync_centralized_next_goal(const __global uint* own) {
  return gpusync_load(own) + 1;
}

static __global uint* gpusync_centralized_counter(__global uint* own, uint goal) {
  return own + (1 + goal % 2) * GPUSYNC_LINE_WORDS;
}

static void gpusync_centralized_arrive(__global uint* own, const gpusync_centralized_state* state,
                                       const gpusync_part part, uint goal) {
  gpusync_release_group();
  if (gpusync_is_first_item()) gpusync_publish_add(gpusync_centralized_counter(own, goal), state->step);
}

static int gpusync_centralized_wait(__global uint* own, const gpusync_part part, uint goal, __global uint* answer,
                                    ulong limit) {
  int status = GPUSYNC_COMPLETED;
  if (gpusync_is_first_item()) {
    const __global uint* counter = gpusync_centralized_counter(own, goal);
    status = gpusync_wait_equal(counter, 0u, limit);
    gpusync_see(counter);
    if (part.rank == 0 && status == GPUSYNC_COMPLETED) gpusync_store(own, goal);
  }
  return gpusync_sync_status(answer, status, limit);
}
