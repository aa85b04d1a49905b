// CUDA kernels of workload "average".
#pragma once

#include <gpusync/gpusync.cuh>

#include "measure/cuda_full_blocks.cuh"
#include "workloads/average/average.hpp"

namespace gpusync::tool {

/// All steps of a run in one kernel, with `barrier` between them. At most 32 registers, so that whatever the barrier,
/// an SM can be filled with threads.
template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    average_persistent(average_data data, bool stores, uint32_t steps, Barrier barrier) {
  barrier.enter();
  average_steps(cuda_grid::current(), data, true, stores, steps, [&barrier] { barrier.sync(); });
}

/// The work alone.
static __global__ void average_unsynchronized(average_data data, bool stores, uint32_t steps) {
  average_steps(cuda_grid::current(), data, false, stores, steps, [] {});
}

/// One data step, for the methods in which the end of a kernel is the boundary.
__device__ inline void average_one_step(const average_data& data, uint32_t step, bool check) {
  const cuda_grid grid;
  const uint32_t wrong = average_step(data, average_place::of(grid, true), step, check);
  if (wrong != 0) (void)cuda_memory::fetch_add<memory_order::relaxed, scope::device>(data.wrong, wrong);
}

static __global__ void average_single(average_data data, uint32_t step, bool check) {
  average_one_step(data, step, check);
}

/// An idle step.
static __global__ void average_idle() {}

/// The same two with programmatic dependent launch: the next step's blocks may be set up while this step runs; what
/// touches memory still waits until the step before is complete and its writes are visible.
static __global__ void average_single_dependent(average_data data, uint32_t step, bool check) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  average_one_step(data, step, check);
}

static __global__ void average_idle_dependent() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

}  // namespace gpusync::tool
