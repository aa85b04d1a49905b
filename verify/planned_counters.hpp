// Placed counters with a plan, for the explorer.
#pragma once

#include <gpusync/grid/placed_counters.hpp>

namespace gpusync::verify {

/// placed_counters with a plan of which two threads per block make use. Fitted: as a launch hands it over, which found
/// that it fits.
template <ordering Order, uint16_t SubCounters, uint16_t Copies, bool Fitted = false>
struct planned_counters : gpusync::grid::placed_counters<Order> {
  using base = gpusync::grid::placed_counters<Order>;
  static typename base::places places_in(uint32_t* words) {
    typename base::places made = base::places_in(words);
    const uint16_t partitions = Copies == 1 ? 2 : 1;
    made.plan = gpusync::grid::packed_plan::of({SubCounters, Copies, partitions, 0, 0});
    if (Fitted) made.plan.bits |= gpusync::grid::packed_plan::fitted;
    return made;
  }
};

}  // namespace gpusync::verify
