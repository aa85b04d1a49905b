// The default grid barriers, for kernels alone: no host code.
#pragma once

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/deadline.hpp>
#include <gpusync/device_layout.hpp>
#include <gpusync/grid/barrier.hpp>

namespace gpusync {

/// The default barrier of a CUDA grid: what a device and a grid's shape make of it, its storage looks up in a table
/// that was measured (barrier_tuning).
using grid_barrier = basic_grid_barrier<grid::placed_counters<ordering::acquire_release>, cuda_grid>;
/// The default barrier of a part of a grid: grid_barrier_storage::barrier(block_range).
using part_grid_barrier = basic_grid_barrier<grid::placed_counters<ordering::acquire_release>, cuda_grid, block_range>;
/// The default barrier of a grid whose blocks may leave early: grid_barrier_storage::dropping_barrier().
using dropping_grid_barrier =
    basic_grid_barrier<grid::placed_counters<ordering::acquire_release>, cuda_grid, dropping_blocks>;

/// The barrier whose image lies at `address`. Ends the launch if there is none; a grid that is larger than its capacity
/// is refused by its first call.
__device__ __forceinline__ grid_barrier barrier_at(uint64_t address) {
  const barrier_image& image = *reinterpret_cast<const barrier_image*>(address);
  if (image.tag != barrier_image::tag_of_images) cuda_grid().fail(nullptr, misuse::none, 0);
  const detail::barrier_layout layout = barrier_image::layout_of(image.capacity);
  const cuda_grid grid;
  return grid_barrier(grid_barrier::argument{{},
                                             image.places_for(grid.blocks(), grid.threads()),
                                             image.capacity,
                                             image.words,
                                             layout.log(image.words, image.report)});
}

}  // namespace gpusync
