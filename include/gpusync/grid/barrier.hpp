// The front door to the grid barriers: what a kernel holds in its hand.
#pragma once

#include <gpusync/core/deadline.hpp>
#include <gpusync/core/roll_call.hpp>

namespace gpusync {

namespace detail {
/// False, and only known to be so once T is: for static_asserts in templates.
template <class T>
inline constexpr bool always_false = false;
}  // namespace detail

/// A barrier that joins all blocks of one running grid. A small value: pass it to the kernel by value; it stays valid
/// as long as the storage that made it.
///
/// All threads of a block call each function together, and all blocks pass through the same sequence of phases.
/// Between arrive() and wait() a block may do work of its own that needs nothing from the other blocks.
/// The number of blocks is the grid's own and may differ from launch to launch, up to the storage's capacity.
/// One storage serves one running kernel at a time; kernels that follow each other in a stream share it freely.
///
/// Algorithm: one of namespace grid, e.g. grid::lock_based<>. Grid: cuda_grid or host_grid.
template <class Algorithm, class Grid>
class basic_grid_barrier {
 public:
  using algorithm = Algorithm;

  /// Proof of arrival in one phase; to be given to wait() or wait_for() once, by the same thread.
  class arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;

   private:
    friend class basic_grid_barrier;
    GPUSYNC_TEXT arrival_token(typename Algorithm::token&& value, uint32_t phase)
        : value_(static_cast<typename Algorithm::token&&>(value)), phase_(phase) {}
    typename Algorithm::token value_;
    uint32_t phase_;
  };

  /// Use basic_grid_barrier_storage::barrier() instead.
  GPUSYNC_HD basic_grid_barrier(uint32_t* words, roll_call roll, uint32_t capacity)
      : words_(words), roll_(roll), capacity_(capacity) {}

  /// The most blocks that the storage behind this barrier serves.
  GPUSYNC_HD uint32_t capacity() const { return capacity_; }
  /// The report of the storage behind this barrier, readable by the host.
  GPUSYNC_HD const timeout_report* report() const { return roll_.report; }

#if !defined(__CUDACC_RTC__)
  /// Host: says that a launch ended in the middle of a phase, so that the storage must be reset before the next one.
  void abandon() const {
    __atomic_store_n(&roll_.report->written, +timeout_report::abandoned, __ATOMIC_RELEASE);
  }
#endif

  /// Says that this block has come to the end of its phase; does not wait for the others.
  GPUSYNC_TEXT arrival_token arrive() {
    Grid grid = Grid::current();
    arrival_token token(Algorithm::arrive(grid, words_), phase_++);
    if constexpr (Algorithm::bounded) {
      if (grid.thread() == 0) roll_.mark(grid, grid.block(), Algorithm::stamp(token.value_));
    }
    return token;
  }

  /// Waits until every block has arrived in the token's phase.
  GPUSYNC_TEXT void wait(arrival_token&& token) {
    (void)Algorithm::wait(Grid::current(), words_, static_cast<typename Algorithm::token&&>(token.value_),
                          no_deadline{});
  }

  /// arrive() and wait().
  GPUSYNC_TEXT void sync() {
    wait(arrive());
  }

  /// As wait(), but gives up `span` after the first few polls have failed, which on a GPU is some ten microseconds
  /// after the call. All threads of a block get the same answer.
  ///
  /// After timed_out the phase is lost and the barrier unusable until its storage is reset: leave the kernel. The host
  /// finds the missing blocks in the storage. The first block to give up names them; a block that arrives in that very
  /// moment may be named too.
  /// Cost: that of wait(), and of the block's threads learning the answer (70 to 90 ns on H200).
  GPUSYNC_TEXT wait_status wait_for(arrival_token&& token, timeout span) {
    if constexpr (Algorithm::bounded) {
      Grid grid = Grid::current();
      const wait_status status = Algorithm::wait(grid, words_, token.value_, deadline(span));
      if (status == wait_status::timed_out && grid.thread() == 0) {
        roll_.report_missing(grid, Algorithm::stamp(token.value_), Algorithm::next_stamp(token.value_), token.phase_);
      }
      return status;
    } else {
      static_assert(detail::always_false<Grid> || Algorithm::bounded,
                    "this algorithm's waits cannot carry a deadline; choose one whose `bounded` is true");
    }
  }

  /// arrive() and wait_for().
  GPUSYNC_TEXT wait_status sync_for(timeout span) {
    return wait_for(arrive(), span);
  }

 private:
  uint32_t* words_;
  roll_call roll_;
  uint32_t capacity_;
  uint32_t phase_ = 0;
};

}  // namespace gpusync
