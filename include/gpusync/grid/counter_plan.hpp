// How placed counters are used on a grid of a given shape: plans, and the rules that choose among them.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync::grid {

/// How the blocks of a grid share counters. Any plan is correct on any grid; plans differ in speed.
struct counter_plan {
  uint16_t sub_counters;  ///< the members are spread over so many counters, all of which each block polls: 1, 2, 4, 8
  uint16_t copies;  ///< of each counter on each partition, each polled by a part of the partition's blocks: 1, 2, 4, 8
  uint16_t partitions;  ///< 2: copies on both partitions of the L2, a block polls its own partition's; 1: no partitions
  uint16_t second_warp;   ///< 1: the second warp arrives while the first polls, and both drain (for one block per SM)
  uint32_t poll_backoff;  ///< cycles from the arrival to the first poll, for polls delay the arrivals

  /// The same for a kernel that is a node of a graph: there the fences with which a second warp drains cost some
  /// 0.1 us a phase on an H200, where in a stream they gain (results/nvidia-h200/barrier-versions.txt).
  GPUSYNC_HD constexpr counter_plan in_graph() const {
    if (second_warp == 0) return *this;
    return {sub_counters, copies, partitions, 0, poll_backoff < 100 ? poll_backoff : 100};
  }
};

/// Whether two plans are the same.
GPUSYNC_HD constexpr bool operator==(const counter_plan& a, const counter_plan& b) {
  return a.sub_counters == b.sub_counters && a.copies == b.copies && a.partitions == b.partitions &&
         a.second_warp == b.second_warp && a.poll_backoff == b.poll_backoff;
}

/// Whether a plan is one that the counters can follow.
GPUSYNC_HD constexpr bool valid(const counter_plan& plan) {
  const auto power = [](uint32_t value) { return value == 1 || value == 2 || value == 4 || value == 8; };
  return power(plan.sub_counters) && power(plan.copies) && plan.sub_counters * plan.copies <= 8 &&
         (plan.partitions == 1 || plan.partitions == 2) && plan.second_warp <= 1 && plan.poll_backoff <= 100000;
}

/// A plan and the grids that it is for: those with at most so many blocks per SM of at most so many threads.
struct counter_rule {
  static constexpr uint32_t unit = 4;  ///< parts of a block per SM that `blocks_per_sm` counts in

  uint32_t blocks_per_sm;  ///< in quarters: 1 is a grid of a block on every fourth SM
  uint32_t threads;        ///< per block, at most
  counter_plan plan;       ///< for grids that fit
};

/// Rules in order: the first that fits is taken, the last fits every grid.
struct counter_rules {
  static constexpr uint32_t most = 16;  ///< rules
  static constexpr uint32_t any = ~0u;  ///< no limit
  /// Of a block, where the launch is not known.
  static constexpr uint32_t usual_threads = 256;

  uint32_t count = 0;             ///< of rules
  counter_rule rules[most] = {};  ///< the first `count` are used

  /// The plan for `members` blocks of `threads` threads on a device of `sm_count` multiprocessors. Precondition: at
  /// least one rule.
  GPUSYNC_HD constexpr counter_plan choose(uint32_t members, uint32_t threads, uint32_t sm_count) const {
    GPUSYNC_UNROLL(1)
    for (uint32_t i = 0; i + 1 < count; ++i) {
      const uint32_t limit = rules[i].blocks_per_sm;
      const bool few = limit == any || members * counter_rule::unit <= limit * sm_count;
      if (few && threads <= rules[i].threads) return rules[i].plan;
    }
    return rules[count - 1].plan;
  }
};

/// The rules that ship for one kind of device: a file in grid/tuned/, which `gpusync tune` writes.
struct tuned_counters {
  const char* device;   ///< its name, as the driver has it
  counter_rules rules;  ///< as barrier_tuning has them
};

/// A plan as it travels to a kernel, in one word. Numbers of counters and copies are powers of two.
struct packed_plan {
  uint32_t bits = 0;  ///< what the functions below read, each its part

  static constexpr uint32_t fitted = 1u << 6;        ///< made to fit by the host, for the very launch
  static constexpr uint32_t poll_backoff_shift = 8;  ///< where poll_backoff() begins in `bits`, and fills the rest

  /// The plan in one word, not yet fitted. Precondition: valid(plan).
  GPUSYNC_HD static constexpr packed_plan of(const counter_plan& plan) {
    return {log2(plan.sub_counters) | log2(plan.copies) << 2 | (plan.partitions - 1u) << 4 |
            static_cast<uint32_t>(plan.second_warp) << 5 | plan.poll_backoff << poll_backoff_shift};
  }

  /// The plan again.
  GPUSYNC_HD constexpr counter_plan unpacked() const {
    return {static_cast<uint16_t>(1u << counters_log2()), static_cast<uint16_t>(1u << copies_log2()),
            static_cast<uint16_t>(1u << partitions_log2()), static_cast<uint16_t>(second_warp()), poll_backoff()};
  }

  /// The logarithm of counter_plan::sub_counters: 0 to 3.
  GPUSYNC_HD constexpr uint32_t counters_log2() const { return bits & 3; }
  /// Of counter_plan::copies: 0 to 3.
  GPUSYNC_HD constexpr uint32_t copies_log2() const { return bits >> 2 & 3; }
  /// Of counter_plan::partitions: 0 or 1.
  GPUSYNC_HD constexpr uint32_t partitions_log2() const { return bits >> 4 & 1; }
  /// counter_plan::second_warp: 0 or 1.
  GPUSYNC_HD constexpr uint32_t second_warp() const { return bits >> 5 & 1; }
  /// Fitted, with a single counter that has a single copy on each partition.
  GPUSYNC_HD constexpr bool has_one_counter() const { return (bits & (fitted | 15)) == fitted; }
  /// The same plan, if it has one; as something that a compiler knows of it.
  GPUSYNC_HD constexpr packed_plan of_one_counter() const { return {bits & ~15u}; }
  /// Whether the host has made it fit the launch, so that a kernel need not.
  GPUSYNC_HD constexpr bool is_fitted() const { return (bits & fitted) != 0; }
  /// counter_plan::poll_backoff: cycles.
  GPUSYNC_HD constexpr uint32_t poll_backoff() const { return bits >> poll_backoff_shift; }
  /// Which of the words of each line is this plan's. Plans with other counters must not share words, for a word takes
  /// part in a phase only if its plan is in use. The words 7, 10, 11, 13, 14, 15 and the same and 16 more are no
  /// plan's: those would have more than 8 counters and copies.
  GPUSYNC_HD constexpr uint32_t word() const { return bits & 31; }

 private:
  GPUSYNC_HD static constexpr uint32_t log2(uint32_t power) { return power >= 8 ? 3 : power >= 4 ? 2 : power / 2; }
};

/// What a grid of `members` blocks of `threads` threads, in warps of `warp_size`, makes of a plan: never more counters
/// than members, never more lanes than a block has.
GPUSYNC_HD constexpr packed_plan fit(packed_plan plan, uint32_t members, uint32_t threads, uint32_t warp_size) {
  const uint32_t lanes = warp_size > 1 && threads > warp_size ? warp_size : threads;
  uint32_t counters = plan.counters_log2(), copies = plan.copies_log2(), partitions = plan.partitions_log2();
  while (counters != 0 && (members >> counters == 0 || lanes >> counters == 0)) --counters;
  while (copies != 0 && lanes >> (partitions + copies) == 0) --copies;
  if (lanes >> partitions == 0) partitions = 0;
  const uint32_t second = threads < warp_size + (1u << (partitions + copies)) ? 0 : plan.second_warp();
  return {counters | copies << 2 | partitions << 4 | second << 5 | packed_plan::fitted |
          plan.poll_backoff() << packed_plan::poll_backoff_shift};
}
/// The same for a plan that is not packed.
GPUSYNC_HD constexpr counter_plan fit(const counter_plan& plan, uint32_t members, uint32_t threads,
                                      uint32_t warp_size) {
  return fit(packed_plan::of(plan), members, threads, warp_size).unpacked();
}

}  // namespace gpusync::grid
