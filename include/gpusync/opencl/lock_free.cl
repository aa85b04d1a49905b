// The lock-free barrier of Xiao and Feng (2009/2010; items F3 and F5): no read-modify-writes. Each work-group stores
// the number of the phase in its flag; the work-items of work-group 0 await the flags of all, meet, and store the
// number in a second flag for each work-group, which its work-item 0 polls. Different from the original: a barrier of
// the work-group at the head, any number of work-items, and work-group 0 does not wait for its own release.
//
// Equality ends the waits, and is safe here: whoever stores the next number in a flag has first been let go by the one
// who awaits this one. What earlier launches left in a flag is older, until the number has gone round 2^32 phases.
//
// Preconditions: see lock_based.cl. Besides, work-groups are let go only when work-group 0 has called wait, not only
//   arrive.
// Synchronizes: see lock_based.cl. Work-group 0 acquires the flags of all, its own barrier joins what its
//   work-items have seen, and each releases the flags of others.
// Cost: two hops. Per work-group one store and polls of one word, each word polled by one; for work-group 0 n of each,
//   spread over its work-items.
// Storage: a line (128 bytes) for the number of phases that have ended; for every 32 work-groups a line of arrivals and
//   a line of releases.

enum { gpusync_lock_free_number = 5 };

typedef struct {
  uint unused;
} gpusync_lock_free_state;

static gpusync_lock_free_state gpusync_lock_free_join(const gpusync_part part) {
  gpusync_lock_free_state state = {0};
  return state;
}

/// The number of phases that will have ended with the next one. Exact at the start of a launch.
static uint gpusync_lock_free_next_goal(const __global uint* own) {
  return gpusync_load(own) + 1;
}

static __global uint* gpusync_lock_free_arrived(__global uint* own, uint rank) {
  return own + GPUSYNC_LINE_WORDS + rank / GPUSYNC_LINE_WORDS * 2 * GPUSYNC_LINE_WORDS + rank % GPUSYNC_LINE_WORDS;
}

static __global uint* gpusync_lock_free_released(__global uint* own, uint rank) {
  return gpusync_lock_free_arrived(own, rank) + GPUSYNC_LINE_WORDS;
}

static void gpusync_lock_free_arrive(__global uint* own, const gpusync_lock_free_state* state, const gpusync_part part,
                                     uint goal) {
  gpusync_release_group();
  if (gpusync_is_first_item()) gpusync_publish_store(gpusync_lock_free_arrived(own, part.rank), goal);
}

static int gpusync_lock_free_wait(__global uint* own, const gpusync_part part, uint goal, __global uint* answer,
                                  ulong limit) {
  int status = GPUSYNC_COMPLETED;
  if (part.rank == 0) {
    for (uint i = gpusync_item(); i < part.count && status == GPUSYNC_COMPLETED; i += gpusync_items()) {
      const __global uint* flag = gpusync_lock_free_arrived(own, i);
      status = gpusync_wait_equal(flag, goal, limit);
      gpusync_see(flag);
    }
  }
  status = gpusync_sync_status(answer, status, limit);  // in all work-groups: see gpusync_sync_status()
  if (part.rank == 0 && status == GPUSYNC_COMPLETED) {
    gpusync_hand_on();
    for (uint i = gpusync_item(); i < part.count; i += gpusync_items()) {
      if (i != 0) gpusync_publish_store(gpusync_lock_free_released(own, i), goal);
    }
    if (gpusync_is_first_item()) gpusync_store(own, goal);
  }
  if (part.rank != 0 && gpusync_is_first_item()) {
    const __global uint* flag = gpusync_lock_free_released(own, part.rank);
    status = gpusync_wait_equal(flag, goal, limit);
    gpusync_see(flag);
  }
  return gpusync_sync_status(answer, status, limit);
}
