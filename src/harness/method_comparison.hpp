// Methods measured side by side on one shape: what experiments that compare ways to wait have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "boundary/program.hpp"
#include "harness/experiment.hpp"
#include "harness/rows.hpp"
#include "measure/comparison.hpp"

namespace gpusync::tool {

/// A method's program, ready to be compared.
struct prepared_method {
  candidate program;
  std::function<verification()> verify;
  /// Adds to the row of a program that has not failed what it has to say besides; may be empty.
  std::function<void(row&)> finish = nullptr;
};

/// What came of one method.
struct method_result {
  step_method method;
  /// With experiment, items, device, method and what it is, clock, verification and status; axes are the caller's, and
  /// metrics, unless a function below says which there are.
  row entry;
  /// False for a method that orders no data and was found wrong, as it may be: its finding, not a failure of the run.
  bool claims_correctness = true;
  /// By name and round; methods took turns, so that values of one round belong together.
  compared figures;

  /// The samples of that name, each times `scale`, as a metric: their median, with quartiles and what ended the rounds.
  metric median_of(const std::string& sample, double scale, const std::string& unit, bool keep_samples) const;
};

/// What the comparisons of an experiment have in common.
struct comparison_setting {
  const char* experiment;
  const experiment_request& request;
  const experiment_sink& sink;
  std::vector<std::string> items = {};  ///< paper items that its rows reproduce besides their methods'
};

/// Prepares every method and compares them under `rule`; results in the order of the methods. What cannot be prepared
/// or fails becomes a row that says so; what was not prepared when the user wanted to stop has none.
std::vector<method_result> compare_methods(const comparison_setting& setting, const std::vector<step_method>& methods,
                                           const std::function<prepared_method(const step_method&)>& prepare,
                                           const stop_rule& rule, const std::function<void(double)>& progress);

/// Steps of a workload by repeat differences: sample step_sample in nanoseconds, and metric `step_time` (us).
std::vector<method_result> compare_steps(workload& workload, const comparison_setting& setting,
                                         const std::vector<step_method>& methods, const step_shape& shape,
                                         const std::function<void(double)>& progress);

/// The sample of compare_runs: milliseconds of a run.
inline constexpr const char* run_sample = "run";

/// Until when whole runs are compared, in an experiment or for a quick look; the papers' means are of three runs.
stop_rule rule_for_runs(bool quick);

/// Whole runs of a computation: sample run_sample, metric `run_time` (ms), and what the last run found.
std::vector<method_result> compare_runs(workload& workload, const comparison_setting& setting,
                                        const std::vector<step_method>& methods, const step_shape& shape,
                                        const stop_rule& rule, const std::function<void(double)>& progress);

/// The result of the method of that name; null if there is none.
const method_result* find_result(const std::vector<method_result>& results, const std::string& method);
/// The same if its row is ok.
const method_result* find_ok(const std::vector<method_result>& results, const std::string& method);

/// Adds the metric METRIC_over_RIVAL, the ratio of samples by round, to every result that is ok, for each of `rivals`
/// that is.
void add_ratios(std::vector<method_result>& results, const std::string& metric_name, const std::string& sample,
                const std::vector<std::string>& rivals);

/// Hands over every result's row; returns the rows.
std::vector<row> add_rows(std::vector<method_result>& results, const experiment_sink& sink);
/// The same with these axes.
std::vector<row> add_rows(std::vector<method_result>& results, const axis_values& axes, const experiment_sink& sink);

}  // namespace gpusync::tool
