// Everything, for CUDA sources (C++17, nvcc).
#pragma once

#include <gpusync/gpusync.hpp>
#include <gpusync/grid/cooperative_groups.cuh>
#include <gpusync/grid/cuda_storage.cuh>
#include <gpusync/launch/cuda.cuh>

namespace gpusync {

/// The default barrier of a CUDA grid.
using grid_barrier = basic_grid_barrier<grid::lock_based<ordering::acquire_release>, cuda_grid>;
using grid_barrier_storage = cuda_barrier_storage<grid::lock_based<ordering::acquire_release>>;

}  // namespace gpusync
