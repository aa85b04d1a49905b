// What the three orderings mean for an arrival and for a wait: said once, for every algorithm.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>

namespace gpusync::grid {

/// The memory order with which a block's arrival is published.
template <ordering Order>
inline constexpr memory_order publishes =
    Order == ordering::acquire_release ? memory_order::release : memory_order::relaxed;
/// That with which the end of a wait is seen.
template <ordering Order>
inline constexpr memory_order sees = Order == ordering::acquire_release ? memory_order::acquire : memory_order::relaxed;
/// For a step between an arrival and its release, which hands on what it has seen.
template <ordering Order>
inline constexpr memory_order hands_on =
    Order == ordering::acquire_release ? memory_order::acq_rel : memory_order::relaxed;

/// The head of every arrival: the block's threads meet, each behind a fence if the ordering is that of 2010. The block
/// barrier puts every thread's writes before what follows it; a release after it is cumulative and publishes them all.
GPUSYNC_API_TEMPLATE
template <ordering Order, class Grid>
GPUSYNC_HD inline void release_block(Grid grid) {
  if constexpr (Order == ordering::fence) Grid::memory::template fence<scope::device>();
  grid.sync_block();
}

/// What a polling thread does once it has seen the end of its wait: with ordering fence, a fence.
GPUSYNC_API_TEMPLATE
template <ordering Order, class Grid>
GPUSYNC_HD inline void after_poll(Grid) {
  if constexpr (Order == ordering::fence) Grid::memory::template fence<scope::device>();
}

/// The wait of barriers whose blocks each poll one word: thread 0 polls `*word` until it has come to `goal`, then the
/// block's threads meet.
GPUSYNC_API_TEMPLATE
template <ordering Order, class Grid, class Context>
GPUSYNC_HD inline wait_status wait_for_goal(Grid grid, const uint32_t* word, uint32_t goal, Context& context) {
  wait_status status = wait_status::completed;
  if (grid.thread() == 0) {
    status = poll_until<sees<Order>, scope::device>(
        grid, word, [goal](uint32_t current) { return phase_reached(current, goal); }, context);
    after_poll<Order>(grid);
  }
  return sync_block_status(grid, status, context);
}

}  // namespace gpusync::grid
