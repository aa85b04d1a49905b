// What warps note of a chain of operations, and what follows from it. C++17: CUDA sources include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpusync::tool {

/// What one warp notes of the pass that counts.
struct warp_stamp {
  long long begin, end;        ///< by the clock of its multiprocessor, in cycles
  unsigned long long started;  ///< by the device's timer, in nanoseconds, when its block was let go; 0: it was not
  unsigned int sm;             ///< the multiprocessor
};

/// Cycles of the slowest of the first `warps` warps, each by its own readings. Precondition: there are that many.
double slowest_cycles(const std::vector<warp_stamp>& stamps, size_t warps);

/// Cycles from the first begin to the last end on a multiprocessor that has `warps` of the warps; the median over all
/// that have just so many. Throws invalid_argument if that is fewer than half of those with any: then the blocks were
/// not spread evenly, and their figures say nothing.
double busy_cycles(const std::vector<warp_stamp>& stamps, size_t warps);

/// Nanoseconds between the first and the last block that was let go. Throws gpusync::error if one was not: the others
/// never came.
double start_spread_ns(const std::vector<warp_stamp>& stamps);

}  // namespace gpusync::tool
