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

#if THESIS_CROSSES
static uint thesis_source(uint iteration) {
  const uint groups = (uint)get_num_groups(0);
  const uint group = (uint)get_group_id(0) + 1 + iteration % 4 * ((groups - 1) / 4);
  return (group >= groups ? group - groups : group) * (uint)get_local_size(0) + (uint)get_local_id(0);
}
#else
static uint thesis_source(uint iteration) {
  return thesis_own();
}
#endif

/// The computation of the thesis, figure 4-3, as printed. Nothing in it changes from pass to pass, so a compiler may
/// make one pass of it: see docs/measuring.md.
static float thesis_compute(float a, float b) {
  float avg = 0;
  for (int i = 0; i < 20000; i++) {
    avg = (a + b) / 2;
  }
  return avg;
}

static uint thesis_note(uint trace, float seen) {
  return trace * 31 + as_uint(seen);
}

#if THESIS_BARRIER
#define THESIS_BOUNDARY() gpusync_sync(&grid)
#else
#define THESIS_BOUNDARY()
#endif

/// All iterations in one launch: figure 4-2. Plain accesses to `values`: whether others' are seen in time is the
/// barrier's business.
__kernel void thesis_persistent(__global uint* storage, __global float* values, __global uint* traces,
                                uint iterations) {
  if (GPUSYNC_TRIAL(storage)) return;
#if THESIS_BARRIER
  gpusync_barrier grid = gpusync_barrier_of(storage);
#endif
  const uint elements = thesis_elements(), own = thesis_own();
  float a = thesis_input(own, ~0u);
  uint trace = 0;
  for (uint s = 0; s < iterations; ++s) {
    __global float* half_of_values = values + s % 2 * elements;
    half_of_values[own] = thesis_compute(a, thesis_input(own, s));
    THESIS_BOUNDARY();
    a = half_of_values[thesis_source(s)];
    trace = thesis_note(trace, a);
  }
  traces[own] = trace;
}

/// One iteration of a program in which the host synchronizes: figure 4-1.
__kernel void thesis_single(__global float* values, __global uint* traces, uint s) {
  const uint elements = thesis_elements(), own = thesis_own();
  float a = thesis_input(own, ~0u);
  uint trace = 0;
  if (s != 0) {
    a = values[(s - 1) % 2 * elements + thesis_source(s - 1)];
    trace = thesis_note(traces[own], a);
  }
  values[s % 2 * elements + own] = thesis_compute(a, thesis_input(own, s));
  traces[own] = trace;
}
