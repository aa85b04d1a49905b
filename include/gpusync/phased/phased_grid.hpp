// The front door to phased execution: a grid of any number of virtual blocks, run by those blocks that run at once.
#pragma once

#include <gpusync/grid/barrier.hpp>
#include <gpusync/phased/claiming.hpp>
#include <gpusync/phased/flag_claiming.hpp>
#include <gpusync/phased/striding.hpp>

namespace gpusync {

/// A grid of any number of virtual blocks and any number of phases, with a barrier of all between the phases: what a
/// plain grid barrier cannot do if not all blocks run at once. Those that do, the resident blocks, run the virtual ones
/// and synchronize at the end of each phase.
///
/// The first parameter of a kernel that launch_phased() starts, by value; whatever the kernel calls takes it by
/// reference, for it cannot be copied. All threads of a block call each function together, and all blocks pass through
/// the same sequence of phases. One storage serves one running kernel at a time; kernels that follow each other in a
/// stream share it freely, whatever their sizes, without a reset.
///
/// In each phase the body is called exactly once for each virtual block, by all threads of one resident block. It may
/// use the block barrier and shared memory as a block of a plain grid does; all threads of the block must agree on
/// every block barrier that they pass, and none may leave the body's caller. Between two virtual blocks there is a
/// block barrier.
///
/// What must survive a phase: neither registers nor shared memory belong to a virtual block. It lives in global memory,
/// indexed by the virtual block: see phased_state. blockIdx and gridDim are the resident block's: use the body's
/// argument and virtual_blocks().
///
/// Synchronizes: everything that any thread did in a phase happens before everything that any thread does in the next,
///   as far as the barrier's algorithm promises it (docs/memory-model.md). Within a phase, virtual blocks are
///   unordered, and must not wait for each other.
/// Progress: the resident blocks run at once; launch_phased() sees to it.
///
/// Schedule: phased::striding, phased::claiming or phased::flag_claiming. Algorithm: of the barrier. Grid: cuda_grid or
/// host_grid.
template <class Schedule, class Algorithm, class Grid>
class basic_phased_grid : public detail::passed_by_reference<basic_phased_grid<Schedule, Algorithm, Grid>> {
 public:
  /// Which resident block runs which virtual block.
  using schedule = Schedule;
  /// Of the barrier between phases.
  using barrier_type = basic_grid_barrier<Algorithm, Grid>;

  /// Use launch_phased(), or the storage's grid().
  GPUSYNC_HD basic_phased_grid(const typename barrier_type::argument& barrier, uint32_t* words, uint32_t* told,
                               uint32_t virtual_blocks)
      : barrier_(barrier), words_(words), told_(told), virtual_blocks_(virtual_blocks) {}
  /// For launches on host threads: what one thread of `original`'s kernel gets.
  GPUSYNC_HD basic_phased_grid(detail::for_one_thread which, const basic_phased_grid& original)
      : barrier_(which, original.barrier_),
        words_(original.words_),
        told_(original.told_),
        virtual_blocks_(original.virtual_blocks_) {}

  /// Blocks of the grid that is worked on.
  GPUSYNC_HD uint32_t virtual_blocks() const { return virtual_blocks_; }
  /// The number of the current phase, from 0 at the start of the launch.
  GPUSYNC_HD uint32_t phase() const { return phase_; }
  /// The barrier behind it.
  GPUSYNC_HD const barrier_type& barrier() const { return barrier_; }
  /// How a launch finds the storage.
  GPUSYNC_HD const detail::handle_header& header() const { return barrier_.header(); }

  /// `phases` phases of `body(virtual block, phase)`. Phases are counted from the start of the launch, so a second
  /// run() goes on where the first one ended.
  GPUSYNC_API_TEMPLATE
  template <class Body>
  GPUSYNC_HD void run(uint32_t phases, Body&& body) {
    (void)run_phases<false>(
        phases, [this] { return met(); }, body);
  }

  /// The same, but gives up when a wait for other blocks takes longer than `span`. All threads of a block get the same
  /// answer. After timed_out the rest of the work is not done and the storage unusable until it is reset: leave the
  /// kernel. The host finds the missing blocks in the storage. See basic_grid_barrier::wait_for.
  GPUSYNC_API_TEMPLATE
  template <class Body>
  GPUSYNC_HD wait_status run_for(timeout span, uint32_t phases, Body&& body) {
    return run_phases<true>(
               phases, [this, span] { return met(span); }, body)
               ? wait_status::completed
               : wait_status::timed_out;
  }

  /// One phase by hand, where their number is found on the way: `body(virtual block)` for this block's share of the
  /// virtual ones, then end_phase(). What decides about going on must stand in a word that the next phase does not
  /// write: it may be under way in other blocks when it is read.
  GPUSYNC_API_TEMPLATE
  template <class Body>
  GPUSYNC_HD void for_each_block(Body&& body) {
    (void)share([this] { return met(); }, body);
  }
  /// Waits until all blocks have come to the end of the phase.
  GPUSYNC_API void end_phase() {
    (void)met();
    ++phase_;
  }

  /// The same with a deadline: on timed_out, leave the kernel.
  GPUSYNC_API_TEMPLATE
  template <class Body>
  GPUSYNC_HD wait_status for_each_block_for(timeout span, Body&& body) {
    return share([this, span] { return met(span); }, body) ? wait_status::completed : wait_status::timed_out;
  }
  /// As end_phase(), but gives up after `span`; see run_for().
  GPUSYNC_API wait_status end_phase_for(timeout span) {
    if (!met(span)) return wait_status::timed_out;
    ++phase_;
    return wait_status::completed;
  }

 private:
  GPUSYNC_API bool met() {
    barrier_.sync();
    return true;
  }
  GPUSYNC_API bool met(timeout span) { return barrier_.sync_for(span) == wait_status::completed; }

  GPUSYNC_API_TEMPLATE
  template <class Sync, class Body>
  GPUSYNC_HD bool share(const Sync& sync, Body& body) {
    const phased::resident_block<Grid> at{Grid::current(), words_, told_, virtual_blocks_, turn_};
    return Schedule::for_each(at, sync, body);
  }

  GPUSYNC_API_TEMPLATE
  template <bool Bounded, class Sync, class Body>
  GPUSYNC_HD bool run_phases(uint32_t phases, const Sync& sync, Body& body) {
    if (phase_ == 0) {
      // Before the loop. Which kind of waits will follow says what becomes of a phase that was lost before.
      if constexpr (Bounded) {
        if (barrier_.try_enter() == wait_status::timed_out) return false;
      } else {
        barrier_.enter();
      }
    }
    GPUSYNC_UNROLL(1)
    for (; phases != 0; --phases) {
      const uint32_t phase = phase_;
      const auto of_this_phase = [&body, phase](uint32_t block) { body(block, phase); };
      if (!share(sync, of_this_phase) || !sync()) return false;
      ++phase_;
    }
    return true;
  }

  barrier_type barrier_;
  uint32_t* words_;
  uint32_t* told_;
  uint32_t virtual_blocks_;
  uint32_t phase_ = 0;
  uint32_t turn_ = 0;
};

}  // namespace gpusync
