// The search for the counter plan that a grid of some shape should follow. What a plan costs, a function says, so that
// the search itself can be tested without a device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gpusync/grid/counter_plan.hpp>
#include "boundary/program.hpp"

namespace gpusync::tool {

/// What a step boundary costs under a plan, in microseconds.
struct plan_cost {
  double idle = 0;
  double stores = 0;  ///< with stores in flight

  /// What the search makes small: neither kind of step is bought at the other's expense.
  double score() const;
};

struct planned {
  grid::counter_plan plan;
  plan_cost cost;
};

/// Measures one plan on one shape (`stores` of the shape is ignored). Throws if the result was wrong.
using cost_of_plan = std::function<plan_cost(const grid::counter_plan&, const step_shape&)>;

/// The plans that are tried first for a shape: sub-counters, copies and partitions as far as they make sense on a
/// device of `sm_count` multiprocessors, the second warp where a block has one and the SM to itself, and a coarse scale
/// of first polls.
std::vector<grid::counter_plan> coarse_plans(const step_shape& shape, uint32_t sm_count, bool has_partitions);

/// Tries the coarse plans, then finer first polls around the best of them. Best first; `tried` is called after each
/// measurement with the number of measurements done and an estimate of all.
std::vector<planned> search_plan(const step_shape& shape, uint32_t sm_count, bool has_partitions,
                                 const cost_of_plan& cost, const std::function<void(size_t, size_t)>& tried);

/// Measures the first `finalists` of a search again, `times` times in turn, and returns the one with the best medians:
/// the best of many single measurements is partly the luckiest. Precondition: `found` is not empty.
planned confirm_best(const std::vector<planned>& found, const step_shape& shape, const cost_of_plan& cost,
                     size_t finalists = 6, size_t times = 2);

/// A shape to tune for, and the rule that its plan goes into.
struct tuning_class {
  step_shape shape;
  uint32_t blocks_per_sm;  ///< as in counter_rule; counter_rules::any in the last class
  uint32_t threads;
};

/// The classes of grids on a device, in the order of the rules: a block on up to every fourth SM, on every second, on
/// every one; 2, 4 and more blocks per SM; each with blocks of one warp, of 256 threads and of 1024, as far as the
/// device can hold them (and without 1024 below one block per SM).
std::vector<tuning_class> tuning_classes(uint32_t sm_count, uint32_t threads_per_sm);

}  // namespace gpusync::tool
