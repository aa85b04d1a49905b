// Everything that works without a GPU: include this in host code.
#pragma once

#include <gpusync/core/error.hpp>
#include <gpusync/core/version.hpp>
#include <gpusync/grid/host_storage.hpp>
#include <gpusync/grid/lock_based.hpp>
#include <gpusync/launch/host.hpp>

namespace gpusync {

/// The default barrier for blocks that are host threads.
using host_grid_barrier = basic_grid_barrier<grid::lock_based<ordering::acquire_release>, host_grid>;
using host_grid_barrier_storage = host_barrier_storage<grid::lock_based<ordering::acquire_release>>;

}  // namespace gpusync
