// A grid barrier that one warp of each block serves while the others work.
#pragma once

#include <gpusync/core/cuda_warps_grid.cuh>
#include <gpusync/grid/barrier.hpp>

namespace gpusync {

namespace detail {

/// Says that the calling warp has come to the block's named barrier `Id`; does not wait, as cuda_grid::sync_named()
/// does. `threads`: those of all warps that arrive or wait there, a multiple of 32.
template <int Id>
__device__ __forceinline__ void arrive_at_named(uint32_t threads) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"n"(Id), "r"(threads) : "memory");
}

}  // namespace detail

/// How many worker threads of a block do what at a proxy_barrier, each a multiple of 32. The numbers may differ
/// from block to block: where nobody arrives, the proxy arrives all the same.
struct proxy_clients {
  uint32_t both;             ///< arrive() and wait(), by turns
  uint32_t only_arrive = 0;  ///< arrive_only(): producers, which need nothing from other blocks
  uint32_t only_wait = 0;    ///< wait(): consumers, for which no other block waits
};

/// A grid barrier for blocks in which one warp, the proxy, does nothing else than arrive and wait for the block.
/// The others, the workers, say by a named barrier that their phase is done, go on to work that needs nothing from
/// other blocks, and wait at a second named barrier until the proxy lets them on: what the arrival costs (a fence,
/// an atomic) and the polls are the proxy's time, not theirs. CUDA only.
///
/// In each phase, with all 32 lanes, the proxy calls serve() or serve_for(), and each worker warp does what its
/// role says, which is the same in all phases of a launch. The first calls need no preparation.
/// - Both: arrive(), then wait(). This is every worker's role unless proxy_clients says otherwise.
/// - Only arrives: arrive_only().
/// - Only waits: wait().
/// In a phase that the proxy serves with serve_for(), workers call wait_bounded() instead of wait(). Who only
/// arrives calls arrive_only_bounded() if the phase before, of which it tells, was served with serve_for().
///
/// A warp that came twice to a named barrier before that is complete would be counted for one that is still missing.
/// Who does both cannot, for wait() stands between. Who does not is kept from it, at the price of some waiting:
/// - arrive_only() first waits, from the second phase on, until the phase before has passed. So this warp may work for
///   phase p + 1 while the barrier is in phase p, and then waits.
/// - The proxy ends a phase only when the warps that only wait have come to its wait(). So these may work on phase
///   p while phase p + 1 passes, but p + 2 cannot pass in any block before they have come to the end of that work.
/// Hence, if warps that only arrive write what warps that only wait read, the words of phase p may be written over
/// those of phase p - 4, and need no other synchronization: a ring of four.
///
/// Synchronizes: everything before the arrival for phase p in any worker of any block happens before everything after
///   the wait for p, and after arrive_only() for p + 1, in every worker, if the algorithm's ordering is not none. The
///   workers' named arrival synchronizes with the proxy's wait there (PTX: barrier.cta.arrive with
///   barrier.cta.sync, block scope); its lanes release and acquire at device scope, as Barrier says; its own named
///   arrival synchronizes with the workers' wait.
/// Preconditions: those of Barrier; workers in whole warps, as many as was said; nothing else in the kernel uses the
///   named barriers (0 is __syncthreads()), and no __syncthreads() stands between the roles, for they run different
///   code.
/// Progress: as Barrier's; besides, all warps of a block make progress independently of each other, as they do from
///   sm_70 on. A deadline is for other blocks: the proxy waits for the workers of its own block without one.
/// Cost: for the workers two named barriers a phase; for the block a warp. From the last worker's arrival to the
///   release it takes longer than without a proxy, by those two: it pays if the workers have something to do
///   meanwhile. With a deadline, one store and one load of shared memory more, of two static words per block.
///
/// Barrier: a basic_grid_barrier on cuda_grid whose algorithm is written for any Grid (not cg, not cluster-first).
/// WorkDone, GoOn, NextPhase: the named barriers, 1 to 15; the third is used only if there are warps that only arrive.
template <class Barrier, int WorkDone = 1, int GoOn = 2, int NextPhase = 3>
class proxy_barrier : public detail::passed_by_reference<proxy_barrier<Barrier, WorkDone, GoOn, NextPhase>> {
  using proxy_view = cuda_warps_grid<no_named_barrier>;

  static_assert(WorkDone > 0 && WorkDone < 16 && GoOn > 0 && GoOn < 16 && NextPhase > 0 && NextPhase < 16 &&
                    WorkDone != GoOn && WorkDone != NextPhase && GoOn != NextPhase,
                "three different named barriers from 1 to 15");
  static_assert(!Barrier::algorithm::whole_grid_only,
                "cg and cluster-first are not written for any Grid: one warp cannot act for the block");

 public:
  static constexpr uint32_t proxy_threads = 32;  ///< the block's last warp

  /// `barrier`: not used yet in this launch, and not used beside this. `workers`: threads of the block that work, a
  /// multiple of 32, all of which arrive and wait.
  __device__ __forceinline__ proxy_barrier(Barrier& barrier, uint32_t workers)
      : proxy_barrier(barrier, proxy_clients{workers}, false) {}

  /// The same with workers of different roles.
  __device__ __forceinline__ proxy_barrier(Barrier& barrier, const proxy_clients& workers)
      : proxy_barrier(barrier, workers, workers.only_wait != 0 || workers.both == 0) {}

  /// The proxy, once per phase: arrives for the block when its workers have, waits for the others, and lets the
  /// workers on.
  __device__ __forceinline__ void serve() {
    take_work();
    proxy_.sync();
    let_on();
  }

  /// As serve(), but gives up as Barrier::sync_for() does. After timed_out the workers are told by their bounded
  /// calls: all leave the kernel, the proxy too.
  __device__ __forceinline__ wait_status serve_for(timeout span) {
    take_work();
    const wait_status status = proxy_.sync_for(span);
    if (proxy_view().thread() == 0) verdict(phase_) = status;
    __syncwarp();
    if (status == wait_status::completed) {
      let_on();
    } else {
      // No phase follows, so nobody need be met.
      if (waiting_ != proxy_threads) detail::arrive_at_named<GoOn>(waiting_);
      if (only_arriving_ != 0) detail::arrive_at_named<NextPhase>(only_arriving_ + proxy_threads);
    }
    return status;
  }

  /// Workers that also wait: the phase is done. Does not wait.
  __device__ __forceinline__ void arrive() { detail::arrive_at_named<WorkDone>(arriving_); }

  /// Workers that wait: until all workers of all blocks that arrive have done so.
  __device__ __forceinline__ void wait() {
    cuda_grid().sync_named<GoOn>(waiting_);
    ++phase_;
  }

  /// The same in a phase served with serve_for(). All that wait in the block get the same answer. After timed_out
  /// leave the kernel.
  __device__ __forceinline__ wait_status wait_bounded() {
    wait();
    return verdict(phase_ - 1);
  }

  /// Workers that never wait: the phase is done. Waits until the phase before has passed.
  __device__ __forceinline__ void arrive_only() {
    if (phase_ != 0) wait_for_next_phase();
    arrive();
    ++phase_;
  }

  /// The same after a phase served with serve_for(), or in the first. timed_out: that phase was lost, and nothing
  /// has arrived in this one; leave the kernel. Of the last phase such a warp hears nothing.
  __device__ __forceinline__ wait_status arrive_only_bounded() {
    if (phase_ != 0) {
      wait_for_next_phase();
      if (verdict(phase_ - 1) == wait_status::timed_out) return wait_status::timed_out;
    }
    arrive();
    ++phase_;
    return wait_status::completed;
  }

 private:
  __device__ __forceinline__ proxy_barrier(Barrier& barrier, const proxy_clients& workers, bool meets)
      : proxy_(barrier.on(proxy_view())),
        arriving_(workers.both + workers.only_arrive + proxy_threads),
        waiting_(workers.both + workers.only_wait + proxy_threads),
        only_arriving_(workers.only_arrive),
        meets_(meets) {}

  /// The proxy's way into a phase. Its arrival at NextPhase stands here and not at the end of the phase before, so
  /// that after the last one nothing is left there.
  __device__ __forceinline__ void take_work() {
    if (only_arriving_ != 0 && phase_ != 0) detail::arrive_at_named<NextPhase>(only_arriving_ + proxy_threads);
    cuda_grid().sync_named<WorkDone>(arriving_);
  }

  /// The proxy's way out. It goes on at once if all that wait also arrive, for their next arrivals say that they
  /// have been let on.
  __device__ __forceinline__ void let_on() {
    if (meets_) {
      cuda_grid().sync_named<GoOn>(waiting_);
    } else {
      detail::arrive_at_named<GoOn>(waiting_);
    }
    ++phase_;
  }

  __device__ __forceinline__ void wait_for_next_phase() {
    cuda_grid().sync_named<NextPhase>(only_arriving_ + proxy_threads);
  }

  /// Where the proxy writes what became of a phase. Two words, used by turns: the proxy comes back to one only
  /// when all have come to the end of the phase after, and so have read it.
  static __device__ __forceinline__ wait_status& verdict(uint32_t phase) {
    __shared__ wait_status verdicts[2];
    return verdicts[phase % 2];
  }

  basic_grid_barrier<typename Barrier::algorithm, proxy_view, typename Barrier::members> proxy_;
  uint32_t arriving_;       ///< threads that come to WorkDone, the proxy's among them
  uint32_t waiting_;        ///< those that come to GoOn
  uint32_t only_arriving_;  ///< those that come to NextPhase, without the proxy's
  bool meets_;              ///< whether the proxy waits for the others at GoOn
  uint32_t phase_ = 0;      ///< calls so far, each role counts its own
};

}  // namespace gpusync
