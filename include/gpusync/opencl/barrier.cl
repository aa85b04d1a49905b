// The front door: what a kernel holds in its hand.
//
//   __kernel void relax(__global uint* storage, __global float* a, __global float* b, int steps) {
//     if (GPUSYNC_TRIAL(storage)) return;   // first line of every kernel with a barrier, see discovery.cl
//     gpusync_barrier grid = gpusync_barrier_of(storage);
//     for (int s = 0; s < steps; ++s) {
//       sweep(a, b);
//       gpusync_sync(&grid);                // every work-group sees every work-group's writes
//       swap(&a, &b);
//     }
//   }
//
// All work-items of a work-group call each function together, and all work-groups pass through the same sequence of
// phases. One storage (gpusync::opencl::barrier_storage) serves one running kernel at a time; kernels that follow each
// other in an in-order queue share it without a reset. Do not name a variable `barrier`: it would hide OpenCL C's own.
//
// GPUSYNC_ALGORITHM says which barrier this is: lock_based, tree, centralized, decentralized or lock_free, each in the
// file of that name. An algorithm X is five functions and a number:
//   gpusync_X_state                 what a work-item keeps of its place, made by gpusync_X_join(part)
//   gpusync_X_next_goal(own)        the number of phases that will have ended with the next one
//   gpusync_X_arrive(own, state, part, goal)          begins with gpusync_release_group()
//   gpusync_X_wait(own, part, goal, answer, limit)    ends with gpusync_sync_status()
//   gpusync_X_number                as registry.hpp has it
// `own` are the algorithm's words of the storage.

#ifndef GPUSYNC_ALGORITHM
#define GPUSYNC_ALGORITHM lock_based
#endif
#define GPUSYNC_PASTE_3(a, b, c) a##b##_##c
#define GPUSYNC_PASTE_2(a, b, c) GPUSYNC_PASTE_3(a, b, c)
#define GPUSYNC_OF_ALGORITHM(name) GPUSYNC_PASTE_2(gpusync_, GPUSYNC_ALGORITHM, name)

/// A barrier that joins all work-groups of one running NDRange; each work-item has its own copy.
typedef struct {
  __global uint* words;
  __global uint* own;     // the algorithm's words
  __global uint* answer;  // the work-group's, see gpusync_sync_status()
  gpusync_part part;
  uint phase;  // since the start of the launch
  uint goal;   // phases that will have ended with the one to come
  GPUSYNC_OF_ALGORITHM(state) state;
} gpusync_barrier;

/// Proof of arrival in one phase; to be given to one wait by the same work-item, before its next arrival.
typedef struct {
  uint goal;
  uint phase;
} gpusync_arrival;

/// The barrier that lives in `storage`, for the work-group `part.rank` of `part.count` that take part: see
/// gpusync_discover(). Once in a kernel, before the first phase.
static gpusync_barrier gpusync_barrier_of_part(__global uint* storage, gpusync_part part) {
  const uint capacity = gpusync_load(storage + GPUSYNC_AT_CAPACITY);
  gpusync_barrier made;
  made.words = storage;
  made.own = storage + GPUSYNC_AT_ARRIVED + 3 * capacity;
  made.answer = storage + GPUSYNC_AT_ARRIVED + capacity + part.rank;
  made.part = part;
  made.phase = 0;
  made.goal = GPUSYNC_OF_ALGORITHM(next_goal)(made.own);
  made.state = GPUSYNC_OF_ALGORITHM(join)(part);
  return made;
}

/// The barrier that lives in `storage`, for all work-groups. Once in a kernel, before the first phase.
static gpusync_barrier gpusync_barrier_of(__global uint* storage) {
  gpusync_part part = {gpusync_group(), gpusync_groups()};
  return gpusync_barrier_of_part(storage, part);
}

/// A mark of the phase with this goal: the same in all work-groups, never 0.
static uint gpusync_stamp(uint goal) {
  return goal << 1 | 1u;
}

/// Says that this work-group has come to the end of its phase; does not wait for the others.
static gpusync_arrival gpusync_arrive(gpusync_barrier* grid) {
  gpusync_arrival arrival = {grid->goal++, grid->phase++};
  GPUSYNC_OF_ALGORITHM(arrive)(grid->own, &grid->state, grid->part, arrival.goal);
  // Off the critical path: nobody waits for this word, only a report of a time-out reads it.
  if (gpusync_is_first_item()) {
    gpusync_store(grid->words + GPUSYNC_AT_ARRIVED + grid->part.rank, gpusync_stamp(arrival.goal));
  }
  return arrival;
}

/// Waits until every work-group has arrived in the phase.
static void gpusync_wait(gpusync_barrier* grid, gpusync_arrival arrival) {
  (void)GPUSYNC_OF_ALGORITHM(wait)(grid->own, grid->part, arrival.goal, grid->answer, GPUSYNC_NO_LIMIT);
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
  const uint stamp = gpusync_stamp(arrival.goal);
  // A work-group that has gone on to the next phase is not missing: the last one came while this was written.
  const uint next_stamp = gpusync_stamp(arrival.goal + 1);
  uint count = 0;
  for (uint rank = 0; rank < grid->part.count; ++rank) {
    const uint last = gpusync_load(words + GPUSYNC_AT_ARRIVED + rank);
    if (last != stamp && last != next_stamp) gpusync_store(list + count++, rank);
  }
  gpusync_store(words + GPUSYNC_AT_REPORT_PHASE, arrival.phase);
  gpusync_store(words + GPUSYNC_AT_REPORT_GROUPS, grid->part.count);
  gpusync_store(words + GPUSYNC_AT_REPORT_MISSING, count);
  gpusync_store(words + GPUSYNC_AT_REPORT, 1u);
}

/// As gpusync_wait(), but gives up after `limit` ticks (gpusync::opencl::ticks_for); with lock_free and decentralized,
/// work-group 0 waits so long for each flag in turn. Returns GPUSYNC_COMPLETED or
/// GPUSYNC_TIMED_OUT, the same in all work-items of a work-group.
///
/// After GPUSYNC_TIMED_OUT the phase is lost and the barrier unusable until its storage is reset: leave the kernel. The
/// host finds the missing work-groups in the storage. The first work-group to give up names them; limits below some
/// microseconds may also name work-groups whose arrival was under way.
static int gpusync_wait_for(gpusync_barrier* grid, gpusync_arrival arrival, ulong limit) {
  const int status = GPUSYNC_OF_ALGORITHM(wait)(grid->own, grid->part, arrival.goal, grid->answer, limit);
  if (status == GPUSYNC_TIMED_OUT && gpusync_is_first_item()) gpusync_report_missing(grid, arrival);
  return status;
}

/// gpusync_arrive() and gpusync_wait_for().
static int gpusync_sync_for(gpusync_barrier* grid, ulong limit) {
  return gpusync_wait_for(grid, gpusync_arrive(grid), limit);
}
