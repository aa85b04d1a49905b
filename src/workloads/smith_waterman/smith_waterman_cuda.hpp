// Workload "Smith-Waterman" on CUDA devices: what nvcc compiles of it.
#pragma once

#include "boundary/cuda_kernels.hpp"
#include "boundary/cuda_target.hpp"
#include "workloads/smith_waterman/wavefront_rows.hpp"

namespace gpusync::tool {

/// Queues that all rows become as they are before the first diagonal.
void reset_rows(const cuda_target& where, handed_down* down, handed_on* on, row_best* best, uint32_t rows);

/// Of wavefront_steps, with every grid barrier.
cuda_kernels kernels_in_memory();

/// Of wavefront_rows<rows>, for 1, 2 or 4 rows, with a few of them.
cuda_kernels kernels_in_registers(uint32_t rows);

}  // namespace gpusync::tool
