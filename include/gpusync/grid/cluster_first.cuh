// A grid barrier that joins the blocks of a cluster in hardware first, and the clusters through memory.
#pragma once

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync::grid {

/// A counter as lock_based's, but only the first block of each thread block cluster adds to it, when the cluster's own
/// barrier, which is hardware, says that all of the cluster have arrived. CUDA only; uses clusters from sm_90 on, in
/// any launch: without clusters, and on older devices, each block is a cluster of its own. Nothing of the papers.
///
/// Preconditions: as lock_based. It always joins the whole grid, for clusters cannot be divided, and nothing else
///   may use the cluster's barrier between arrive() and wait().
/// Synchronizes: as lock_based<ordering::acquire_release>: the cluster's barrier releases and acquires in all threads,
///   and the add of the first block's thread 0 hands that on.
/// Progress: other blocks' waits end only if the first block of each cluster calls wait() too.
/// Limits: the hardware barrier has no deadline, so a wait cannot carry one, and it cannot name who is missing.
/// Cost: one hop and one cluster barrier. Per cluster one add; per block polls of one word.
/// Storage: one word on a line of its own; at most 65,535 clusters.
struct cluster_first : algorithm_defaults {
  static constexpr ordering order = ordering::acquire_release;
  static constexpr bool bounded = false;
  static constexpr bool wait_needed_by_others = true;
  static constexpr bool has_orderings = false;
  static constexpr bool whole_grid_only = true;
  static constexpr bool for_clusters = true;
  static constexpr const char* family = "cluster-first";
  static constexpr uint32_t max_blocks = phase_word::max_blocks;

  /// The counter at the end of the phase in which the block arrived.
  using token = uint32_t;

  struct state {
    uint32_t goal;  ///< the counter at the end of the phase to come
    uint32_t step;  ///< what its cluster adds
    bool adds;      ///< whether this thread does that
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t) { return 1; }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t, uint32_t phase) { *words = phase_word::start_of(phase); }

  GPUSYNC_HD static uint32_t stamp(token goal) { return goal | 1u; }

  static __device__ __forceinline__ state join(cuda_grid grid, const uint32_t* words, [[maybe_unused]] membership who) {
    // The phase cannot end before this block's cluster, and so this block, has arrived.
    const uint32_t now = cuda_memory::load<memory_order::relaxed, scope::device>(words);
#if __CUDA_ARCH__ >= 900
    uint32_t rank_in_cluster, x, y, z, width, height, depth;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank_in_cluster));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(x));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(y));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(z));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(width));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(height));
    asm("mov.u32 %0, %%nclusterid.z;" : "=r"(depth));
    const uint32_t cluster = x + width * (y + height * z);
    const uint32_t clusters = width * height * depth;
#else
    const uint32_t rank_in_cluster = 0;
    const uint32_t cluster = who.rank;
    const uint32_t clusters = who.count;
#endif
    return {phase_word::goal(now), cluster == 0 ? phase_word::completing(clusters) : 1u,
            rank_in_cluster == 0 && grid.thread() == 0};
  }

  static __device__ __forceinline__ token arrive(cuda_grid, uint32_t*, state& own) {
    const token goal = own.goal;
    own.goal += phase_word::one_phase;
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#else
    __syncthreads();
#endif
    return goal;
  }

  template <class Context>
  static __device__ __forceinline__ wait_status wait(cuda_grid grid, uint32_t* words, const state& own, token goal,
                                                     Context& context) {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
    if (own.adds) cuda_memory::add<memory_order::release, scope::device>(words, own.step);
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      status = poll_until<memory_order::acquire, scope::device>(
          grid, words, [goal](uint32_t current) { return phase_reached(current, goal); }, context);
    }
    return sync_block_status(grid, status, context);
  }
};

}  // namespace gpusync::grid
