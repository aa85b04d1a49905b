// Waiting for neighbours, for kernels alone: no host code.
#pragma once

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/cuda_warps_grid.cuh>
#include <gpusync/neighbours/channel.hpp>
#include <gpusync/neighbours/dependency_counters.hpp>
#include <gpusync/neighbours/halo.hpp>
#include <gpusync/neighbours/neighbour_barrier.hpp>

namespace gpusync {

/// A barrier of a block and its neighbours.
using neighbour_barrier = basic_neighbour_barrier<cuda_grid>;

/// Words that blocks publish for their neighbours. Form: halo_form::automatic serves all.
template <class T, halo_form Form = halo_form::automatic>
using halo = basic_halo<T, cuda_grid, Form>;

/// Channels between blocks of a CUDA kernel: its parameter.
template <class T>
using channels = basic_channels<T, cuda_grid>;

/// Counters by which the tasks of a graph wait for each other inside one kernel.
using dependency_counters = basic_dependency_counters<cuda_grid>;

}  // namespace gpusync
