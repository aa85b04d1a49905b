// Methods of one computation measured side by side on one shape: what experiments on applications have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "workloads/whole_program.hpp"

namespace gpusync::tool {

/// What came of one method.
struct whole_outcome {
  step_method method;
  /// With items, device, method, metric run_time (ms), what the last run found, verification and status; experiment
  /// and axes are the caller's.
  row entry;
  /// False for a method that orders no data and was found wrong, as it may be.
  bool claims_correctness = true;
  /// Of whole runs, in milliseconds, by round; values of one round belong together, for methods took turns.
  std::vector<double> samples;
};

/// When a contest ends.
struct whole_rounds {
  uint64_t least = 3;  ///< the papers' means are of three runs
  uint64_t most = 15;
  double relative_spread = 0.005;
  double budget_ns = 3e9;  ///< for all methods of one shape together, unless `least` takes longer
};
/// As an experiment should measure, or for a quick look.
whole_rounds rounds_for(bool quick);

/// Every method once to warm up, checked like any other run, and then in rounds, in an order that rotates; results in
/// the order of the methods. What cannot be prepared or fails becomes a row that says so.
std::vector<whole_outcome> run_whole_contest(whole_workload& workload, const experiment_request& request,
                                             const experiment_sink& sink, const std::vector<step_method>& methods,
                                             const step_shape& shape, const whole_rounds& rounds,
                                             const std::function<void(double)>& progress);

/// Adds the metric `run_time_over_RIVAL` to every outcome that has figures, if the method `rival` has.
void add_ratio(std::vector<whole_outcome>& outcomes, const std::string& rival);

}  // namespace gpusync::tool
