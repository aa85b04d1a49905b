// Phased grids with the default barrier, for kernels alone: no host code.
#pragma once

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/grid/placed_counters.hpp>
#include <gpusync/phased/phased_grid.hpp>
#include <gpusync/phased/state.hpp>

namespace gpusync {

/// A grid of any size and any number of phases, run by the blocks that run at once, each with its share of the virtual
/// blocks (docs/phased.md).
using phased_grid = basic_phased_grid<phased::striding, grid::placed_counters<ordering::acquire_release>, cuda_grid>;
/// A phased grid for virtual blocks that differ in work: each resident block takes the next one that nobody has begun.
using claiming_phased_grid =
    basic_phased_grid<phased::claiming, grid::placed_counters<ordering::acquire_release>, cuda_grid>;

}  // namespace gpusync
