// Workload "partial sync": some members of a group call its barrier, and the rest do not. Zhang et al. 2020, section
// 8.2. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"

namespace gpusync::tool {

/// What the rest does.
enum class the_rest {
  leaves,  ///< ends at once
  stays,   ///< waits for those that called to have passed, a third of a second at most, and ends
};

/// A barrier, and what it promises those that call it without the rest.
struct partial_barrier {
  const char* name;
  const char* level;    ///< of what members: "threads of a warp"
  const char* meaning;  ///< the call
  bool defined_if_rest_leaves;
  bool defined_if_rest_stays;
  bool rival;         ///< NVIDIA's
  bool waits = true;  ///< false: those that call it are told that the rest is missing
};

inline constexpr partial_barrier partial_barriers[] = {
    {"syncwarp", "threads of a warp", "__syncwarp()", true, false, true},
    {"syncwarp-mask", "threads of a warp", "__syncwarp() with a mask of those that call it", true, true, true},
    {"tile", "threads of a warp", "tiled_partition<32>.sync()", false, false, true},
    {"coalesced", "threads of a warp", "coalesced_threads().sync(), made by those that call it", true, true, true},
    {"syncthreads", "warps of a block", "__syncthreads()", true, false, true},
    {"named-barrier", "warps of a block", "barrier.sync with the number of threads that call it", true, true, true},
    {"cluster", "blocks of a cluster", "barrier.cluster", true, false, true},
    {"cg", "blocks of a grid", "this_grid().sync()", false, false, true},
    {"grid-barrier", "blocks of a grid", "gpusync::grid_barrier::sync()", false, false, false},
    {"grid-barrier-deadline", "blocks of a grid", "gpusync::grid_barrier::sync_for()", true, true, false, false},
    {"grid-barrier-part", "blocks of a grid", "gpusync::part_grid_barrier::sync() of those blocks", true, true, false},
    {"grid-barrier-dropping", "blocks of a grid", "gpusync::dropping_grid_barrier::sync(), the rest drops out", true,
     true, false},
    {"multi-grid", "grids of several devices", "multi_grid_group::sync()", false, false, true},
};

/// Which members call the barrier, of `all`: `count` of them, from `first` on in steps of `stride`.
struct calling_members {
  uint32_t first = 0, stride = 1, count = 1;

  GPUSYNC_HD bool has(uint32_t member) const {
    const uint32_t offset = member - first;
    return member >= first && offset % stride == 0 && offset / stride < count;
  }
};
/// "half": the first half; "one": the first; "odd": every other, from the second on.
calling_members members_of(const std::string& subset, uint32_t all);

/// What came of one launch. Members that called the barrier, and how it let them go.
struct partial_outcome {
  bool ended = false;    ///< the kernel ended within the limit; if not, its device is stuck
  uint32_t members = 0;  ///< of the group
  uint32_t called = 0;
  uint32_t passed = 0;         ///< while the rest was as it was to be
  uint32_t late = 0;           ///< only once the rest had given up and ended
  uint32_t timed_out = 0;      ///< were told that the rest is missing
  uint32_t wrong = 0;          ///< of those that passed, that did not find what the next one had written before
  bool named_the_rest = true;  ///< after time-outs: the storage named exactly the blocks that had not called
};

/// What that is, as in the paper's section 8.2.
enum class partial_finding { ok, undefined, deadlock };
const char* to_string(partial_finding finding);
/// A deadlock if some that called did not pass while the rest was as it was to be; else ok if that is promised. Those
/// that were told that the rest is missing have passed.
partial_finding finding_of(const partial_outcome& outcome, bool defined);

/// The device side. A launch may never end: each wants a process of its own.
class partial_sync_device {
 public:
  virtual ~partial_sync_device() = default;
  /// Launches that barrier's kernel and waits for its end, three seconds at most. Throws gpusync::error if the device
  /// cannot run it.
  virtual partial_outcome run(const std::string& barrier, const std::string& subset, the_rest rest) = 0;
};

}  // namespace gpusync::tool
