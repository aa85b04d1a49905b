// Methods of one workload measured side by side on one shape: what experiments on step boundaries have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "workloads/step_program.hpp"

namespace gpusync::tool {

/// What came of one method.
struct contest_result {
  step_method method;
  /// With items, device, method, clock, metric step_time, verification and status; experiment and axes are the
  /// caller's.
  row entry;
  /// False for a method that orders no data and was found wrong, as it must be: its finding, not a failure of the run.
  bool claims_correctness = true;
  /// Repeat differences in microseconds per step, by round. Methods of one contest took turns, so that values of one
  /// round belong together.
  std::vector<double> samples;
};

/// Runs contests on one device.
class step_contest {
 public:
  step_contest(step_workload& workload, const experiment_request& request, const experiment_sink& sink)
      : workload_(workload), request_(request), sink_(sink) {}

  /// Measures every method, interleaved; results in the order of the methods. What cannot be prepared or fails becomes
  /// a row that says so.
  std::vector<contest_result> run(const std::vector<step_method>& methods, const step_shape& shape,
                                  const std::function<void(double)>& progress);

 private:
  step_workload& workload_;
  const experiment_request& request_;
  const experiment_sink& sink_;
};

/// Those of `all` that axis `method` names, or all. Throws usage_error naming the culprit and what there is.
std::vector<step_method> choose_methods(const experiment_request& request, const std::vector<step_method>& all);

/// `values[i] / base[i]` by round, as a metric of unit 1; empty if there are none. Both from one contest.
metric ratio_of(const std::vector<double>& values, const std::vector<double>& base);

/// Adds the metric `step_time_over_RIVAL` to every result that has figures, if the method `rival` has.
void add_ratio(std::vector<contest_result>& results, const std::string& rival);

}  // namespace gpusync::tool
