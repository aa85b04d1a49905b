// The members of a barrier across GPUs: all blocks of all of them.
#pragma once

#include <gpusync/core/missing_block.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/multi_gpu/peers.hpp>

namespace gpusync {

namespace multi_gpu {

/// All blocks of the grids of several GPUs, as a block of one of them knows it. To an algorithm each shows its place
/// among the blocks of its own GPU. Fulfils @ref Members.
class across_gpus : public whole_grid {
 public:
  /// `gpus`: how many there are; each grid is taken to have `blocks` blocks until blocks_of() has said otherwise.
  GPUSYNC_HD across_gpus(const peer* peers, uint32_t gpu, uint32_t gpus, uint32_t blocks)
      : peers_(peers), gpu_(gpu), gpus_(gpus) {
    for (uint32_t i = 0; i < most_gpus; ++i) blocks_of(i, i < gpus ? blocks : 0);
  }
  /// Says that the grid of a GPU has so many blocks: who is to be looked for after a time-out.
  GPUSYNC_HD void blocks_of(uint32_t gpu, uint32_t blocks) { blocks_[gpu] = static_cast<uint16_t>(blocks); }

  /// Those of one GPU after the other.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t places(Grid) const {
    uint32_t all = 0;
    for (uint32_t i = 0; i < gpus_; ++i) all += blocks_[i];
    return all;
  }
  /// The GPU's rank, and in the low bits the block.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD uint32_t block_at(Grid, uint32_t place) const {
    const located at = locate(place);
    return at.gpu << timeout_report::block_bits | at.block;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD entry_in_log in_log(Grid grid, const arrival_log&, uint32_t place) const {
    const located at = locate(place);
    return entry_in_log::at(grid, peers_[at.gpu].arrived + at.block, peers_[at.gpu].entered + at.block);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void tell_others(Grid) const {
    for (uint32_t i = 0; i < gpus_; ++i) {
      if (i == gpu_) continue;
      Grid::memory::template add<memory_order::relaxed, scope::system>(peers_[i].claimed, +arrival_log::one_elsewhere);
    }
  }

 private:
  struct located {
    uint32_t gpu, block;
  };
  GPUSYNC_HD located locate(uint32_t place) const {
    uint32_t gpu = 0;
    for (; gpu + 1 < gpus_ && place >= blocks_[gpu]; ++gpu) place -= blocks_[gpu];
    return {gpu, place};
  }

  const peer* peers_;
  uint32_t gpu_, gpus_;
  uint16_t blocks_[most_gpus];
};

}  // namespace multi_gpu

/// A block of one of several GPUs that had not arrived when a wait timed out.
struct missing_gpu_block {
  uint32_t gpu;    ///< the rank of its GPU in the barrier
  uint32_t block;  ///< its rank in that GPU's grid
  uint32_t phase;  ///< the barrier call that was waited in, counted from 0 at the start of the launch
  bool started;    ///< whether it has been seen in this launch: see missing_block

  /// Whether both name the same block and phase.
  friend bool operator==(const missing_gpu_block& a, const missing_gpu_block& b) {
    return a.gpu == b.gpu && a.block == b.block && a.phase == b.phase;
  }
};

namespace multi_gpu {

/// The list in the report of one GPU's part of a barrier; empty if no wait has timed out there. May be called while
/// kernels run.
inline std::vector<missing_gpu_block> missing_blocks(const timeout_report& report) {
  std::vector<missing_gpu_block> list;
  for (const missing_block& one : gpusync::missing_blocks(report)) {
    list.push_back({one.block >> timeout_report::block_bits, one.block & ((1u << timeout_report::block_bits) - 1),
                    one.phase, one.started});
  }
  return list;
}

}  // namespace multi_gpu

}  // namespace gpusync
