// The front door: what a kernel holds in its hand.
//
//   __kernel void relax(__global uint* storage, __global float* a, __global float* b, int steps) {
//     if (GPUSYNC_TRIAL(storage)) return;                  // first line of every kernel with a barrier: see trial.cl
//     gpusync_barrier grid = gpusync_barrier_of(storage);
//     for (int s = 0; s < steps; ++s) {
//       sweep(a, b);
//       gpusync_sync(&grid);                               // every work-group sees every work-group's writes
//       swap(&a, &b);
//     }
//   }
//
// All work-items of a work-group call each function together, and all work-groups pass through the same sequence of
// phases. One storage (gpusync::opencl::barrier_storage) serves one running kernel at a time; kernels that follow each
// other in an in-order queue share it without a reset. Do not name a variable `barrier`: it would hide OpenCL C's own.

/// A barrier that joins all work-groups of one running NDRange; each work-item has its own copy.
typedef struct {
  __global uint* words;
  uint phase;
} gpusync_barrier;

/// Proof of arrival in one phase; to be given to one wait by the same work-item.
typedef struct {
  uint counter;
  uint phase;
} gpusync_arrival;

/// The barrier that lives in `storage`, at the start of a kernel.
static gpusync_barrier gpusync_barrier_of(__global uint* storage) {
  gpusync_barrier made = {storage, 0};
  return made;
}

/// A mark of the phase that a work-group arrived in: the same in all work-groups, never 0.
static uint gpusync_stamp(gpusync_arrival arrival) {
  return gpusync_lock_based_goal(arrival.counter) | 1u;
}

/// Says that this work-group has come to the end of its phase; does not wait for the others.
static gpusync_arrival gpusync_arrive(gpusync_barrier* grid) {
  gpusync_arrival arrival;
  arrival.counter = gpusync_lock_based_arrive(grid->words + GPUSYNC_AT_COUNTER);
  arrival.phase = grid->phase++;
  // Off the critical path: nobody waits for this word, only a report of a time-out reads it.
  if (gpusync_is_first_item()) {
    gpusync_store(grid->words + GPUSYNC_AT_ARRIVED + gpusync_group(), gpusync_stamp(arrival));
  }
  return arrival;
}

/// Waits until every work-group has arrived in the phase.
static void gpusync_wait(gpusync_barrier* grid, gpusync_arrival arrival) {
  if (gpusync_is_first_item()) {
    (void)gpusync_lock_based_wait(grid->words + GPUSYNC_AT_COUNTER, arrival.counter, GPUSYNC_NO_LIMIT);
  }
  gpusync_sync_group();
}

/// gpusync_arrive() and gpusync_wait().
static void gpusync_sync(gpusync_barrier* grid) {
  gpusync_wait(grid, gpusync_arrive(grid));
}

/// By work-item 0 of a work-group whose wait timed out: the first to come here lists the work-groups that are missing.
static void gpusync_report_missing(gpusync_barrier* grid, gpusync_arrival arrival) {
  __global uint* words = grid->words;
  if (gpusync_add(words + GPUSYNC_AT_CLAIMED, 1u) != 0) return;
  __global uint* list = words + GPUSYNC_AT_ARRIVED + 2 * gpusync_load(words + GPUSYNC_AT_CAPACITY);
  const uint groups = gpusync_groups();
  const uint stamp = gpusync_stamp(arrival);
  // A work-group that has gone on to the next phase is not missing: the last one came while this was written.
  const uint next_stamp = stamp + (1u << 16);
  uint count = 0;
  for (uint group = 0; group < groups; ++group) {
    const uint last = gpusync_load(words + GPUSYNC_AT_ARRIVED + group);
    if (last != stamp && last != next_stamp) gpusync_store(list + count++, group);
  }
  gpusync_store(words + GPUSYNC_AT_REPORT_PHASE, arrival.phase);
  gpusync_store(words + GPUSYNC_AT_REPORT_GROUPS, groups);
  gpusync_store(words + GPUSYNC_AT_REPORT_MISSING, count);
  gpusync_store(words + GPUSYNC_AT_REPORT, 1u);
}

/// As gpusync_wait(), but gives up after `limit` ticks (gpusync::opencl::ticks_for). Returns GPUSYNC_COMPLETED or
/// GPUSYNC_TIMED_OUT, the same in all work-items of a work-group.
///
/// After GPUSYNC_TIMED_OUT the phase is lost and the barrier unusable until its storage is reset: leave the kernel. The
/// host finds the missing work-groups in the storage. The first work-group to give up names them; limits below some
/// microseconds may also name work-groups whose arrival was under way.
static int gpusync_wait_for(gpusync_barrier* grid, gpusync_arrival arrival, ulong limit) {
  // Helper functions of OpenCL C cannot have local variables, so the answer goes to the work-group through global
  // memory. The next one is written after the next arrival's barrier, when everybody has read this one.
  __global uint* answer =
      grid->words + GPUSYNC_AT_ARRIVED + gpusync_load(grid->words + GPUSYNC_AT_CAPACITY) + gpusync_group();
  if (gpusync_is_first_item()) {
    const int status = gpusync_lock_based_wait(grid->words + GPUSYNC_AT_COUNTER, arrival.counter, limit);
    gpusync_store(answer, (uint)status);
    if (status == GPUSYNC_TIMED_OUT) gpusync_report_missing(grid, arrival);
  }
  gpusync_sync_group();
  return (int)gpusync_load(answer);
}

/// gpusync_arrive() and gpusync_wait_for().
static int gpusync_sync_for(gpusync_barrier* grid, ulong limit) {
  return gpusync_wait_for(grid, gpusync_arrive(grid), limit);
}
