// Workload "stencil" on CUDA devices: its text, and what nvcc compiles of it. C++17.
#pragma once

#include "boundary/computation.hpp"
#include "boundary/cuda_kernels.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

/// All points of a step; a step reads what all blocks wrote in the one before.
struct stencil_text : computation {
  struct kept {
    const float* from;
    float* to;
  };

  float *a, *b;  ///< before the first step both hold the start
  stencil_size size;

  template <class Grid>
  GPUSYNC_HD kept load(Grid, uint32_t step) const {
    return step % 2 == 0 ? kept{a, b} : kept{b, a};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t, kept& now) const {
    if (size.is_rod()) {
      relax_rod(grid, now.from, now.to);
    } else {
      relax_plate(grid, now.from, now.to);
    }
    float* const old = const_cast<float*>(now.from);
    now.from = now.to;
    now.to = old;
  }

 private:
  /// Points are dealt out to threads. No multiply-add can be made of these sums, so that every compiler rounds them
  /// alike.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void relax_rod(Grid grid, const float* from, float* to) const {
    const uint32_t first = 1 + grid.block() * grid.threads() + grid.thread();
    for (uint32_t i = first; i + 1 < size.columns; i += grid.blocks() * grid.threads()) {
      to[i] = (from[i - 1] + from[i + 1]) * 0.5f;
    }
  }

  /// Rows are dealt out to blocks, columns to threads.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void relax_plate(Grid grid, const float* from, float* to) const {
    for (uint32_t row = 1 + grid.block(); row + 1 < size.rows; row += grid.blocks()) {
      const float* here = from + size_t{row} * size.columns;
      for (uint32_t column = 1 + grid.thread(); column + 1 < size.columns; column += grid.threads()) {
        const float* point = here + column;
        to[size_t{row} * size.columns + column] =
            ((*(point - size.columns) + point[size.columns]) + (*(point - 1) + point[1])) * 0.25f;
      }
    }
  }
};

/// The text with every grid barrier that orders data.
cuda_kernels stencil_kernels();

}  // namespace gpusync::tool
