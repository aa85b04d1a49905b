// Waiting for a word in memory: the one loop in which this library spins.
#pragma once

#include <gpusync/core/deadline.hpp>
#include <gpusync/core/ordering.hpp>

namespace gpusync {

/// Polls `*word` with relaxed loads until `done(value)` holds or `watch` gives up.
///
/// With `Order == memory_order::acquire` the last step is an acquire of the same word, so that everything released
/// before the awaited value was written is visible to the calling thread. Polling relaxed and acquiring once is
/// cheaper than polling with acquire: on NVIDIA GPUs every acquiring load also invalidates the L1 cache.
///
/// `watch.look(grid, polls)` is called in every `Grid::polls_per_look`-th poll and says whether to give up should it
/// fail: what is over sooner costs nothing but the polls. See core/watch.hpp.
///
/// Progress: the writer of the word must be running or be scheduled independently of this thread.
GPUSYNC_TEMPLATE_TEXT
template <memory_order Order, scope Scope, class Grid, class Done, class Watch>
GPUSYNC_HD inline wait_status wait_until(Grid grid, const uint32_t* word, Done done, Watch& watch) {
  using memory = typename Grid::memory;
  static_assert(Order == memory_order::relaxed || Order == memory_order::acquire,
                "a wait is relaxed or acquires; it cannot release anything");
  for (uint32_t polls = 1;; ++polls) {
    const uint32_t value = memory::template load<memory_order::relaxed, Scope>(word);
    // Between the load and the use of its value: what is done here, the load hides.
    bool given_up = false;
    if (polls % Grid::polls_per_look == 0) given_up = watch.look(grid, polls);
    if (done(value)) break;
    if (given_up) return wait_status::timed_out;
    grid.pause();
  }
  if constexpr (Order == memory_order::acquire) memory::template acquire<Scope>(word);
  return wait_status::completed;
}

}  // namespace gpusync
