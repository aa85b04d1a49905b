// How many work-groups run at once: found by trial, for no query of OpenCL tells.
//
// A trial launches the very kernel, so with its registers and local memory, and each work-group only counts itself,
// waits a while for others, and leaves. The idea of asking the work-groups themselves who is there is Sorensen et
// al.'s (OOPSLA 2016); theirs runs in every launch, this one once per kernel and work-group size.

/// First line of a kernel with a barrier: `if (GPUSYNC_TRIAL(storage)) return;`. True in a trial, for all work-items.
/// Cost in a real launch: one load of a word that nobody writes.
#define GPUSYNC_TRIAL(storage) gpusync_trial(storage)

#define GPUSYNC_TRIAL_CLOSED 0x80000000u

/// Counts this work-group and stays until the trial is closed. Nobody who is counted leaves before that, and nobody is
/// counted after it, so the count at the closing is of work-groups that were all there at that moment.
static void gpusync_trial_stay(__global uint* words, uint groups) {
  __global uint* started = words + GPUSYNC_AT_TRIAL_STARTED;
  uint seen = gpusync_add(started, 1u) + 1u;
  const ulong linger = (ulong)gpusync_load(words + GPUSYNC_AT_TRIAL_LINGER_HIGH) << 32 |
                       gpusync_load(words + GPUSYNC_AT_TRIAL_LINGER_LOW);
  const ulong longest = 16 * linger;
  ulong until = linger;
  ulong start = gpusync_ticks_start();
  while ((seen & GPUSYNC_TRIAL_CLOSED) == 0) {
    const ulong now = gpusync_ticks(&start);
    // Everybody is here; or nobody has come for long; or trickling newcomers have kept the first ones long enough.
    if (seen == groups || now >= until) {
      const uint count = atomic_or((volatile __global uint*)started, GPUSYNC_TRIAL_CLOSED);
      if ((count & GPUSYNC_TRIAL_CLOSED) == 0) gpusync_store(words + GPUSYNC_AT_TRIAL_TOGETHER, count);
      break;
    }
    const uint count = gpusync_load(started);
    if (count != seen) until = min(now + linger, longest);
    seen = count;
  }
}

static int gpusync_trial(__global uint* words) {
  const uint groups = gpusync_load(words + GPUSYNC_AT_TRIAL);
  if (groups == 0) return 0;
  if (gpusync_is_first_item()) gpusync_trial_stay(words, groups);
  gpusync_sync_group();  // the others stay as long, so that the work-group keeps all that it occupies
  return 1;
}
