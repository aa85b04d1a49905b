// Experiment opencl-barriers: one synchronization over the number of work-groups, by event profiling. Figure 4-4 and
// appendix H of Shen 2013 (item S6), with equations 3 and 4.
#include <algorithm>
#include <iterator>

#include "experiments/shen_2013/thesis_comparison.hpp"
#include "measure/statistics.hpp"
#include "models/fits.hpp"

namespace gpusync::tool {

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
    result.entry.items.insert(result.entry.items.end(), {"S6", "S9"});
    result.entry.metrics = {{"device_time", thesis_time(result, device_sample, "us", keep_samples)},
                            {"host_time", thesis_time(result, host_sample, "us", keep_samples)}};
    // Of the host's synchronization nothing lies between the start and the end of its kernel.
    if (!floor || result.method.kind != method_kind::barrier || !has_times(result)) continue;
    result.entry.metrics.emplace_back("synchronization_time", plain_metric((median(result) - *floor) * 1e-3, "us",
                                                                           result.figures.of(device_sample).size()));
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<thesis_device>(request.device);
  stop_rule rule = thesis_rounds(request.quick);
  if (!request.quick) rule.max_samples = 100;  // a run takes microseconds
  for_each_size(request, *device, [&](const auto& methods, uint32_t items, const std::vector<int64_t>& counts) {
    std::vector<row> rows;
    const auto shape_of = [items](int64_t groups) { return thesis_shape{static_cast<uint32_t>(groups), items, 1}; };
    const auto label = [&](int64_t groups) { return in_words(request, shape_of(groups)); };
    for_each_case(counts, sink, label, [&](int64_t groups, const auto& progress) {
      auto results = compare_thesis_runs(*device, {name, request, sink}, methods, shape_of(groups), rule, progress);
      fill_in(results, request.keep_samples);
      std::ranges::move(add_rows(results, {{"groups", groups}, {"items", int64_t{items}}}, sink),
                        std::back_inserter(rows));
    });
    add_all(fits_of(rows), sink);
  });
  add_published(name, sink);
}

const register_experiment registered({
    name,
    "what one synchronization of OpenCL work-groups takes, over their number, beside the thesis of 2013",
    {"S1", "S2", "S3", "S4", "S6", "S9"},
    {device_kind::opencl},
    thesis_axes(),
    run,
    check_methods([](const device_description& device) { return open_side<thesis_device>(device)->methods(); }),
});

}  // namespace

}  // namespace gpusync::tool
