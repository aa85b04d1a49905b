// Waiting for a word in memory: the one loop in which this library spins.
#pragma once

#include <gpusync/core/deadline.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync {

/// Polls `*word` with relaxed loads until `done(value)` holds or `limit` has passed.
///
/// With `Order == memory_order::acquire` the last step is an acquire of the same word, so that everything released
/// before the awaited value was written is visible to the calling thread. Polling relaxed and acquiring once is
/// cheaper than polling with acquire: on NVIDIA GPUs every acquiring load also invalidates the L1 cache.
///
/// The clock is read after every `Grid::polls_per_clock_read` failed polls, and only if the deadline is bounded: what
/// is over sooner costs what it costs without a deadline.
///
/// Progress: the writer of the word must be running or be scheduled independently of this thread.
GPUSYNC_TEMPLATE_TEXT
template <memory_order Order, scope Scope, class Grid, class Done, class Deadline>
GPUSYNC_HD inline wait_status wait_until(Grid grid, const uint32_t* word, Done done, Deadline limit) {
  using memory = typename Grid::memory;
  static_assert(Order == memory_order::relaxed || Order == memory_order::acquire,
                "a wait is relaxed or acquires; it cannot release anything");
  uint32_t polls = 0;
  while (!done(memory::template load<memory_order::relaxed, Scope>(word))) {
    if constexpr (Deadline::bounded) {
      if (++polls % Grid::polls_per_clock_read == 0 && limit.passed(grid.now())) return wait_status::timed_out;
    }
    grid.pause();
  }
  if constexpr (Order == memory_order::acquire) memory::template acquire<Scope>(word);
  return wait_status::completed;
}

}  // namespace gpusync
