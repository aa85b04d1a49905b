// What the experiments of Shen 2013 have in common: methods that run the thesis's computation in turns on one shape.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "workloads/thesis_average/thesis_average.hpp"

namespace gpusync::tool {

struct thesis_shape {
  uint32_t groups = 1;
  uint32_t items = 1;  ///< per group
  uint32_t iterations = 1;
};

/// What came of one method.
struct thesis_outcome {
  step_method method;
  /// With items, device, method, verification and status; experiment, axes and metrics are the caller's.
  row entry;
  /// False for a method that orders no data and was found wrong, as it may be.
  bool claims_correctness = true;
  std::vector<double> host_ns, device_ns;  ///< by round
  std::optional<std::string> stop;         ///< what ended the rounds
  thesis_memory memory;                    ///< of a program that could be prepared
};

struct thesis_contest_options {
  bool tight = false;  ///< see thesis_device::prepare
  uint64_t min_rounds = 10, max_rounds = 30;
  double relative_spread = 0.01;
  double budget_ns = 2e9;  ///< for all methods of one shape together
};
/// As often as the thesis measured, or fewer times for a quick look.
thesis_contest_options thesis_rounds(bool quick);

/// Every method once to warm up and then in rounds, in an order that rotates; results in the order of the methods. What
/// cannot be prepared or fails becomes a row that says so.
std::vector<thesis_outcome> run_thesis_contest(thesis_device& device, const experiment_request& request,
                                               const experiment_sink& sink, const std::vector<step_method>& methods,
                                               const thesis_shape& shape, const thesis_contest_options& options,
                                               const std::function<void(double)>& progress);

/// Those that axis `method` names; else the work alone, the host's synchronization and every barrier with its default
/// ordering. Throws usage_error naming the culprit and what there is.
std::vector<step_method> thesis_methods(const experiment_request& request, const thesis_device& device);

/// The user's, or the device's default.
std::vector<int64_t> thesis_items(const experiment_request& request, const thesis_device& device);

/// The numbers of work-groups that the user chose; else 1, 10, 20, … 70 as in the thesis, then hundreds, up to as many
/// as run at once under all these methods, that number among them.
std::vector<int64_t> thesis_groups(const experiment_request& request, thesis_device& device,
                                   const std::vector<step_method>& methods, uint32_t items);

/// The axes that they share.
std::vector<axis> thesis_axes();

/// Samples in nanoseconds as a metric of microseconds or milliseconds: their median, with quartiles.
metric thesis_time(const thesis_outcome& outcome, const std::vector<double>& samples, const std::string& unit,
                   bool keep_samples);

}  // namespace gpusync::tool
