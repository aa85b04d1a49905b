// Experiment opencl-iterations: repeated synchronization at the largest number of work-groups. Figures 4-5 and 4-6 and
// appendix I of Shen 2013 (item S7), with equations 5 and 6.
#include <algorithm>
#include <iterator>

#include "experiments/shen_2013/thesis_comparison.hpp"
#include "models/fits.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* name = "opencl-iterations";

/// Those of the thesis, on to the 5,000 that its text speaks of, and fewer, among which a barrier overtakes the host
/// today.
std::vector<int64_t> iterations_of(const experiment_request& request) {
  std::vector<int64_t> numbers = request.axes.numbers_or(
      "iterations", request.quick ? std::vector<int64_t>{1, 10, 50, 200}
                                  : std::vector<int64_t>{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 1500, 2000, 2500,
                                                         3000, 4000, 5000});
  std::ranges::sort(numbers);  // cheapest to check
  return numbers;
}

/// As many work-groups as the user chose, or else as run at once.
std::vector<thesis_shape> grids_of(const experiment_request& request, thesis_device& device,
                                   const std::vector<step_method>& methods) {
  std::vector<thesis_shape> grids;
  for (const int64_t items : chosen_numbers(request, "items", {device.default_items()})) {
    const auto size = static_cast<uint32_t>(items);
    std::vector<int64_t> counts = request.axes.numbers_or("groups", {});
    if (counts.empty()) counts = {device.resident(methods, size)};
    for (const int64_t groups : counts) grids.push_back({static_cast<uint32_t>(groups), size, 0});
  }
  return grids;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<thesis_device>(request.device);
  const std::vector<step_method> methods = chosen_methods(request, device->methods());
  const std::vector<int64_t> all = iterations_of(request);
  const auto label = [&](const thesis_shape& grid) { return in_words(request, grid); };
  for_each_case(grids_of(request, *device, methods), sink, label, [&](thesis_shape grid, const auto& progress) {
    std::vector<row> rows;
    for (size_t i = 0; i < all.size() && !sink.interrupted(); ++i) {
      grid.iterations = static_cast<uint32_t>(all[i]);
      auto results = compare_thesis_runs(
          *device, {name, request, sink}, methods, grid, thesis_rounds(request.quick),
          [&](double fraction) { progress((static_cast<double>(i) + fraction) / static_cast<double>(all.size())); });
      for (method_result& result : results) {
        result.entry.items.insert(result.entry.items.end(), {"S7", "S9"});
        result.entry.metrics = {{"total_time", thesis_time(result, host_sample, "ms", request.keep_samples)},
                                {"device_time", thesis_time(result, device_sample, "ms", request.keep_samples)}};
      }
      const std::vector<std::pair<std::string, axis_value>> axes{
          {"groups", int64_t{grid.groups}}, {"items", int64_t{grid.items}}, {"iterations", int64_t{grid.iterations}}};
      std::ranges::move(add_rows(results, axes, sink), std::back_inserter(rows));
    }
    add_all(fits_of(rows), sink);
  });
  add_published(name, sink);
}

std::vector<axis> axes() {
  std::vector<axis> all = thesis_axes();
  all.push_back(
      {"iterations", "synchronizations in a run", 1, 100000, false, "17 from 1 to 5000; with --quick 1,10,50,200"});
  return all;
}

const register_experiment registered({
    name,
    "from how many synchronizations on a barrier of OpenCL work-groups beats the host, beside the thesis of 2013",
    {"S1", "S2", "S3", "S4", "S7", "S9"},
    {device_kind::opencl},
    axes(),
    run,
    check_methods([](const device_description& device) { return open_side<thesis_device>(device)->methods(); }),
});

}  // namespace

}  // namespace gpusync::tool
