// NVIDIA's own grid barrier behind this library's interface, so that both are tested and measured alike.
#pragma once

#include <cooperative_groups.h>

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/deadline.hpp>

namespace gpusync::grid {

/// cooperative_groups::grid_group: a lock-based barrier on one word that the driver owns. CUDA only.
///
/// Preconditions: a cooperative launch, which gpusync::launch makes; all threads of a block call together.
/// Synchronizes: as lock_based<ordering::acquire_release>.
/// Limits: its word cannot be seen or placed, so a wait cannot carry a deadline and cannot name who is missing.
/// Cost: one hop; it polls with acquiring loads, each of which also invalidates L1.
struct cooperative_groups {
  static constexpr ordering order = ordering::acquire_release;
  static constexpr bool bounded = false;
  static constexpr bool has_orderings = false;
  static constexpr const char* family = "cg";
  static constexpr const char* paper_item = "";
  static constexpr uint32_t max_blocks = 0x7fffffffu;

  using token = ::cooperative_groups::grid_group::arrival_token;

  static constexpr size_t words(uint32_t) { return 0; }

  static __device__ __forceinline__ token arrive(cuda_grid, uint32_t*) {
    return ::cooperative_groups::this_grid().barrier_arrive();
  }

  static __device__ __forceinline__ wait_status wait(cuda_grid, const uint32_t*, token&& arrived, no_deadline) {
    ::cooperative_groups::this_grid().barrier_wait(static_cast<token&&>(arrived));
    return wait_status::completed;
  }
};

}  // namespace gpusync::grid
