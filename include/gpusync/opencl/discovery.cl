// How many work-groups run at once: found by the work-groups themselves, for no query of OpenCL tells.
//
// The protocol is that of Sorensen et al. (OOPSLA 2016, "Portable inter-workgroup barrier synchronisation for GPUs").
// Each work-group asks, under a lock, whether the poll is still open. If so it is counted, gets the next number, and
// stays until the poll is closed; if not, it leaves. Nobody who is counted leaves before the closing and nobody is
// counted after it, so those counted were all there at that moment: the number is never more than what runs at once.
// The lock serves tickets in order: whoever closes has waited behind all that were there before it. There, a work-group
// closes the poll as soon as it is served again. Here it first lets a while pass without a newcomer, since work-groups
// are started one after the other, and closes at once only when all that are expected have come.
//
// Used in two ways: in *trials* (GPUSYNC_TRIAL), in which a kernel does nothing else, so that the host knows how many
// it may launch; and by kernels of any number of work-groups in which those that run at once take part and the others
// leave (gpusync_discover, gpusync::opencl::launch_any).

#define GPUSYNC_POLL_CLOSED 0x80000000u
#define GPUSYNC_NOT_COUNTED 0xffffffffu

static void gpusync_ticket_lock(__global uint* words) {
  __global uint* serving = words + GPUSYNC_AT_POLL_SERVING;
  const uint ticket = gpusync_add(words + GPUSYNC_AT_POLL_TICKET, 1u);
  while (gpusync_load(serving) != ticket) {
  }
  gpusync_acquire(serving);
}

static void gpusync_ticket_unlock(__global uint* words) {
  __global uint* serving = words + GPUSYNC_AT_POLL_SERVING;
  gpusync_store_release(serving, gpusync_load(serving) + 1u);
}

/// By one work-item: the number of its work-group among those counted, or GPUSYNC_NOT_COUNTED. The last one that is
/// expected closes the poll.
static uint gpusync_poll_enter(__global uint* words, uint most) {
  __global uint* count = words + GPUSYNC_AT_POLL_COUNT;
  gpusync_ticket_lock(words);
  const uint rank = gpusync_load(count);
  const bool open = (rank & GPUSYNC_POLL_CLOSED) == 0;
  if (open) gpusync_store(count, rank + 1 == most ? most | GPUSYNC_POLL_CLOSED : rank + 1);
  gpusync_ticket_unlock(words);
  return open ? rank : GPUSYNC_NOT_COUNTED;
}

/// By one work-item of a work-group that was counted: stays until the poll is closed; returns how many were counted.
static uint gpusync_poll_stay(__global uint* words) {
  __global uint* count = words + GPUSYNC_AT_POLL_COUNT;
  const ulong linger =
      (ulong)gpusync_load(words + GPUSYNC_AT_POLL_LINGER_HIGH) << 32 | gpusync_load(words + GPUSYNC_AT_POLL_LINGER_LOW);
  const ulong longest = 16 * linger;
  ulong until = linger;
  ulong start = gpusync_ticks_start();
  uint seen = gpusync_load(count);
  while ((seen & GPUSYNC_POLL_CLOSED) == 0) {
    const ulong now = gpusync_ticks(&start);
    // Nobody has come for long, or trickling newcomers have kept the first ones long enough.
    if (now >= until) {
      gpusync_ticket_lock(words);
      seen = gpusync_load(count) | GPUSYNC_POLL_CLOSED;
      gpusync_store(count, seen);
      gpusync_ticket_unlock(words);
      break;
    }
    const uint current = gpusync_load(count);
    if (current != seen) until = min(now + linger, longest);
    seen = current;
  }
  return seen & ~GPUSYNC_POLL_CLOSED;
}

/// First line of a kernel with a barrier: `if (GPUSYNC_TRIAL(storage)) return;`. True in a trial, for all work-items.
/// Cost in a real launch: one load of a word that nobody writes.
#define GPUSYNC_TRIAL(storage) gpusync_trial(storage)

static int gpusync_trial(__global uint* words) {
  const uint groups = gpusync_load(words + GPUSYNC_AT_TRIAL);
  if (groups == 0) return 0;
  if (gpusync_is_first_item()) {
    // The host compares: a kernel and its storage must be of the same algorithm.
    if (gpusync_group() == 0) gpusync_store(words + GPUSYNC_AT_TRIAL_ALGORITHM, GPUSYNC_OF_ALGORITHM(number));
    if (gpusync_poll_enter(words, groups) != GPUSYNC_NOT_COUNTED) (void)gpusync_poll_stay(words);
  }
  gpusync_sync_group();  // the others stay as long, so that the work-group keeps all that it occupies
  return 1;
}

/// Begins a kernel that gpusync::opencl::launch_any() has launched with any number of work-groups, in place of
/// GPUSYNC_TRIAL:
///
///   __local gpusync_part part;
///   if (!gpusync_discover(storage, &part)) return;
///   gpusync_barrier grid = gpusync_barrier_of_part(storage, part);
///
/// Returns 1 in all work-items of a work-group that takes part, and in `*part` its rank among those that do and their
/// count: they run at once. Returns 0 in the others (and in trials), which must leave. Work is to be shared out by
/// rank and count, not by get_group_id(). Cost: two turns of a lock that all work-groups queue for, and if not all of
/// the launch run at once, the `discovery_time` that launch_any() was given.
static int gpusync_discover(__global uint* storage, __local gpusync_part* part) {
  if (gpusync_trial(storage)) return 0;
  if (gpusync_is_first_item()) {
    part->rank = gpusync_poll_enter(storage, gpusync_load(storage + GPUSYNC_AT_POLL_MOST));
    part->count = part->rank == GPUSYNC_NOT_COUNTED ? 0 : gpusync_poll_stay(storage);
  }
  gpusync_sync_group();
  return part->count != 0;
}
