// The lock-based barrier: Xiao and Feng's (2009/2010; items F2 and F4), Shen's centralized one (2013, S3) without its
// reset. Work-item 0 of each work-group adds to one counter and polls it until all have. The counter never returns to
// zero (see gpusync::phase_word), so neither phases nor launches need a reset, and work-groups of different launches
// may differ in number; the wrap-safe comparison replaces the `!=` of the original, which can hang.
//
// Preconditions: all work-groups of the NDRange run at once (gpusync::opencl::launch checks); at most 65,535 of them;
//   all work-items of a work-group call together.
// Synchronizes: with acquire_release or fence, everything before arrive in any work-item of any work-group happens
//   before everything after wait in every work-item, as far as memory.cl says that the device can promise it. With
//   none: nothing.
// Cost: one hop; one atomic addition per work-group, served one after the other, and polls of the same word.

#define GPUSYNC_ORDERING_NONE 0             // atomic and relaxed, as first published: for measurement only
#define GPUSYNC_ORDERING_FENCE 1            // a device-wide fence by every work-item before it arrives
#define GPUSYNC_ORDERING_ACQUIRE_RELEASE 2  // one work-item arrives with release and leaves with acquire

#ifndef GPUSYNC_ORDERING
#define GPUSYNC_ORDERING GPUSYNC_ORDERING_ACQUIRE_RELEASE
#endif

/// Arrives; returns the counter before the arrival in work-item 0, something in the others.
static uint gpusync_lock_based_arrive(__global uint* counter) {
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_FENCE
  gpusync_fence();
#endif
  gpusync_sync_group();
  if (!gpusync_is_first_item()) return 0;
  // Work-group 0 adds what completes the phase: 2^16 - (n - 1). So a whole phase adds 2^16, whatever n is.
  const uint step = gpusync_group() == 0 ? (1u << 16) - (gpusync_groups() - 1) : 1u;
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_ACQUIRE_RELEASE
  // The work-group's barrier has put the other work-items' writes before this; release is cumulative.
  return gpusync_add_release(counter, step);
#else
  return gpusync_add(counter, step);
#endif
}

/// The counter's value at the end of the phase in which it read `arrived`.
static uint gpusync_lock_based_goal(uint arrived) {
  return ((arrived >> 16) + 1) << 16;
}

/// Called by work-item 0, which must let its work-group pass a barrier afterwards.
static int gpusync_lock_based_wait(const __global uint* counter, uint arrived, ulong limit) {
  const int status = gpusync_wait_until(counter, gpusync_lock_based_goal(arrived), limit);
#if GPUSYNC_ORDERING == GPUSYNC_ORDERING_ACQUIRE_RELEASE
  gpusync_acquire(counter);
#elif GPUSYNC_ORDERING == GPUSYNC_ORDERING_FENCE
  gpusync_fence();
#endif
  return status;
}
