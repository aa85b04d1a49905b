// What a kernel of programmatic dependent launch does before it touches memory.
#pragma once

#include "boundary/cuda_kernels.hpp"

namespace gpusync::tool {

/// Waits for the end of the kernel before, and lets in the blocks of the one behind: before that wait, or late, behind
/// it. Nothing in kernels that are not dependent, nor where code is for GPUs before Hopper, which launch one kernel
/// behind the other.
///
/// `found`: what a thread has made of its place in the grid and of the kernel's arguments, never all ones. It is asked
/// before the wait, so that both are known by then: left alone, the assembler puts the wait of late kernels first, and
/// steps of workload average that write take 0.1 to 0.3 us longer. The warp asks together, for behind a branch that its
/// threads could take differently the compiler keeps no values in uniform registers, and a Jacobi relaxation took 3 to
/// 8 % longer. For the first of these reasons how is no argument at run time. All threads call it, at once.
template <kernel_start How, class... Found>
__device__ __forceinline__ void wait_for_kernel_before([[maybe_unused]] Found... found) {
#if __CUDA_ARCH__ >= 900
  if constexpr (How == kernel_start::dependent) cudaTriggerProgrammaticLaunchCompletion();
  if constexpr (is_dependent(How)) {
    if constexpr (sizeof...(found) != 0) {
      if (__any_sync(0xffffffffu, ((found == 0xffffffffu) || ...))) __trap();
    }
    cudaGridDependencySynchronize();
  }
  if constexpr (How == kernel_start::dependent_late) cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace gpusync::tool
