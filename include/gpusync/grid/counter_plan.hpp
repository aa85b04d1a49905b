// How placed counters are used on a grid of a given shape: plans, and the rules that choose among them.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync::grid {

/// How the blocks of a grid share counters. Any plan is correct on any grid; plans differ in speed.
struct counter_plan {
  uint16_t sub_counters;  ///< the members are spread over so many counters, all of which each block polls: 1, 2, 4, 8
  uint16_t copies;        ///< of each counter on each side, each polled by a part of the side's blocks: 1, 2, 4, 8
  uint16_t sides;         ///< 2: copies on both sides of the L2, a block polls its own side's; 1: no sides
  uint16_t second_warp;   ///< 1: the second warp arrives while the first polls, and both drain (for one block per SM)
  uint32_t first_poll;    ///< cycles from the arrival to the first poll, for polls delay the arrivals
};

GPUSYNC_HD constexpr bool operator==(const counter_plan& a, const counter_plan& b) {
  return a.sub_counters == b.sub_counters && a.copies == b.copies && a.sides == b.sides &&
         a.second_warp == b.second_warp && a.first_poll == b.first_poll;
}

/// A plan and the grids that it is for: those with at most so many blocks per SM of at most so many threads.
struct counter_rule {
  static constexpr uint32_t unit = 4;

  uint32_t blocks_per_sm;  ///< in quarters: 1 is a grid of a block on every fourth SM
  uint32_t threads;
  counter_plan plan;
};

/// Rules in order: the first that fits is taken, the last fits every grid.
struct counter_rules {
  static constexpr uint32_t most = 16;
  static constexpr uint32_t any = ~0u;

  uint32_t count = 0;
  counter_rule rules[most] = {};

  /// The plan for `members` blocks of `threads` threads on a device of `sm_count` multiprocessors. Precondition: at
  /// least one rule.
  GPUSYNC_HD constexpr counter_plan choose(uint32_t members, uint32_t threads, uint32_t sm_count) const {
    GPUSYNC_NOT_UNROLLED
    for (uint32_t i = 0; i + 1 < count; ++i) {
      const uint32_t limit = rules[i].blocks_per_sm;
      const bool few = limit == any || members * counter_rule::unit <= limit * sm_count;
      if (few && threads <= rules[i].threads) return rules[i].plan;
    }
    return rules[count - 1].plan;
  }
};

/// What a grid of `members` blocks of `threads` threads, in warps of `warp_size`, makes of a plan: never more counters
/// than members, never more lanes than a block has.
GPUSYNC_HD constexpr counter_plan fit(counter_plan plan, uint32_t members, uint32_t threads, uint32_t warp_size) {
  const uint32_t lanes = warp_size > 1 && threads > warp_size ? warp_size : threads;
  while (plan.sub_counters > 1 && (plan.sub_counters > members || plan.sub_counters > lanes)) plan.sub_counters /= 2;
  while (plan.copies > 1 && uint32_t{plan.sides} * plan.copies > lanes) plan.copies /= 2;
  if (plan.sides > lanes) plan.sides = 1;
  if (plan.second_warp != 0 && threads < warp_size + uint32_t{plan.sides} * plan.copies) plan.second_warp = 0;
  return plan;
}

}  // namespace gpusync::grid
