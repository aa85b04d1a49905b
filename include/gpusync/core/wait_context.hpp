// What goes on while a wait lasts: a wait that turns out long says that its block is here, and may give up.
#pragma once

#include <gpusync/core/arrival_log.hpp>
#include <gpusync/core/deadline.hpp>

namespace gpusync {

/// Watches over one wait of one thread. Deadline: no_deadline or deadline. First: of a launch's first phase; a type of
/// its own, so that what a long wait is given is of one caller, and read where it is used. Of two, a compiler has it
/// read in every phase of a loop: five words of the kernel's parameters by each warp, 0.1 us for eight warps on a
/// multiprocessor, 0.6 us for 64.
template <class Deadline, bool First = false>
class wait_context {
 public:
  /// Whether there is a deadline.
  static constexpr bool bounded = Deadline::bounded;

  /// `place` and `stamp`: what to note in `log` should the wait turn out long. `timeout_flag`: what the grid's
  /// prepare_timeout_flag() gave, if there is a deadline; 0 if the block is told in another way.
  GPUSYNC_HD wait_context(Deadline limit, const arrival_log& log, uint32_t place, uint32_t stamp,
                          uint32_t timeout_flag = 0)
      : limit_(limit), log_(log), place_(place), stamp_(stamp), timeout_flag_(timeout_flag) {}

  /// The wait has become long: notes in the arrival log that the block is here.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void note(Grid grid) const {
    log_.mark(grid, place_, stamp_);
  }

  /// Every Grid::polls_per_look polls of a long wait: whether to give up. The first call begins the deadline's span.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool late(Grid grid) {
    if constexpr (bounded) return limit_.passed(grid.now());
    return false;
  }

  /// Asked as often: whether a phase has been given up, by this launch or by one before it. Then nobody can complete
  /// this one, or only this one, which may be over by now.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool hopeless([[maybe_unused]] Grid grid) const {
    if constexpr (Grid::may_lose_phases) return log_.lost(grid) != 0;
    return false;
  }

  /// This thread has given up: prepares the block's being told of it by sync_block_any(). A wait without a deadline
  /// ends the launch.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void give_up(Grid grid) const {
    if constexpr (bounded) {
      if (timeout_flag_ != 0) grid.raise_timeout_flag(timeout_flag_);
    } else if constexpr (Grid::may_lose_phases) {
      end_hopeless(grid, log_.report);
    }
  }

  /// What sync_block_any() is to be given.
  GPUSYNC_HD uint32_t timeout_flag() const { return timeout_flag_; }

  /// The deadline as far as it has run, for a further wait of the same thread in the same phase.
  GPUSYNC_HD Deadline limit() const { return limit_; }
  /// Goes on with a deadline that limit() gave, of a copy of this context that has waited in its place.
  GPUSYNC_HD void go_on_with(Deadline limit) { limit_ = limit; }

 private:
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD GPUSYNC_COLD static void end_hopeless(Grid grid, timeout_report* report) {
    grid.fail(report, misuse::lost_phase, 0);
  }

  Deadline limit_;
  arrival_log log_;
  uint32_t place_;
  uint32_t stamp_;
  uint32_t timeout_flag_;
};

/// The end of a wait: the threads of the block meet, and if there is a deadline all learn whether one of them gave up.
GPUSYNC_API_TEMPLATE
template <class Grid, class Context>
GPUSYNC_HD inline wait_status sync_block_status(Grid grid, wait_status mine, const Context& context) {
  if constexpr (Context::bounded) {
    const bool late = grid.sync_block_any(mine == wait_status::timed_out, context.timeout_flag());
    return late ? wait_status::timed_out : wait_status::completed;
  } else {
    grid.sync_block();
    return wait_status::completed;
  }
}

}  // namespace gpusync
