// Waiting for a word in memory: the one loop in which this library spins.
#pragma once

#include <gpusync/core/ordering.hpp>
#include <gpusync/core/wait_context.hpp>

namespace gpusync {

namespace detail {

/// How a wait that was not soon over ended, and what is left of what it was given.
template <class Done, class Deadline>
struct long_wait {
  wait_status status;
  Done done;
  Deadline limit;
};

/// The rest of a wait whose first Grid::polls_per_look polls have failed. Out of line: what it needs besides the word
/// (a clock, a place in the arrival log) takes no registers and no instructions of waits that are sooner over.
GPUSYNC_API_TEMPLATE
template <memory_order Order, scope Scope, class Grid, class Word, class Done, class Deadline, bool First>
GPUSYNC_HD GPUSYNC_COLD inline long_wait<Done, Deadline> wait_long(Grid grid, const Word* word, Done done,
                                                                   wait_context<Deadline, First> context) {
  using memory = typename Grid::memory;
  context.note(grid);
  for (bool late = false; !late;) {
    late = context.late(grid) || context.hopeless(grid);
    GPUSYNC_UNROLL(1)
    for (uint32_t polls = late ? 1 : Grid::polls_per_look; polls != 0; --polls) {
      grid.pause();
      if (done(memory::template load<memory_order::relaxed, Scope>(word))) {
        if constexpr (Order == memory_order::acquire) memory::template acquire<Scope>(word);
        return {wait_status::completed, done, context.limit()};
      }
    }
  }
  context.give_up(grid);
  return {wait_status::timed_out, done, context.limit()};
}

}  // namespace detail

/// The first Grid::polls_per_look polls of a wait, without what a long one needs: whether one of them found that
/// `done(value)` holds.
GPUSYNC_API_TEMPLATE
template <memory_order Order, scope Scope, class Grid, class Word, class Done>
GPUSYNC_HD inline bool soon_over(Grid grid, const Word* word, Done done) {
  using memory = typename Grid::memory;
  // Two ways out of this loop, and the acquire in it: with one, the compiler makes the polling lanes of a warp meet
  // before they go on (24 ns on H200).
  GPUSYNC_UNROLL(4)
  for (uint32_t polls = Grid::polls_per_look; polls != 0; --polls) {
    if (done(memory::template load<memory_order::relaxed, Scope>(word))) {
      if constexpr (Order == memory_order::acquire) memory::template acquire<Scope>(word);
      return true;
    }
    if (polls != 1) grid.pause();
  }
  return false;
}

/// Polls `*word` with relaxed loads until `done(value)` holds or `context` gives up, which it is asked for only after
/// Grid::polls_per_look polls (see core/wait_context.hpp): what is over before that costs nothing but the polls.
///
/// With `Order == memory_order::acquire` the last step is an acquire of the same word, so that everything released
/// before the awaited value was written is visible to the calling thread. Polling relaxed and acquiring once is
/// cheaper than polling with acquire: on NVIDIA GPUs every acquiring load also invalidates the L1 cache.
///
/// Word: what Grid::memory loads, e.g. uint32_t, uint64_t or word_pair. `done` may keep what it has seen; it is given
/// back changed only by detail::poll_until_or().
/// Progress: the writer of the word must be running or be scheduled independently of this thread.
GPUSYNC_API_TEMPLATE
template <memory_order Order, scope Scope, class Grid, class Word, class Done, class Deadline, bool First>
GPUSYNC_HD inline wait_status poll_until(Grid grid, const Word* word, Done done,
                                         wait_context<Deadline, First>& context) {
  static_assert(Order == memory_order::relaxed || Order == memory_order::acquire,
                "a wait is relaxed or acquires; it cannot release anything");
  if (soon_over<Order, Scope>(grid, word, done)) return wait_status::completed;
  const detail::long_wait<Done, Deadline> end = detail::wait_long<Order, Scope>(grid, word, done, context);
  context.go_on_with(end.limit);
  return end.status;
}

namespace detail {

/// As poll_until(), with a wider question once the wait has become long: `later`, which may change with each answer and
/// comes back with the status. Word: uint32_t or uint64_t.
GPUSYNC_API_TEMPLATE
template <memory_order Order, scope Scope, class Grid, class Word, class Soon, class Later, class Deadline, bool First>
GPUSYNC_HD inline long_wait<Later, Deadline> poll_until_or(Grid grid, const Word* word, Soon soon, Later later,
                                                           wait_context<Deadline, First>& context) {
  if (soon_over<Order, Scope>(grid, word, soon)) return {wait_status::completed, later, context.limit()};
  const long_wait<Later, Deadline> end = wait_long<Order, Scope>(grid, word, later, context);
  context.go_on_with(end.limit);
  return end;
}

}  // namespace detail

}  // namespace gpusync
