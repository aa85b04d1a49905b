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

  /// `rank` and `stamp`: what to note in `roll` should the wait turn out long. `telling`: what the grid's
  /// prepare_telling() gave, if there is a deadline.
  GPUSYNC_HD watch(Deadline limit, const roll_call& roll, uint32_t rank, uint32_t stamp, uint32_t telling = 0)
      : limit_(limit), roll_(&roll), rank_(rank), stamp_(stamp), telling_(telling) {}

  /// After `polls` failed polls, a multiple of Grid::polls_per_look: whether to give up. The clock is read every
  /// Grid::polls_per_clock_read polls, and only if there is a deadline.
  GPUSYNC_TEMPLATE_TEXT
  template <class Grid>
  GPUSYNC_HD bool look(Grid grid, uint32_t polls) {
    if (polls == Grid::polls_per_look) roll_->mark(grid, rank_, stamp_);
    if constexpr (bounded) return polls % Grid::polls_per_clock_read == 0 && limit_.passed(grid.now());
    return false;
  }

  /// A number that tells this barrier from the others of a kernel; not 0.
  GPUSYNC_HD uint32_t key() const { return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(roll_->claimed)) | 1u; }

  /// What sync_block_telling() is to be given.
  GPUSYNC_HD uint32_t telling() const { return telling_; }

 private:
  Deadline limit_;
  const roll_call* roll_;
  uint32_t rank_;
  uint32_t stamp_;
  uint32_t telling_;
};

/// The end of a wait: the threads of the block meet, and if there is a deadline all learn whether one of them gave up.
GPUSYNC_TEMPLATE_TEXT
template <class Grid, class Watch>
GPUSYNC_HD inline wait_status meet(Grid grid, wait_status mine, const Watch& watch) {
  if constexpr (Watch::bounded) {
    const bool late = grid.sync_block_telling(mine == wait_status::timed_out, watch.key(), watch.telling());
    return late ? wait_status::timed_out : wait_status::completed;
  } else {
    grid.sync_block();
    return wait_status::completed;
  }
}

}  // namespace gpusync
