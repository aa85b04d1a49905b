// Phased execution: any number of virtual work-groups and of phases, run by those work-groups that run at once, with a
// barrier of all between the phases. Goes behind barrier.cl and discovery.cl.
//
//   static void relax_group(__global float* from, __global float* to, uint group) { … }
//
//   __kernel void relax(__global uint* storage, __global uint* words, __global float* a, __global float* b, uint n) {
//     __local gpusync_phased_local shared;
//     gpusync_phased grid;
//     if (!gpusync_phased_enter(storage, words, &shared, &grid)) return;
//     for (uint phase = 0; phase < n; ++phase) {
//       GPUSYNC_FOR_EACH_GROUP(&grid, group, relax_group(phase % 2 ? b : a, phase % 2 ? a : b, group));
//       gpusync_end_phase(&grid);                          // every work-group sees every work-group's writes
//     }
//   }
//
// The first two arguments are those of a gpusync::opencl::phased_storage; gpusync::opencl::launch_phased() sets them
// and starts the kernel. In each phase the third operand of GPUSYNC_FOR_EACH_GROUP is executed exactly once for each
// virtual work-group, by all work-items of one resident work-group; it may use local memory and the work-group's
// barrier, for between two virtual work-groups lies one. Virtual work-groups of a phase are unordered and must not wait
// for each other. All work-items of a work-group call each function here together, and all work-groups pass the same
// phases. get_group_id() and get_num_groups() are the resident work-group's and of no use.
//
// What must survive a phase lives in global memory, indexed by the virtual work-group: private and local memory belong
// to the resident one.
//
// GPUSYNC_SCHEDULE says who runs what: striding, claiming or flag_claiming; see the files of these names in
// gpusync/phased/, whose text this is in OpenCL C.

#ifndef GPUSYNC_SCHEDULE
#define GPUSYNC_SCHEDULE striding
#endif
#define GPUSYNC_OF_SCHEDULE_3(a, b, c) a##b##_##c
#define GPUSYNC_OF_SCHEDULE_2(a, b, c) GPUSYNC_OF_SCHEDULE_3(a, b, c)
#define GPUSYNC_OF_SCHEDULE(name) GPUSYNC_OF_SCHEDULE_2(gpusync_, GPUSYNC_SCHEDULE, name)

/// No virtual work-group: there is nothing left to do in this phase.
#define GPUSYNC_NO_GROUP 0xffffffffu

/// What the work-items of a work-group share; the kernel declares one in local memory, for helper functions cannot.
typedef struct {
  gpusync_part part;
  uint told[2];  // used in turn, so that one barrier is enough
} gpusync_phased_local;

/// A phased grid; each work-item has its own copy.
typedef struct {
  gpusync_barrier barrier;
  __global uint* words;
  __local gpusync_phased_local* shared;
  uint groups;  // virtual ones
  uint phase;   // since the start of the launch
  ulong limit;  // ticks that a wait may take (gpusync::opencl::ticks_for); set it behind gpusync_phased_enter()
  int status;   // GPUSYNC_TIMED_OUT once one has taken longer
  uint turn;
  uint looked;  // flags that this work-group has looked at in this phase
} gpusync_phased;

/// Begins the kernel: 1 in the work-groups that take part, which run at once; 0 in all others, which must leave.
static int gpusync_phased_enter(__global uint* storage, __global uint* words, __local gpusync_phased_local* shared,
                                gpusync_phased* grid) {
  if (!gpusync_discover(storage, &shared->part)) return 0;
  grid->barrier = gpusync_barrier_of_part(storage, shared->part);
  grid->words = words;
  grid->shared = shared;
  grid->groups = gpusync_load(words + GPUSYNC_AT_VIRTUAL_GROUPS);
  grid->phase = 0;
  grid->limit = GPUSYNC_NO_LIMIT;
  grid->status = GPUSYNC_COMPLETED;
  grid->turn = 0;
  grid->looked = 0;
  return 1;
}

/// The virtual work-groups of the grid.
static uint gpusync_virtual_groups(const gpusync_phased* grid) {
  return grid->groups;
}

/// What work-item 0 gives, in all of the work-group. Unconditional wherever it is called: see gpusync_sync_status().
static uint gpusync_told_by_first(gpusync_phased* grid, uint value) {
  __local uint* told = grid->shared->told + grid->turn++ % 2;
  if (gpusync_is_first_item()) *told = value;
  gpusync_sync_group();
  return *told;
}

// striding ------------------------------------------------------------------------------------------------------------

static uint gpusync_striding_next(gpusync_phased* grid, uint group) {
  const uint resident = grid->barrier.part.count;
  gpusync_sync_group();
  return grid->groups - group > resident ? group + resident : GPUSYNC_NO_GROUP;
}

// claiming ------------------------------------------------------------------------------------------------------------

static uint gpusync_claiming_next(gpusync_phased* grid, uint group) {
  const uint resident = grid->barrier.part.count, groups = grid->groups;
  uint claimed = GPUSYNC_NO_GROUP;
  if (gpusync_is_first_item() && groups > resident) {
    const uint ticket = gpusync_add(grid->words + GPUSYNC_AT_CLAIMS, 1u);
    if (ticket + 1 == groups) gpusync_store(grid->words + GPUSYNC_AT_CLAIMS, 0u);
    if (ticket < groups - resident) claimed = resident + ticket;
  }
  return gpusync_told_by_first(grid, claimed);
}

// flag_claiming -------------------------------------------------------------------------------------------------------

static void gpusync_flag_claiming_begin(gpusync_phased* grid) {
  const gpusync_part part = grid->barrier.part;
  const uint stride = part.count * gpusync_items();
  for (ulong flag = part.count + part.rank * gpusync_items() + gpusync_item(); flag < grid->groups; flag += stride) {
    gpusync_store(grid->words + GPUSYNC_AT_FLAGS + flag, 0u);
  }
  grid->looked = 0;
}
static uint gpusync_flag_claiming_next(gpusync_phased* grid, uint group) {
  const uint resident = grid->barrier.part.count;
  uint claimed = GPUSYNC_NO_GROUP;
  if (gpusync_is_first_item() && grid->status == GPUSYNC_COMPLETED) {
    const uint flags = grid->groups - resident;
    const uint start = grid->barrier.part.rank * (flags / resident), behind = flags - start;
    while (claimed == GPUSYNC_NO_GROUP && grid->looked < flags) {
      const uint place = grid->looked < behind ? start + grid->looked : grid->looked - behind;
      __global uint* flag = grid->words + GPUSYNC_AT_FLAGS + resident + place;
      ++grid->looked;
      if (gpusync_load(flag) == 0 && gpusync_add(flag, 1u) == 0) claimed = resident + place;
    }
  }
  return gpusync_told_by_first(grid, claimed);
}

/// The grid's barrier, with the grid's limit. After a wait that timed out there is no other: a second arrival in the
/// lost phase would count for a work-group that never came.
static int gpusync_phased_meet(gpusync_phased* grid) {
  if (grid->status == GPUSYNC_TIMED_OUT) return grid->status;
  const int status = gpusync_sync_for(&grid->barrier, grid->limit);
  if (status == GPUSYNC_TIMED_OUT) grid->status = status;
  return grid->status;
}

/// Executes `body`, a call that may use the variable `group`, for this work-group's share of the virtual ones. With
/// flag_claiming there is a barrier of all behind the first.
///
/// Loops without a condition at their head: PoCL 3.1 makes wrong code of work-group barriers in others.
#define GPUSYNC_FOR_EACH_GROUP(grid, group, body) GPUSYNC_OF_SCHEDULE(each)(grid, group, body)

#define gpusync_striding_each(grid, group, body) GPUSYNC_EACH_OF_ONE_LOOP(grid, group, body)
#define gpusync_claiming_each(grid, group, body) GPUSYNC_EACH_OF_ONE_LOOP(grid, group, body)
#define GPUSYNC_EACH_OF_ONE_LOOP(grid, group, body)   \
  do {                                                \
    uint group = (grid)->barrier.part.rank;           \
    do {                                              \
      body;                                           \
      group = GPUSYNC_OF_SCHEDULE(next)(grid, group); \
    } while (group != GPUSYNC_NO_GROUP);              \
  } while (0)

#define gpusync_flag_claiming_each(grid, group, body)  \
  do {                                                 \
    uint group = (grid)->barrier.part.rank;            \
    gpusync_flag_claiming_begin(grid);                 \
    body;                                              \
    (void)gpusync_phased_meet(grid);                   \
    for (;;) {                                         \
      group = gpusync_flag_claiming_next(grid, group); \
      if (group == GPUSYNC_NO_GROUP) break;            \
      body;                                            \
    }                                                  \
  } while (0)

/// The end of a phase: waits until every work-group has come to it. Returns GPUSYNC_COMPLETED, or GPUSYNC_TIMED_OUT if
/// a wait of this phase took longer than the grid's limit: then leave the kernel. The host finds the missing
/// work-groups in the storage, which is unusable until it is reset.
static int gpusync_end_phase(gpusync_phased* grid) {
  ++grid->phase;
  return gpusync_phased_meet(grid);
}
