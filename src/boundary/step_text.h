// What lets one text of a step be C++, for CUDA and host threads, and OpenCL C: types and constants by the same names,
// where the calling thread stands, and how it reports what it has found wrong. Such a text is written in what both
// languages have; it stands behind this one, in C++ within namespace gpusync::tool.

#ifdef __OPENCL_VERSION__
typedef uint uint32_t;
#define STEP_FUNCTION static
#define STEP_GLOBAL __global
#define STEP_CONSTANT(name, value) enum { name = value }
#else
#pragma once

#include <math.h>

#include <cstddef>
#include <cstdint>

#include <gpusync/core/ordering.hpp>

#define STEP_FUNCTION GPUSYNC_HD inline
#define STEP_GLOBAL
#define STEP_CONSTANT(name, value) inline constexpr uint32_t name = value

namespace gpusync::tool {
#endif

/// A thread's (work-item's) place: of `threads` in each of `blocks` (work-groups).
typedef struct {
  uint32_t blocks, block, threads, thread;
} step_place;

#ifdef __OPENCL_VERSION__
static step_place step_here(void) {
  step_place here;
  here.blocks = (uint)get_num_groups(0);
  here.block = (uint)get_group_id(0);
  here.threads = (uint)get_local_size(0);
  here.thread = (uint)get_local_id(0);
  return here;
}

/// The float of these bits.
static float step_float(uint bits) {
  return as_float(bits);
}

/// |x|.
#define step_magnitude fabs

/// Adds to a count of what was found wrong.
static void step_report(volatile __global uint* count, uint wrong) {
  if (wrong != 0) atomic_add(count, wrong);
}
#else
GPUSYNC_API_TEMPLATE
template <class Grid>
GPUSYNC_HD step_place step_here(Grid grid) {
  return {grid.blocks(), grid.block(), grid.threads(), grid.thread()};
}

GPUSYNC_HD inline float step_magnitude(float x) {
  return ::fabsf(x);
}
GPUSYNC_HD inline double step_magnitude(double x) {
  return ::fabs(x);
}

GPUSYNC_HD inline float step_float(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float value = 0;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
#endif
}

GPUSYNC_API_TEMPLATE
template <class Grid>
GPUSYNC_HD void step_report(Grid, uint32_t* count, uint32_t wrong) {
  if (wrong != 0) (void)Grid::memory::template fetch_add<memory_order::relaxed, scope::device>(count, wrong);
}

}  // namespace gpusync::tool
#endif
