// A place of a kernel where an artificial barrier may stand: one that no data needs, and that keeps the threads of a
// block in step. C++17: CUDA sources include it.
#pragma once

#include <cstdint>

#include <gpusync/core/config.hpp>
#include <gpusync/pace/block_pace.hpp>

namespace gpusync::tool {

/// What stands there.
enum class pace_kind : uint32_t {
  nothing,
  fence,   ///< for the compiler, which moves no access of memory across it; no instruction. What a barrier gains beyond
           ///< this it gains by waiting
  barrier  ///< of the block
};

/// The library's form of each.
template <pace_kind Kind>
struct pace_form {
  using type = pace::off;
};
template <>
struct pace_form<pace_kind::fence> {
  using type = pace::compiler_fence;
};
template <>
struct pace_form<pace_kind::barrier> {
  using type = pace::block;
};

/// The place, for the calling thread. Unless it is empty, all threads of the block pass it equally often.
template <pace_kind Kind, class Grid>
struct pace_place {
  using form = typename pace_form<Kind>::type;
  static constexpr bool is_empty = Kind == pace_kind::nothing;

  Grid grid;

  GPUSYNC_API void visit() const {
    basic_pace_memory<form, Grid> nothing;
    basic_block_pace<form, Grid>(nothing).visit();
  }
  /// The same for a loop that goes on as long as a thread of the block wants it to: whether any does. Without a barrier
  /// each thread goes by itself.
  GPUSYNC_API bool any(bool mine) const {
    basic_pace_memory<form, Grid> nothing;
    return basic_block_pace<form, Grid>(nothing).any(mine);
  }
};

}  // namespace gpusync::tool
