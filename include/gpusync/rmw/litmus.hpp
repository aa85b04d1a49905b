// On which devices a masked store of several words has been seen to take effect as one.
#pragma once

#include <gpusync/rmw/machine.hpp>

namespace gpusync::rmw::litmus {

/// @page Evidence
/// No manual promises that the store of several lanes of a warp, to words of one line, takes effect as one: PTX models
/// it as stores of their own. rmw::coalesced_store stands on it, so its type names what shows that it holds. Write one
/// of your own after `gpusync run store-atomicity` has found no violation on your device; as far as that is evidence,
/// for zero violations in so many trials is no proof. Evidence has
/// - `device`: the name that the CUDA runtime gives the device
/// - `covers(where, bytes)`: whether stores into segments of that many bytes of that memory were tested there
/// - `apart`: whether that was with each participant on a multiprocessor of its own; then join() makes sure of it, and
///   the kernel traps if two participants of a grid share one

/// For machines that imitate the store under a lock: host threads and the schedule explorer. Covers no device.
/// Fulfils @ref Evidence.
struct imitated {
  static constexpr const char* device = "";
  static constexpr bool apart = false;
  GPUSYNC_HD static constexpr bool covers(space, size_t) { return false; }
};

/// Participants anywhere. In shared memory rows of up to 16 words in different banks; in global memory one sector of 32
/// bytes. Not more: of stores to several sectors that warps of one multiprocessor make at once, some hundreds in 10^9
/// were torn between sectors, for good, while other blocks kept the L2 cache busy; and of stores of 32 words of shared
/// memory, a few. Not between the blocks of a cluster either: in distributed shared memory such a store tears.
/// Fulfils @ref Evidence.
struct nvidia_h200 {
  static constexpr const char* device = "NVIDIA H200";
  static constexpr bool apart = false;
  GPUSYNC_HD static constexpr bool covers(space where, size_t bytes) { return where == space::shared || bytes <= 32; }
};

/// Global memory, each participant on a multiprocessor of its own: a line of 128 bytes. Fulfils @ref Evidence.
struct nvidia_h200_apart {
  static constexpr const char* device = "NVIDIA H200";
  static constexpr bool apart = true;
  GPUSYNC_HD static constexpr bool covers(space where, size_t bytes) { return where == space::global && bytes <= 128; }
};

}  // namespace gpusync::rmw::litmus
