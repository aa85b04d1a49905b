// Workload "barrier-parts" on CUDA devices: what nvcc compiles of it.
#pragma once

#include "boundary/cuda_kernels.hpp"
#include "workloads/barrier_parts/barrier_parts_list.hpp"

namespace gpusync::tool {

/// A kernel for each variant, by name: of a part (barrier_parts_text, steps), of a whole barrier the same and the
/// barrier.
kernel_table barrier_parts_kernels();

}  // namespace gpusync::tool
