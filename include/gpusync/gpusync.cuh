// For CUDA sources (C++17, nvcc): the default barrier and launches, on GPUs and host threads. Not in here: other
// algorithms (gpusync/grid/, NVIDIA's among them), wait-free objects and barriers that survive (gpusync/rmw/).
#pragma once

#include <gpusync/gpusync.hpp>
#include <gpusync/grid/cuda_storage.cuh>
#include <gpusync/grid/device.cuh>
#include <gpusync/grid/proxy_barrier.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/phased/cuda.cuh>
#include <gpusync/phased/device.cuh>

namespace gpusync {

/// The storage of a grid_barrier.
using grid_barrier_storage = cuda_barrier_storage<grid::placed_counters<ordering::acquire_release>>;
/// The storage of a phased_grid.
using phased_grid_storage = cuda_phased_storage<phased::striding>;
/// The storage of a claiming_phased_grid.
using claiming_phased_grid_storage = cuda_phased_storage<phased::claiming>;

}  // namespace gpusync
