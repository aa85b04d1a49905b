// How many work-groups run at once: found by trial, for no query of OpenCL tells.
//
// A trial launches the very kernel, so with its registers and local memory, and each work-group only counts itself, waits
// a while for others, and leaves. The idea of asking the work-groups themselves who is there is Sorensen et al.'s (OOPSLA
// 2016); theirs runs in every launch, this one once per kernel and work-group size.

/// First line of a kernel with a barrier: `if (GPUSYNC_TRIAL(storage)) return;`. True in a trial, for all work-items.
/// Cost in a real launch: one load of a word that nobody writes.
#define GPUSYNC_TRIAL(storage) gpusync_trial(storage)

static void gpusync_trial_stay(__global uint* words, uint groups) {
  __global uint* closed = words + GPUSYNC_AT_TRIAL_CLOSED;
  __global uint* started = words + GPUSYNC_AT_TRIAL_STARTED;
  // Only work-groups between the addition and the subtraction count as live: the peak is one that really was.
  if (gpusync_load(closed) != 0) return;
  const uint live = gpusync_add(words + GPUSYNC_AT_TRIAL_LIVE, 1u) + 1u;
  (void)atomic_max((volatile __global uint*)(words + GPUSYNC_AT_TRIAL_PEAK), live);
  uint seen = gpusync_add(started, 1u) + 1u;

  const ulong linger = (ulong)gpusync_load(words + GPUSYNC_AT_TRIAL_LINGER_HIGH) << 32 |
                       gpusync_load(words + GPUSYNC_AT_TRIAL_LINGER_LOW);
  const ulong longest = 16 * linger;
  ulong start = gpusync_ticks_start();
  ulong last_arrival = 0;
  while (gpusync_load(closed) == 0) {
    const ulong now = gpusync_ticks(&start);
    const uint count = gpusync_load(started);
    if (count != seen) {
      seen = count;
      last_arrival = now;
    }
    // Everybody is here; or nobody has come for long; or trickling newcomers have kept the first ones long enough.
    if (count == groups || now - last_arrival >= linger || now >= longest) gpusync_store(closed, 1u);
  }
  (void)gpusync_add(words + GPUSYNC_AT_TRIAL_LIVE, ~0u);
}

static int gpusync_trial(__global uint* words) {
  const uint groups = gpusync_load(words + GPUSYNC_AT_TRIAL);
  if (groups == 0) return 0;
  if (gpusync_is_first_item()) gpusync_trial_stay(words, groups);
  gpusync_sync_group();  // the others stay as long, so that the work-group keeps all that it occupies
  return 1;
}
