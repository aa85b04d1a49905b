// What a kernel of programmatic dependent launch does before it touches memory.
#pragma once

#include "boundary/cuda_kernels.hpp"

namespace gpusync::tool {

/// Waits for the end of the kernel before, and lets in the blocks of the one behind: before that wait, or late, behind
/// it. Nothing in kernels that are not dependent, nor where code is for GPUs before Hopper, which launch one kernel
/// behind the other. How is no argument at run time: a kernel that asks before it waits what to do finds its place
/// behind the wait only, which made steps of workload average 0.06 to 0.18 us longer. Where the place is found the
/// assembler decides: with the trigger first before the wait, in most kernels wholly or in part; late, behind it.
template <kernel_start How>
__device__ __forceinline__ void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  if constexpr (How == kernel_start::dependent) cudaTriggerProgrammaticLaunchCompletion();
  if constexpr (is_dependent(How)) cudaGridDependencySynchronize();
  if constexpr (How == kernel_start::dependent_late) cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace gpusync::tool
