// What the three orderings mean for an arrival and for a wait: said once, for every algorithm.
#pragma once

#include <gpusync/core/ordering.hpp>

namespace gpusync::grid {

/// The memory order with which a block's arrival is published, and that with which the end of a wait is seen.
template <ordering Order>
inline constexpr memory_order publishes =
    Order == ordering::acquire_release ? memory_order::release : memory_order::relaxed;
template <ordering Order>
inline constexpr memory_order sees = Order == ordering::acquire_release ? memory_order::acquire : memory_order::relaxed;
/// For a step between an arrival and its release, which hands on what it has seen.
template <ordering Order>
inline constexpr memory_order hands_on =
    Order == ordering::acquire_release ? memory_order::acq_rel : memory_order::relaxed;

/// The head of every arrival: the block's threads meet, each behind a fence if the ordering is that of 2010. The block
/// barrier puts every thread's writes before what follows it; a release after it is cumulative and publishes them all.
GPUSYNC_TEMPLATE_TEXT
template <ordering Order, class Grid>
GPUSYNC_HD inline void gather_block(Grid grid) {
  if constexpr (Order == ordering::fence) Grid::memory::template fence<scope::device>();
  grid.sync_block();
}

/// What a polling thread does once it has seen the end of its wait: with ordering fence, a fence.
GPUSYNC_TEMPLATE_TEXT
template <ordering Order, class Grid>
GPUSYNC_HD inline void after_poll(Grid) {
  if constexpr (Order == ordering::fence) Grid::memory::template fence<scope::device>();
}

}  // namespace gpusync::grid
