// Situations drawn at random, and what steps take in them under every way to wait: what the adviser's costs are fitted
// to, and what its answers are held against.
#pragma once

#include <functional>
#include <vector>

#include "harness/method_comparison.hpp"
#include "models/step_cost_rows.hpp"
#include "workloads/situations/situations.hpp"

namespace gpusync::tool {

/// `count` situations, the same for the same seed and device: grids from a few blocks to more than fit, blocks of any
/// size, steps from none to 20 us, with and without skew, a few words to all registers for others and to keep, waiting
/// for all or for 2 or 4 neighbours, runs of 8 to 1000 steps that take some ten milliseconds at most. On host threads
/// what two processors can do.
std::vector<advice::situation> random_situations(uint64_t seed, size_t count, device_kind kind,
                                                 const advice::device_room& room);

/// The ways to wait of this device that the adviser knows, each with its step_time, as rows of `experiment` whose axes
/// are the situation, with the blocks that run at once. Rows are the caller's to hand over.
std::vector<method_result> measure_situation(situation_device& device, advice::situation& where,
                                             const comparison_setting& setting,
                                             const std::function<void(double)>& progress);

}  // namespace gpusync::tool
