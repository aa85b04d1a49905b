// For host code: barriers, launches and phased grids of host threads, and what errors there are. Not in here: other
// algorithms (gpusync/grid/), wait-free objects (gpusync/rmw/), OpenCL (gpusync/opencl/).
#pragma once

#include <gpusync/core/error.hpp>
#include <gpusync/core/version.hpp>
#include <gpusync/grid/host_storage.hpp>
#include <gpusync/grid/lock_based.hpp>
#include <gpusync/launch/host.hpp>
#include <gpusync/phased/host.hpp>

namespace gpusync {

/// The default barrier for blocks that are host threads.
using host_grid_barrier = basic_grid_barrier<grid::lock_based<ordering::acquire_release>, host_grid>;
/// The storage of a host_grid_barrier.
using host_grid_barrier_storage = host_barrier_storage<grid::lock_based<ordering::acquire_release>>;

/// A phased grid whose blocks are host threads, each with its share of the virtual ones (docs/phased.md).
using host_phased_grid = basic_phased_grid<phased::striding, grid::lock_based<ordering::acquire_release>, host_grid>;
/// The storage of a host_phased_grid.
using host_phased_grid_storage = host_phased_storage<phased::striding>;
/// The same for virtual blocks that differ in work: each resident block takes the next one that nobody has begun.
using host_claiming_phased_grid =
    basic_phased_grid<phased::claiming, grid::lock_based<ordering::acquire_release>, host_grid>;
/// The storage of a host_claiming_phased_grid.
using host_claiming_phased_grid_storage = host_phased_storage<phased::claiming>;

}  // namespace gpusync
