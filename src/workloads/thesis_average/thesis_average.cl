// Workload "thesis_average" in OpenCL C: says the same as thesis_expectation.hpp, which explains it. Goes behind the
// text of the barrier.

static float thesis_input(uint element, uint iteration) {
  const uint word = (element + 1) * 0x9e3779b1u + (iteration + 1) * 0x85ebca77u;
  return as_float(0x3f800000u | (word & 0x7fffffu));
}

static uint thesis_elements(void) {
  return (uint)(get_num_groups(0) * get_local_size(0));
}

static uint thesis_own(void) {
  return (uint)(get_group_id(0) * get_local_size(0) + get_local_id(0));
}

static uint thesis_source(uint iteration, uint crosses) {
  if (crosses == 0) return thesis_own();
  const uint groups = (uint)get_num_groups(0);
  const uint group = (uint)get_group_id(0) + 1 + iteration % 4 * ((groups - 1) / 4);
  return (group >= groups ? group - groups : group) * (uint)get_local_size(0) + (uint)get_local_id(0);
}

/// The computation of the thesis, figure 4-3, as printed. Nothing in it changes from pass to pass, so a compiler may
/// make one pass of it: see docs/measuring.md.
static float thesis_compute(float a, float b) {
  float avg = 0;
  for (int i = 0; i < 20000; i++) {
    avg = (a + b) / 2;
  }
  return avg;
}

#define STEP_PARAMETERS __global float *values, __global uint *traces, uint crosses
#define STEP_ARGUMENTS values, traces, crosses

typedef struct {
  float a;
  uint trace;
} step_kept;

static step_kept step_load(uint iteration, STEP_PARAMETERS) {
  step_kept kept = {thesis_input(thesis_own(), ~0u), iteration == 0 ? 0u : traces[thesis_own()]};
  return kept;
}

static void step_save(const step_kept* kept, STEP_PARAMETERS) {
  traces[thesis_own()] = kept->trace;
}

/// Takes what another group has computed in an iteration. A plain access: whether it is seen in time is the boundary's
/// business.
static void thesis_take(uint iteration, step_kept* kept, STEP_PARAMETERS) {
  kept->a = values[iteration % 2 * thesis_elements() + thesis_source(iteration, crosses)];
  kept->trace = kept->trace * 31 + as_uint(kept->a);
}
#define STEP_FINISH(steps, kept) thesis_take(steps - 1, kept, STEP_ARGUMENTS)

/// One iteration: figures 4-1 and 4-2.
static void step_once(uint iteration, step_kept* kept, STEP_PARAMETERS) {
  if (iteration != 0) thesis_take(iteration - 1, kept, STEP_ARGUMENTS);
  const uint own = thesis_own();
  values[iteration % 2 * thesis_elements() + own] = thesis_compute(kept->a, thesis_input(own, iteration));
}
