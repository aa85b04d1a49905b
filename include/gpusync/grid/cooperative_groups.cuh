// NVIDIA's own grid barrier behind this library's interface, so that both are tested and measured alike.
#pragma once

#include <cooperative_groups.h>

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>

namespace gpusync::grid {

/// cooperative_groups::grid_group: a lock-based barrier on one word that the driver owns. CUDA only.
///
/// Preconditions: a cooperative launch, which gpusync::launch makes; all threads of a block call together.
/// Synchronizes: as lock_based<ordering::acquire_release>.
/// Limits: its word cannot be seen or placed, so a wait cannot carry a deadline and cannot name who is missing, and it
///   always joins the whole grid.
/// Cost: one hop; it polls with acquiring loads, each of which also invalidates L1.
struct cooperative_groups : algorithm_defaults {
  static constexpr ordering order = ordering::acquire_release;
  static constexpr bool bounded = false;
  static constexpr bool has_orderings = false;
  static constexpr bool whole_grid_only = true;
  static constexpr const char* family = "cg";
  static constexpr uint32_t max_blocks = 0x7fffffffu;

  using token = ::cooperative_groups::grid_group::arrival_token;
  struct state {};

  static constexpr size_t words(uint32_t) { return 0; }
  static void start_at(uint32_t*, uint32_t, uint32_t) {}
  static __device__ __forceinline__ uint32_t stamp(token) { return 1; }

  static __device__ __forceinline__ state join(cuda_grid, const uint32_t*, membership) { return {}; }

  static __device__ __forceinline__ token arrive(cuda_grid, uint32_t*, state&) {
    return ::cooperative_groups::this_grid().barrier_arrive();
  }

  template <class Context>
  static __device__ __forceinline__ wait_status wait(cuda_grid, const uint32_t*, const state&, token&& arrived,
                                                     const Context&) {
    ::cooperative_groups::this_grid().barrier_wait(static_cast<token&&>(arrived));
    return wait_status::completed;
  }
};

}  // namespace gpusync::grid
