#include "experiments/shen_2013/thesis_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/published.hpp"
#include "models/fits.hpp"

namespace gpusync::tool {

namespace {

std::vector<int64_t> groups_of(const experiment_request& request, thesis_device& device,
                               const std::vector<step_method>& methods, uint32_t items) {
  if (has_chosen(request, "groups")) return request.axes.numbers.at("groups");
  const int64_t resident = device.resident(methods, items);
  std::vector<int64_t> groups;
  const auto add = [&](int64_t count) {
    if (count <= resident && (groups.empty() || count > groups.back())) groups.push_back(count);
  };
  add(1);
  if (request.quick) {
    add(10);
    add(70);
  } else {
    // Few run at once on a CPU: there, every number.
    for (int64_t count = 2; count < 10 && resident < 10; ++count) add(count);
    for (int64_t count = 10; count <= 70; count += 10) add(count);
    // So many that a device with more than 1,000 of them still makes some twenty points.
    const int64_t step = std::max<int64_t>(100, resident / 1000 * 100);
    for (int64_t count = step; count <= resident; count += step) add(count);
  }
  add(resident);
  return groups;
}

}  // namespace

stop_rule thesis_rounds(bool quick) {
  return quick ? stop_rule{3, 5, 0.05, 0, 0.3e9} : stop_rule{10, 30, 0.01, 0, 2e9};
}

std::vector<method_result> compare_thesis_runs(thesis_device& device, const comparison_setting& setting,
                                               const std::vector<step_method>& methods, const thesis_shape& shape,
                                               const stop_rule& rule, const std::function<void(double)>& progress,
                                               memory_by_method* memory) {
  const auto prepare = [&](const step_method& method) -> prepared_method {
    const auto program = kept_if_stuck(device.prepare(method, shape.groups, shape.items, memory != nullptr));
    if (memory != nullptr) (*memory)[method.name] = program->memory();
    candidate turns;
    turns.warm_up = [program, iterations = shape.iterations] {
      // First touch and residency are done with after a few iterations; a slow device needs its time for the figures.
      // The host needs some seconds for large shapes, which is no part of the budget either.
      (void)program->run(std::min(iterations, 10u));
      program->expect(iterations);
    };
    turns.run = [program, iterations = shape.iterations]() -> turn_samples {
      const run_times times = program->run(iterations);
      return {{host_sample, times.host}, {device_sample, times.device}};
    };
    return {turns, [program] { return program->verify(); }};
  };
  return compare_methods(setting, methods, prepare, rule, progress);
}

void for_each_size(
    const experiment_request& request, thesis_device& device,
    const std::function<void(const std::vector<step_method>&, uint32_t, const std::vector<int64_t>&)>& sweep) {
  const std::vector<step_method> methods = chosen_methods(request, device.methods());
  for (const int64_t items : chosen_numbers(request, "items", {device.default_items()})) {
    const auto size = static_cast<uint32_t>(items);
    sweep(methods, size, groups_of(request, device, methods, size));
  }
}

std::string in_words(const experiment_request& request, const thesis_shape& shape) {
  return fmt::format("{} {} work-groups x {}", request.device.id, shape.groups, shape.items);
}

std::vector<axis> thesis_axes() {
  return {{"groups", "work-groups", 1, 65535, false, "those of the thesis, up to as many as run at once"},
          {"items", "work-items in a work-group", 1, 1024, false, "8 on CPUs, 256 elsewhere"},
          {"method", "ways to wait, by name", 0, 0, true, "all that order data"}};
}

metric thesis_time(const method_result& result, const char* sample, const std::string& unit, bool keep_samples) {
  metric time = median_metric(result.figures.of(sample), unit == "ms" ? 1e-6 : 1e-3, unit, keep_samples);
  time.stop = result.stop();
  return time;
}

void add_published(const char* experiment, const experiment_sink& sink) {
  const std::vector<row> published = published_rows(paper::shen_2013, experiment);
  add_all(published, sink);
  add_all(fits_of(published), sink);
}

}  // namespace gpusync::tool
