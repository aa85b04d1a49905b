// How a barrier orders the data around it: the steps that all algorithms share, for the ordering that was chosen.

#define GPUSYNC_ORDERING_NONE 0             // atomic and relaxed, as first published: for measurement only
#define GPUSYNC_ORDERING_FENCE 1            // a device-wide fence by every work-item before it arrives
#define GPUSYNC_ORDERING_ACQUIRE_RELEASE 2  // one work-item arrives with release and leaves with acquire

#ifndef GPUSYNC_ORDERING
#define GPUSYNC_ORDERING GPUSYNC_ORDERING_ACQUIRE_RELEASE
#endif

/// Which work-group this is among those that take part.
typedef struct {
  uint rank;
  uint count;
} gpusync_part;

/// The head of every arrival: the work-group's barrier puts what its work-items have written before what follows.
static void gpusync_release_group(void) {
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_FENCE
  gpusync_fence();
#endif
  gpusync_sync_group();
}

/// Adds and publishes what this work-item has seen; release is cumulative, so also what the work-group's barrier has
/// put before it.
static void gpusync_publish_add(__global uint* word, uint value) {
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_ACQUIRE_RELEASE
  (void)gpusync_add_release(word, value);
#else
  (void)gpusync_add(word, value);
#endif
}

/// Stores and publishes.
static void gpusync_publish_store(__global uint* word, uint value) {
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_ACQUIRE_RELEASE
  gpusync_store_release(word, value);
#else
  gpusync_store(word, value);
#endif
}

/// After polls have found what they waited for in `word`: sees what was published with it.
static void gpusync_see(const __global uint* word) {
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_ACQUIRE_RELEASE
  gpusync_acquire(word);
#elif GPUSYNC_ORDERING == GPUSYNC_ORDERING_FENCE
  gpusync_fence();
#endif
}

/// Between what this work-group has collected and the words with which its work-items hand it on: a releasing store
/// needs nothing here, a relaxed one a fence before it.
static void gpusync_hand_on(void) {
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_FENCE
  gpusync_fence();
#endif
}

/// The end of every wait: all work-items of the work-group come together, and all learn whether one has given up.
/// Helper functions of OpenCL C cannot have local variables, so that goes through `answer`, a word of global memory
/// of the work-group's own. It is 0 until a wait times out and stays 1 then: no phase completes after that.
///
/// Where one work-group must meet in the middle of its wait, all do: PoCL 3.1 makes wrong code of a barrier that stands
/// under a condition in a loop, although OpenCL allows it if all work-items of a work-group agree on the condition.
static int gpusync_sync_status(__global uint* answer, int status, ulong limit) {
  if (status == GPUSYNC_TIMED_OUT) gpusync_store(answer, 1u);
  gpusync_sync_group();
  if (limit == GPUSYNC_NO_LIMIT) return GPUSYNC_COMPLETED;
  return gpusync_load(answer) != 0 ? GPUSYNC_TIMED_OUT : GPUSYNC_COMPLETED;
}
