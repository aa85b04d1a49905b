// Workload "warp timers": every lane of a warp goes its own way to a barrier of the warp, and notes the clock before
// and behind it. C++17: CUDA sources include it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "boundary/method_kind.hpp"

namespace gpusync::tool {

inline constexpr uint32_t timed_lanes = 32;

/// One run: cycles since the first lane's start.
struct warp_passage {
  std::array<double, timed_lanes> start{}, end{};
  uint64_t wrong = 0;  ///< lanes that did not go the way that is theirs alone, or were handed a wrong word
};

/// The first end less the last start: not below 0 if the barrier has held every lane.
double margin_of(const warp_passage& passage);
/// The last start.
double spread_of_starts(const warp_passage& passage);

/// A barrier of a warp, by its name in results.
struct warp_barrier_name {
  const char* name;
  const char* title;
  bool waits = true;  ///< false: none, which shows that a lane that is not held is found
};

inline constexpr warp_barrier_name warp_barriers[] = {
    {name_of_floor, "nothing between the two timers", false},
    {"syncwarp", "__syncwarp()"},
    {"tile", "tiled_partition<32>.sync()"},
    {"coalesced", "coalesced_threads().sync(), of all 32 lanes"},
    {"shuffle", "__shfl_sync() of all 32 lanes"},
    {"shuffle-tile", "tiled_partition<32>.shfl()"},
    {"shuffle-coalesced", "coalesced_threads().shfl(), of all 32 lanes"},
};

/// The device side.
class warp_timers_device {
 public:
  virtual ~warp_timers_device() = default;
  /// One run of a warp with that barrier. Blocking. Throws gpusync::error; stuck_launch if the warp never ends.
  virtual warp_passage run(const std::string& barrier) = 0;
};

}  // namespace gpusync::tool
