// The whole of the OpenCL C side in one include, for kernels that are compiled from files:
//
//   #define GPUSYNC_ALGORITHM tree           // the name of a file here; without it lock_based
//   #define GPUSYNC_ORDERING 2               // see ordering.cl; without it acquire_release
//   #include <gpusync/opencl/gpusync.cl>     // build option: -I and the library's include folder
//
// Programs that are built from strings use gpusync::opencl::barrier_source() instead. Both give barrier.cl's functions.

#ifndef GPUSYNC_ALGORITHM
#define GPUSYNC_ALGORITHM lock_based
#endif

// Each builds on those before it.
// clang-format off
#include "storage_layout.h"
#include "memory.cl"
#include "wait.cl"
#include "ordering.cl"

#define GPUSYNC_TEXT_OF(text) #text
#define GPUSYNC_FILE_OF(algorithm) GPUSYNC_TEXT_OF(algorithm.cl)
#include GPUSYNC_FILE_OF(GPUSYNC_ALGORITHM)

#include "barrier.cl"
#include "discovery.cl"

#include "pace_layout.h"
#include "pace.cl"

#ifdef GPUSYNC_SCHEDULE  // phased execution
#include "phased_layout.h"
#include "phased.cl"
#endif
// clang-format on
