// A grid in which one block arrives and looks at the barrier only when all others have long gone on: what the text of
// 2010 does not survive. For host threads and CUDA.
#pragma once

#include <cstdint>

#include <gpusync/grid/lock_based.hpp>

#include "support/literal_2010.hpp"

namespace gpusync::test {

/// Phases after the one in which block 0 is late: as many as the others would get ahead of it if they could.
inline constexpr uint32_t phases_after = 4;

/// Passes one phase, in which block 0 waits for `nanoseconds` between its arrival and its first look, and some more.
template <class Grid, class Barrier>
GPUSYNC_HD void look_late(Grid grid, Barrier& barrier, uint64_t nanoseconds) {
  auto token = barrier.arrive();
  if (grid.block() == 0) {
    for (const uint64_t begin = grid.now(); grid.now() - begin < nanoseconds;) {
      grid.pause();
    }
  }
  barrier.wait(static_cast<decltype(token)&&>(token));
  for (uint32_t phase = 0; phase < phases_after; ++phase) barrier.sync();
}

}  // namespace gpusync::test
