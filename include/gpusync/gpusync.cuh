// For CUDA sources (C++17, nvcc): the default barrier and launches, on GPUs and host threads. Not in here: other
// algorithms (gpusync/grid/, NVIDIA's among them), wait-free objects and barriers that survive (gpusync/rmw/).
#pragma once

#include <gpusync/device.cuh>
#include <gpusync/gpusync.hpp>
#include <gpusync/grid/cuda_storage.cuh>
#include <gpusync/grid/proxy_barrier.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/phased/cuda.cuh>

namespace gpusync {

/// The storage of a grid_barrier.
using grid_barrier_storage = cuda_barrier_storage<grid::placed_counters<ordering::acquire_release>>;
/// The default barrier of a part of a grid: grid_barrier_storage::barrier(block_range).
using part_grid_barrier = basic_grid_barrier<grid::placed_counters<ordering::acquire_release>, cuda_grid, block_range>;
/// The default barrier of a grid whose blocks may leave early: grid_barrier_storage::dropping_barrier().
using dropping_grid_barrier =
    basic_grid_barrier<grid::placed_counters<ordering::acquire_release>, cuda_grid, dropping_blocks>;

/// A grid of any size and any number of phases, run by the blocks that run at once, each with its share of the virtual
/// blocks (docs/phased.md).
using phased_grid = basic_phased_grid<phased::striding, grid::placed_counters<ordering::acquire_release>, cuda_grid>;
/// The storage of a phased_grid.
using phased_grid_storage = cuda_phased_storage<phased::striding>;
/// A phased grid for virtual blocks that differ in work: each resident block takes the next one that nobody has begun.
using claiming_phased_grid =
    basic_phased_grid<phased::claiming, grid::placed_counters<ordering::acquire_release>, cuda_grid>;
/// The storage of a claiming_phased_grid.
using claiming_phased_grid_storage = cuda_phased_storage<phased::claiming>;

}  // namespace gpusync
