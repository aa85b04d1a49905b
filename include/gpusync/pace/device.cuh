// Artificial barriers and windows, for kernels alone: no host code.
#pragma once

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/pace/block_pace.hpp>
#include <gpusync/pace/grid_window.hpp>

namespace gpusync {

/// Keeps the warps of a block in step. Form: one of namespace pace.
template <class Form = pace::block>
using block_pace = basic_block_pace<Form, cuda_grid>;
/// What it needs in shared memory: `__shared__ gpusync::pace_memory<Form> memory;`.
template <class Form = pace::block>
using pace_memory = basic_pace_memory<Form, cuda_grid>;

/// A window over the blocks of a grid. Policy: pace::best_effort, pace::strict or pace::off.
template <class Policy = pace::best_effort>
using basic_cuda_window = basic_grid_window<cuda_grid, Policy>;
/// The default: no launch hangs by it.
using grid_window = basic_cuda_window<>;
/// Waits end only when the other blocks come.
using strict_grid_window = basic_cuda_window<pace::strict>;

}  // namespace gpusync
