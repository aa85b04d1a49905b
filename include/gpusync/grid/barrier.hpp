// The front door to the grid barriers: what a kernel holds in its hand.
#pragma once

#include <gpusync/core/watch.hpp>
#include <gpusync/grid/members.hpp>

namespace gpusync {

namespace detail {
/// False, and only known to be so once T is: for static_asserts in templates.
template <class T>
inline constexpr bool always_false = false;

/// Whether an algorithm has a form of its own for a block that waits as soon as it has arrived.
template <class Algorithm, class = void>
struct has_fused_form {
  static constexpr bool value = false;
};
template <class Algorithm>
struct has_fused_form<Algorithm, decltype(void(Algorithm::has_fused_form))> {
  static constexpr bool value = Algorithm::has_fused_form;
};
}  // namespace detail

/// A barrier that joins blocks of one running grid. A small value: pass it to the kernel by value; it stays valid as
/// long as the storage that made it.
///
/// All threads of a block call each function together, and all members pass through the same sequence of phases.
/// Between arrive() and wait() a block may do work of its own that needs nothing from the other blocks.
/// A block that is not a member must not call it: on the host, launch() throws invalid_argument then; on a GPU the
/// kernel traps, so that the launch fails (and with it the CUDA context) instead of corrupting the barrier. The number
/// of members may differ from launch to launch, up to the storage's capacity. One storage serves one running kernel at
/// a time; kernels that follow each other in a stream share it freely.
///
/// Algorithm: one of namespace grid, e.g. grid::lock_based<>. Grid: cuda_grid or host_grid. Members: whole_grid,
/// block_range (a part of the grid) or dropping_blocks (blocks may leave early).
template <class Algorithm, class Grid, class Members = whole_grid>
class basic_grid_barrier {
 public:
  using algorithm = Algorithm;
  using members = Members;

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

  /// Use the storage's barrier() instead.
  GPUSYNC_HD basic_grid_barrier(uint32_t* words, roll_call roll, uint32_t capacity, Members who = Members())
      : words_(words), roll_(roll), capacity_(capacity), who_(who) {}

  /// The most members that the storage behind this barrier serves.
  GPUSYNC_HD uint32_t capacity() const { return capacity_; }
  /// The report of the storage behind this barrier, readable by the host.
  GPUSYNC_HD const timeout_report* report() const { return roll_.report; }
  /// Which blocks it joins.
  GPUSYNC_HD const Members& who() const { return who_; }
  /// A barrier on the same storage for another view of the calling threads, such as one warp that acts for its block
  /// (cuda_warp_grid). Call it before the first phase, and use only one of the two in a launch.
  template <class OtherGrid>
  GPUSYNC_HD basic_grid_barrier<Algorithm, OtherGrid, Members> on() const {
    return {words_, roll_, capacity_, who_};
  }

#if !defined(__CUDACC_RTC__)
  /// Host: says that a launch ended in the middle of a phase, so that the storage must be reset before the next one.
  void abandon() const {
    __atomic_store_n(&roll_.report->written, +timeout_report::abandoned, __ATOMIC_RELEASE);
  }
#endif

  /// Does now what the block's first arrival would do: finds the block's part in the barrier and the phase that it is
  /// in. Need not be called. Before a loop of phases it keeps this out of the loop's code, which is worth a few
  /// registers and instructions. Not between arrive() and wait().
  GPUSYNC_TEXT void enter() {
    state_ = joined(words_, who_.of(Grid::current()));
    joined_ = true;
  }

  /// Says that this block has come to the end of its phase; does not wait for the others.
  GPUSYNC_TEXT arrival_token arrive() {
    Grid grid = Grid::current();
    arrival_token token = arrive_unnoted(grid);
    if constexpr (Algorithm::bounded) {
      // The block may stay away from wait() for long: only this note tells it from a missing one.
      if (grid.thread() == 0) roll_.mark(grid, who_.place(grid), Algorithm::stamp(token.value_));
    }
    return token;
  }

  /// Waits until every member has arrived in the token's phase.
  GPUSYNC_TEXT void wait(arrival_token&& token) {
    (void)wait_until_passed<false>(token, no_deadline{});
  }

  /// arrive() and wait().
  GPUSYNC_TEXT void sync() {
    arrival_token token = arrive_to_wait(Grid::current());
    (void)wait_until_passed<true>(token, no_deadline{});
  }

  /// As wait(), but gives up `span` after the first few polls have failed, which on a GPU is some ten microseconds
  /// after the call. All threads of a block get the same answer.
  ///
  /// After timed_out the phase is lost and the barrier unusable until its storage is reset: leave the kernel. The host
  /// finds the missing blocks in the storage. The first block to give up names them; a block that arrives in the last
  /// few microseconds before that may be named too.
  /// Cost: that of wait() and one read of shared memory (a word of static shared memory per block).
  GPUSYNC_TEXT wait_status wait_for(arrival_token&& token, timeout span) {
    return wait_bounded<false>(token, span);
  }

  /// arrive() and wait_for().
  GPUSYNC_TEXT wait_status sync_for(timeout span) {
    arrival_token token = arrive_to_wait(Grid::current());
    return wait_bounded<true>(token, span);
  }

  /// Arrives in this phase, and takes part in none after it: the block may leave the kernel or go on without the
  /// barrier, which it must not call again. Waits only where the algorithm needs every member's help to end the phase
  /// (Algorithm::waiting_forwards). Members: dropping_blocks.
  GPUSYNC_TEXT void arrive_and_drop() {
    static_assert(Members::may_drop, "only a barrier made by dropping_barrier() can be left early");
    static_assert(grid::is_safe<Algorithm>::value, "as published in 2010, its number of members is fixed");
    static_assert(Algorithm::order != ordering::none, "nothing would order the news of the drop before the arrival");
    Grid grid = Grid::current();
    if (grid.thread() == 0) who_.drop(grid, phase_);
    arrival_token token = arrive_unnoted(grid);
    if constexpr (Algorithm::waiting_forwards) wait(static_cast<arrival_token&&>(token));
  }

 private:
  template <class, class>
  friend class warpwise_grid_barrier;

  /// Out of line: it would stand in the middle of every loop of phases, 4 KB of code that are jumped over each time
  /// (20 ns on H200).
  GPUSYNC_TEXT GPUSYNC_COLD static typename Algorithm::state joined(uint32_t* words, membership who) {
    // Its arrivals would be counted as other blocks'.
    if (who.rank >= who.count) Grid::current().refuse_outsider(who.count);
    return Algorithm::join(Grid::current(), words, who);
  }

  /// Out of line for the same reason.
  GPUSYNC_TEXT GPUSYNC_COLD static void report(roll_call roll, const Members& who, uint32_t stamp, uint32_t next,
                                               uint32_t phase) {
    roll.report_missing(Grid::current(), who, stamp, next, phase);
  }

  GPUSYNC_TEXT void join(Grid grid) {
    if (joined_) return;
    state_ = joined(words_, who_.of(grid));
    joined_ = true;
  }

  /// For a block that may stay away from its wait for long.
  GPUSYNC_TEXT arrival_token arrive_unnoted(Grid grid) {
    join(grid);
    return arrival_token(Algorithm::arrive(grid, words_, state_), phase_++);
  }

  /// For a block that waits at once.
  GPUSYNC_TEXT arrival_token arrive_to_wait(Grid grid) {
    join(grid);
    if constexpr (detail::has_fused_form<Algorithm>::value) {
      return arrival_token(Algorithm::arrive_fused(grid, words_, state_), phase_++);
    } else {
      return arrival_token(Algorithm::arrive(grid, words_, state_), phase_++);
    }
  }

  GPUSYNC_TEMPLATE_TEXT
  template <bool JustArrived, class Deadline>
  GPUSYNC_HD wait_status wait_until_passed(arrival_token& token, Deadline limit) {
    Grid grid = Grid::current();
    watch<Deadline> watching(limit, roll_, who_.place(grid), Algorithm::stamp(token.value_), telling_);
    wait_status status;
    if constexpr (JustArrived && detail::has_fused_form<Algorithm>::value) {
      status =
          Algorithm::wait_fused(grid, words_, state_, static_cast<typename Algorithm::token&&>(token.value_), watching);
    } else {
      status = Algorithm::wait(grid, words_, state_, static_cast<typename Algorithm::token&&>(token.value_), watching);
    }
    if constexpr (Members::may_drop) {
      if (status == wait_status::completed && who_.changed(grid, token.phase_)) joined_ = false;
    }
    return status;
  }

  GPUSYNC_TEMPLATE_TEXT
  template <bool JustArrived>
  GPUSYNC_HD wait_status wait_bounded(arrival_token& token, timeout span) {
    if constexpr (Algorithm::bounded) {
      Grid grid = Grid::current();
      if (telling_ == 0) telling_ = grid.prepare_telling();
      const uint32_t stamp = Algorithm::stamp(token.value_);
      const uint32_t next = Algorithm::next_stamp(token.value_);
      const wait_status status = wait_until_passed<JustArrived>(token, deadline(span));
      // Every thread calls; the first of the launch reports. To ask here for thread 0 would cost all waits.
      if (status == wait_status::timed_out) report(roll_, who_, stamp, next, token.phase_);
      return status;
    } else {
      static_assert(detail::always_false<Grid> || Algorithm::bounded,
                    "this algorithm's waits cannot carry a deadline; choose one whose `bounded` is true");
    }
  }

  uint32_t* words_;
  roll_call roll_;
  uint32_t capacity_;
  Members who_;
  typename Algorithm::state state_{};
  uint32_t phase_ = 0;
  bool joined_ = false;
  uint32_t telling_ = 0;  ///< what the grid needs to tell a block of a timed-out wait; 0: not asked for yet
};

}  // namespace gpusync
