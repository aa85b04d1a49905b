// What a kernel of programmatic dependent launch does before it touches memory.
#pragma once

namespace gpusync::tool {

/// Waits for the end of the kernel before, and lets in the blocks of the one behind: before that wait, or `late`,
/// behind it. Nothing where code is for GPUs before Hopper, which launch one kernel behind the other.
__device__ __forceinline__ void wait_for_kernel_before([[maybe_unused]] bool late = false) {
#if __CUDA_ARCH__ >= 900
  if (!late) cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  if (late) cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace gpusync::tool
