// The home of what must survive a phase.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync {

/// A place in global memory for each virtual block of a phased grid: `per_block` values of T. Which resident block runs
/// a virtual block may change from phase to phase, so registers and shared memory are lost with each phase; what is
/// left here is there in the next one, whoever runs it. A small value: pass it to the kernel by value. Made by
/// cuda_phased_state or host_phased_state.
///
/// Accesses are plain: a virtual block's own state needs no atomics, and what other virtual blocks left here in an
/// earlier phase may be read, since the barrier between phases orders both.
template <class T>
class phased_state {
 public:
  /// Use the view() of cuda_phased_state or host_phased_state.
  GPUSYNC_HD phased_state(T* values, uint32_t per_block) : values_(values), per_block_(per_block) {}

  /// The values of a virtual block. One per thread: of(block)[thread].
  GPUSYNC_HD T* of(uint32_t virtual_block) const { return values_ + size_t{virtual_block} * per_block_; }
  /// Values of each virtual block.
  GPUSYNC_HD uint32_t per_block() const { return per_block_; }

 private:
  T* values_;
  uint32_t per_block_;
};

}  // namespace gpusync
