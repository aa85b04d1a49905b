// The text of kernels that only wait.
#pragma once

#include <gpusync/core/cuda_grid.cuh>

#include "measure/cuda_chain.cuh"
#include "workloads/launch_overhead/launch_overhead.hpp"

namespace gpusync::tool {

/// What launches add themselves to.
struct launch_count {
  unsigned long long launches;
  unsigned long long units;
};

/// What a kernel that waits is told.
struct waiting_task {
  launch_count* count;
  unsigned long long* longest;  ///< cycles of this launch's longest warp; null in launches that are timed
  uint32_t units;
  uint32_t length;  ///< of a unit: cycles, nanoseconds, or sleeps of 1000 ns
  wait_unit unit;
};

/// One thread of the grid, before it waits: behind its wait the store would lengthen the kernel's end.
__device__ __forceinline__ void count_launch(const waiting_task& task) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  (void)atomicAdd(&task.count->launches, 1ull);
  if (task.units != 0) (void)atomicAdd(&task.count->units, static_cast<unsigned long long>(task.units));
}

__device__ __forceinline__ void wait_units(const waiting_task& task) {
  for (uint32_t i = 0; i < task.units; ++i) {
    if (task.unit == wait_unit::clock) {
      const long long begin = clock64();
      while (clock64() - begin < static_cast<long long>(task.length)) {
      }
    } else if (task.unit == wait_unit::global_timer) {
      const uint64_t begin = global_timer();
      while (global_timer() - begin < task.length) {
      }
    } else {
      for (uint32_t sleep = 0; sleep < task.length; ++sleep) asm volatile("nanosleep.u32 1000;");
    }
  }
}

__device__ __forceinline__ void carry_out(const waiting_task& task) {
  const long long begin = clock64();
  count_launch(task);
  wait_units(task);
  if (task.longest != nullptr && threadIdx.x % 32 == 0) {
    (void)atomicMax(task.longest, static_cast<unsigned long long>(clock64() - begin));
  }
}

}  // namespace gpusync::tool
