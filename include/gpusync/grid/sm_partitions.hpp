// Which partition of the L2 cache each multiprocessor is on.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync::grid {

/// A bit for each two multiprocessors: the partition (0 or 1) that they are on. Travels to the kernel with what lies on
/// partitions, so that a block finds its own without a look at memory.
struct sm_partitions {
  static constexpr uint32_t most_sms = 256;  ///< those with higher numbers count as on partition 0
  static constexpr uint32_t neighbours = 2;  ///< multiprocessors that share a cluster (TPC), and so a partition

  uint32_t bits[most_sms / neighbours / 32] = {};  ///< of two multiprocessors after the other

  /// Says on which partition multiprocessor `sm` is, below most_sms, and with it its neighbour.
  GPUSYNC_HD void put(uint32_t sm, uint32_t partition) {
    uint32_t& word = bits[sm / neighbours / 32];
    const uint32_t bit = sm / neighbours % 32;
    word = (word & ~(1u << bit)) | partition << bit;
  }
  /// Every other pair on partition 1: for machines that have none, where it does not matter.
  GPUSYNC_HD static constexpr sm_partitions in_turn() {
    sm_partitions made;
    for (uint32_t& word : made.bits) word = 0xaaaaaaaau;
    return made;
  }
  /// The partition that the block is on.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t of(Grid grid) const {
    const uint32_t sm = grid.sm_id();
    if (sm >= most_sms) return 0;
    const uint32_t pair = sm / neighbours;
    return grid.pick(bits, pair / 32) >> pair % 32 & 1u;
  }
};

}  // namespace gpusync::grid
