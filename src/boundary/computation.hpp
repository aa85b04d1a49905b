// What the text of a computation is, for every kind of grid. C++17: CUDA sources include it.
//
// A computation is a trivially copyable class:
//
//   kept                        a type: what a thread keeps from step to step while its kernel lives
//   load(Grid, number)          returns what is kept, as it is before that step
//   step(Grid, number, kept&)   the calling thread's part of the step
//   save(Grid, const kept&)     leaves what is kept where load() finds it
//
// for a Grid that is a cuda_exchange_grid on a GPU and a host_grid on host threads. Where the end of a kernel is the
// boundary, every step is load, step, save: the same code as between the barriers of a kernel that runs them all, which
// loads and saves once.
//
// A text whose steps are split has besides step() its two halves, for barriers that are split:
//
//   first(Grid, number, kept&)  what other blocks wait for
//   rest(Grid, number, kept&)   what they do not
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync::tool {

/// What a computation is unless it says otherwise: it keeps nothing, and on a GPU an SM can be filled with its threads.
struct computation {
  struct kept {};
  /// Threads of a block at most, and blocks of so many that an SM is to hold, if it can: this limits a thread's
  /// registers.
  static constexpr unsigned most_threads = 1024, full_blocks = 2;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid, uint32_t) const {
    return {};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Kept>
  GPUSYNC_HD void save(Grid, const Kept&) const {}
};

/// All steps of a run, with `boundary(s)` behind the s-th; it says whether to go on. A computation may have another
/// text of it: an overload for its own type.
GPUSYNC_API_TEMPLATE
template <class Text, class Grid, class Kept, class Boundary>
GPUSYNC_HD void all_steps(const Text& text, Grid grid, uint32_t steps, Kept& kept, Boundary&& boundary) {
  for (uint32_t s = 0; s < steps; ++s) {
    text.step(grid, s, kept);
    if (!boundary(s)) return;
  }
}

}  // namespace gpusync::tool
