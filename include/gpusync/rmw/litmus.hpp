// On which devices a masked store of several words has been seen to take effect as one.
#pragma once

#include <gpusync/rmw/machine.hpp>

// No manual promises that the store of several lanes of a warp, to words of one line, takes effect as one: PTX models
// it as stores of their own. rmw::coalesced_store stands on it, so its type names what shows that it holds. Evidence
// has a `device`, the name that the CUDA runtime gives it, and covers(where, cell_bytes): whether stores of cells of
// that many bytes were tested there. Write one of your own after `gpusync run store-atomicity` has found no violation
// on your device; as far as that is evidence, for zero violations in so many trials is no proof.
namespace gpusync::rmw::litmus {

/// For machines that imitate the store under a lock: host threads and the schedule explorer. Covers no device.
struct imitated {
  static constexpr const char* device = "";
  GPUSYNC_HD static constexpr bool covers(space, size_t) { return false; }
};

/// Lanes of one warp to one line of 128 bytes of global memory, or to words of shared memory in different banks; cells
/// of 4 and of 8 bytes. Not between the blocks of a cluster: in distributed shared memory such a store tears.
struct nvidia_h200 {
  static constexpr const char* device = "NVIDIA H200";
  GPUSYNC_HD static constexpr bool covers(space, size_t cell_bytes) { return cell_bytes == 4 || cell_bytes == 8; }
};

}  // namespace gpusync::rmw::litmus
