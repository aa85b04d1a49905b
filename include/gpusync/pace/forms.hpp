// How threads are kept in step: the choices that pace and grid_window are made with.
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/deadline.hpp>

namespace gpusync::pace {

/// Not at all: a visit leaves no instruction, and no mark on the code around it.
struct off {
  static constexpr const char* name = "none";  ///< in results
};

/// A fence for the compiler alone: a visit leaves no instruction, but no access to memory moves across it. The control
/// of every measurement: what this gains is the compiler's doing, and not waiting's.
struct compiler_fence {
  static constexpr const char* name = "compiler-fence";  ///< in results
};

/// All threads of the block meet at each visit. The form of Lo et al. (2014).
struct block {
  static constexpr const char* name = "block";  ///< in results
};

/// The warps of a block meet in groups of `Warps`, neighbours by their number: for warps that share what they read. On
/// CUDA by named barriers, from number `First` on, which the kernel must use for nothing else. At least 3 warps: then
/// the fifteen that there are do for every block. The last group may be smaller. A block takes First + 32 / Warps of
/// the 64 named barriers that a multiprocessor has, rounded up: with groups of 8 warps at most 12 blocks run on it.
template <uint32_t Warps, uint32_t First = 1>
struct warps {
  static_assert(Warps >= 3 && Warps <= 32, "groups of 3 to 32 warps: there are 15 named barriers for up to 32 warps");
  static_assert(First >= 1 && First + (32 + Warps - 1) / Warps <= 16, "named barriers have the numbers 1 to 15");
  static constexpr const char* name = "warps";  ///< in results
};

/// No meeting: a warp goes on at once unless it is `Visits` visits ahead of the slowest warp of its block. The form
/// that costs least where there is nothing to gain.
template <uint32_t Visits = 1>
struct lead {
  static_assert(Visits >= 1, "a lead of no visit is a barrier: pace::block");
  static constexpr const char* name = "lead";  ///< in results
};

/// Of windows: who has waited for longer than the storage's limit waits no more, so that no launch hangs, whatever its
/// other blocks do. The default.
struct best_effort {
  static constexpr bool bounded = true;          ///< waits end by themselves
  static constexpr const char* name = "window";  ///< in results
};

/// Of windows: waits end only when the other blocks come. For launches whose blocks all run at once, which
/// gpusync::launch() sees to.
struct strict {
  static constexpr bool bounded = false;                ///< waits end when others come
  static constexpr const char* name = "strict-window";  ///< in results
};

}  // namespace gpusync::pace
