// Experiment opencl-barriers: one synchronization over the number of work-groups, by event profiling. Figure 4-4 and
// appendix H of Shen 2013 (item S6), with equations 3 and 4.
#include <fmt/format.h>

#include "experiments/shen_2013/thesis_comparison.hpp"
#include "harness/answers.hpp"
#include "measure/statistics.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool::opencl_barriers_experiment {

namespace {

constexpr const char* name = "opencl-barriers";

void fill_in(std::vector<method_result>& results, bool keep_samples) {
  const auto median = [](const method_result& result) { return summarize(result.figures.of(device_sample)).median; };
  const auto has_times = [](const method_result& result) { return !result.figures.of(device_sample).empty(); };
  std::optional<double> floor;
  for (const method_result& result : results) {
    if (result.method.kind == method_kind::floor && has_times(result)) floor = median(result);
  }
  for (method_result& result : results) {
    result.entry.metrics = {{"device_time", result.median_of(device_sample, 1e-3, "us", keep_samples)},
                            {"host_time", result.median_of(host_sample, 1e-3, "us", keep_samples)}};
    // Of the host's synchronization nothing lies between the start and the end of its kernel.
    if (!floor || result.method.kind != method_kind::barrier || !has_times(result)) continue;
    result.entry.metrics.emplace_back("synchronization_time", plain_metric((median(result) - *floor) * 1e-3, "us",
                                                                           result.figures.of(device_sample).size()));
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  stop_rule rule = thesis_rounds(request.quick);
  if (!request.quick) rule.max_samples = 100;  // a run takes microseconds
  const auto finish = [&](std::vector<method_result>& results, const memory_by_method&) {
    fill_in(results, request.keep_samples);
  };
  answer_thesis({name, {"S6", "S9"}, {1}, false, rule, finish}, request, sink);
}

/// On as many work-groups as were synchronized at most.
std::string answer(const measured_rows& measured) {
  int64_t most = 0;
  for (const row* entry : measured.rows) most = std::max(most, axis_number(entry->axes, "groups").value_or(0));
  const row* best = least(measured, "synchronization_time", [&](const row& entry) {
    return entry.ordered && entry.kind == method_kind::barrier && axis_number(entry.axes, "groups") == most;
  });
  if (best == nullptr) return "";
  const double us = *value_of(*best, "synchronization_time");
  if (us <= 0)
    return answer_in(measured, {"One synchronization is not above the noise: measure on an idle machine"}, best);
  return answer_in(measured, {fmt::format("One synchronization takes {} us by {}", figure(us), best->method)}, best);
}

const register_experiment registered({
    name,
    "what one synchronization of OpenCL work-groups takes, over their number, beside the thesis of 2013",
    {"S1", "S2", "S3", "S4", "S6", "S9"},
    {device_kind::opencl},
    thesis_axes(),
    run,
    check_methods([](const device_description& device) { return open_side<thesis_device>(device)->methods(); }),
    case_time{6, 3},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::opencl_barriers_experiment
