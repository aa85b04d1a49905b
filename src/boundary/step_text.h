// What lets one text of a step be C++, for CUDA and host threads, and OpenCL C: types by the same names, and where the
// calling thread stands. Such a text is written in what both languages have; it stands behind this one, in C++ within
// namespace gpusync::tool.

#ifdef __OPENCL_VERSION__
typedef uint uint32_t;
#define STEP_FUNCTION static
#define STEP_GLOBAL __global
#else
#pragma once

#include <cstddef>
#include <cstdint>

#include <gpusync/core/config.hpp>

#define STEP_FUNCTION GPUSYNC_HD inline
#define STEP_GLOBAL

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
#else
GPUSYNC_API_TEMPLATE
template <class Grid>
GPUSYNC_HD step_place step_here(Grid grid) {
  return {grid.blocks(), grid.block(), grid.threads(), grid.thread()};
}

}  // namespace gpusync::tool
#endif
