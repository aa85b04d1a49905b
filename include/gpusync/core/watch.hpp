// What goes on while a wait lasts: a wait that turns out long says that its block is here, and may give up.
#pragma once

#include <gpusync/core/deadline.hpp>
#include <gpusync/core/roll_call.hpp>

namespace gpusync {

/// Watches over one wait of one thread. Deadline: no_deadline or deadline.
template <class Deadline>
class watch {
 public:
  static constexpr bool bounded = Deadline::bounded;

  /// `place` and `stamp`: what to note in `roll` should the wait turn out long. `telling`: what the grid's
  /// prepare_telling() gave, if there is a deadline.
  GPUSYNC_HD watch(Deadline limit, const roll_call& roll, uint32_t place, uint32_t stamp, uint32_t telling = 0)
      : limit_(limit), roll_(roll), place_(place), stamp_(stamp), telling_(telling) {}

  /// The wait has become long: notes in the roll call that the block is here.
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD void note(Grid grid) const {
    roll_.mark(grid, place_, stamp_);
  }

  /// Every Grid::polls_per_look polls of a long wait: whether to give up. The first call begins the deadline's span.
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD bool late(Grid grid) {
    if constexpr (bounded) return limit_.passed(grid.now());
    return false;
  }

  /// Asked as often: whether a phase has been given up, by this launch or by one before it. Then nobody can complete
  /// this one, or only this one. A wait without a deadline ends the launch.
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD bool hopeless(Grid grid) const {
    if constexpr (Grid::may_lose_phases) {
      if (roll_.lost(grid) == 0) return false;
      if constexpr (!bounded) end_hopeless(grid, roll_.report);
      return true;
    }
    return false;
  }

  /// This thread has given up: prepares the block's being told of it by sync_block_telling().
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD void tell(Grid grid) const {
    if constexpr (bounded) grid.tell_block(telling_);
  }

  /// What sync_block_telling() is to be given.
  GPUSYNC_HD uint32_t telling() const { return telling_; }

  /// The deadline as far as it has run, for a further wait of the same thread in the same phase.
  GPUSYNC_HD Deadline limit() const { return limit_; }
  GPUSYNC_HD void go_on_with(Deadline limit) { limit_ = limit; }

 private:
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD GPUSYNC_COLD static void end_hopeless(Grid grid, timeout_report* report) {
    grid.fail(report, misuse::lost_phase, 0);
  }

  Deadline limit_;
  roll_call roll_;
  uint32_t place_;
  uint32_t stamp_;
  uint32_t telling_;
};

/// The end of a wait: the threads of the block meet, and if there is a deadline all learn whether one of them gave up.
GPUSYNC_TEMPLATE_TEXT
template <class Grid, class Watch>
GPUSYNC_HD inline wait_status meet(Grid grid, wait_status mine, const Watch& watch) {
  if constexpr (Watch::bounded) {
    const bool late = grid.sync_block_telling(mine == wait_status::timed_out, watch.telling());
    return late ? wait_status::timed_out : wait_status::completed;
  } else {
    grid.sync_block();
    return wait_status::completed;
  }
}

}  // namespace gpusync
