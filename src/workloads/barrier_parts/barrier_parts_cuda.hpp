// Workload "barrier-parts" on CUDA devices: what nvcc compiles of it.
#pragma once

#include "boundary/cuda_kernels.hpp"
#include "workloads/barrier_parts/barrier_parts_list.hpp"

namespace gpusync::tool {

/// A kernel for each variant: with_part and with_barrier.
cuda_kernels barrier_parts_kernels();

}  // namespace gpusync::tool
