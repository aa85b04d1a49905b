// A grid barrier that one warp of each block attends while the others work.
#pragma once

#include <gpusync/core/cuda_warp_grid.cuh>
#include <gpusync/grid/barrier.hpp>

namespace gpusync {

namespace detail {

/// Says that the calling warp has come to the block's named barrier `Id`; does not wait. `threads`: those of all warps
/// that arrive or wait there, a multiple of 32.
template <int Id>
__device__ __forceinline__ void arrive_at_named(uint32_t threads) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"n"(Id), "r"(threads) : "memory");
}

/// The same, and waits until all have.
template <int Id>
__device__ __forceinline__ void wait_at_named(uint32_t threads) {
  asm volatile("barrier.cta.sync %0, %1;" ::"n"(Id), "r"(threads) : "memory");
}

}  // namespace detail

/// A grid barrier for blocks in which one warp, the attendant, does nothing else than arrive and wait for the block.
/// The others, the workers, say by a named barrier that their phase is done, go on to work that needs nothing from
/// other blocks, and wait at a second named barrier until the attendant lets them on: what the arrival costs (a fence,
/// an atomic) and the polls are the attendant's time, not theirs. CUDA only.
///
/// In each phase, in this order: every worker warp calls arrive() and then wait(), the attendant calls attend(), each
/// with all 32 lanes. The first arrive() needs no preparation.
///
/// Synchronizes: everything before arrive() in any worker of any block happens before everything after wait() in every
///   worker, if the algorithm's ordering is not none. The workers' named arrival synchronizes with the attendant's wait
///   there (PTX: barrier.cta.arrive with barrier.cta.sync, block scope); its lanes release and acquire at device scope,
///   as Barrier says; its own named arrival synchronizes with the workers' wait.
/// Preconditions: those of Barrier; workers in whole warps; nothing else in the kernel uses the two named barriers (0
/// is
///   __syncthreads()), and no __syncthreads() stands between the roles, for they run different code.
/// Progress: as Barrier's; besides, all warps of a block make progress independently of each other, as they do from
///   sm_70 on.
/// Cost: for the workers two named barriers a phase; for the block a warp. The way from the last worker's arrival to
/// the
///   release is longer than without an attendant by those two: it pays if the workers have something to do meanwhile.
///
/// Barrier: a basic_grid_barrier on cuda_grid whose algorithm is written for any Grid (not cg, not cluster-first).
/// WorkDone, GoOn: the named barriers, 1 to 15.
template <class Barrier, int WorkDone = 1, int GoOn = 2>
class attended_barrier {
  static_assert(WorkDone > 0 && WorkDone < 16 && GoOn > 0 && GoOn < 16 && WorkDone != GoOn,
                "two different named barriers from 1 to 15");
  static_assert(!grid::is_whole_grid_only<typename Barrier::algorithm>::value,
                "cg and cluster-first are not written for any Grid: one warp cannot act for the block");

 public:
  static constexpr uint32_t attendant_threads = 32;

  /// `barrier`: not used yet in this launch. `workers`: threads of the block that work, a multiple of 32.
  __device__ __forceinline__ attended_barrier(const Barrier& barrier, uint32_t workers)
      : attending_(barrier.template on<cuda_warp_grid>()), threads_(workers + attendant_threads) {}

  /// The attendant, once per phase: arrives for the block when its workers have, waits for the others, and lets the
  /// workers on.
  __device__ __forceinline__ void attend() {
    detail::wait_at_named<WorkDone>(threads_);
    attending_.sync();
    detail::arrive_at_named<GoOn>(threads_);
  }

  /// Workers: the phase is done. Does not wait.
  __device__ __forceinline__ void arrive() { detail::arrive_at_named<WorkDone>(threads_); }

  /// Workers: waits until all workers of all blocks have arrived.
  __device__ __forceinline__ void wait() { detail::wait_at_named<GoOn>(threads_); }

 private:
  basic_grid_barrier<typename Barrier::algorithm, cuda_warp_grid, typename Barrier::members> attending_;
  uint32_t threads_;
};

}  // namespace gpusync
