// Workload "Smith-Waterman" on CUDA devices: what nvcc compiles of it.
#pragma once

#include "boundary/cuda_kernels.hpp"
#include "workloads/smith_waterman/wavefront_rows.hpp"

namespace gpusync::tool {

/// Of wavefront_steps, with every grid barrier.
cuda_kernels kernels_in_memory();

/// Of wavefront_rows<rows>, for 1, 2 or 4 rows, with a few of them.
cuda_kernels kernels_in_registers(uint32_t rows);

}  // namespace gpusync::tool
