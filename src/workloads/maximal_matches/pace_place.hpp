// A place of a kernel where an artificial barrier may stand: one that no data needs, and that keeps the threads of a
// block in step. C++17: CUDA sources include it.
#pragma once

#include <cstdint>

#include <gpusync/core/config.hpp>

namespace gpusync::tool {

/// What stands there.
enum class pace_kind : uint32_t {
  nothing,
  fence,   ///< for the compiler, which moves no access of memory across it; no instruction. What a barrier gains beyond
           ///< this it gains by waiting
  barrier  ///< of the block
};

/// The place, for the calling thread. Unless it is empty, all threads of the block pass it equally often.
template <pace_kind Kind, class Grid>
struct pace_place {
  static constexpr bool is_empty = Kind == pace_kind::nothing;

  Grid grid;

  GPUSYNC_API void visit() const {
    if constexpr (Kind == pace_kind::fence) asm volatile("" ::: "memory");
    if constexpr (Kind == pace_kind::barrier) grid.sync_block();
  }
  /// The same for a loop that goes on as long as a thread of the block wants it to: whether any does. Without a barrier
  /// each thread goes by itself.
  GPUSYNC_API bool any(bool mine) const {
    if constexpr (Kind == pace_kind::fence) asm volatile("" ::: "memory");
    if constexpr (Kind == pace_kind::barrier) return grid.sync_block_or(mine);
    return mine;
  }
};

}  // namespace gpusync::tool
