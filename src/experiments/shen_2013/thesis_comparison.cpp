#include "experiments/shen_2013/thesis_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/published.hpp"
#include "models/fits.hpp"

namespace gpusync::tool {

namespace {

struct thesis_shape {
  uint32_t groups = 1;
  uint32_t items = 1;  ///< per group
  uint32_t iterations = 1;
};

std::vector<int64_t> usual_groups(int64_t resident, bool quick) {
  std::vector<int64_t> groups;
  const auto add = [&](int64_t count) {
    if (count <= resident && (groups.empty() || count > groups.back())) groups.push_back(count);
  };
  add(1);
  if (quick) {
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

/// Shapes that differ in one number, along which lines are laid.
std::vector<std::vector<thesis_shape>> sweeps_of(const thesis_question& what, const experiment_request& request,
                                                 thesis_device& device, const std::vector<step_method>& methods) {
  std::vector<std::vector<thesis_shape>> sweeps;
  for (const int64_t items : chosen_numbers(request, "items", {device.default_items()})) {
    const auto size = static_cast<uint32_t>(items);
    std::vector<int64_t> counts = request.axes.numbers_or("groups", {});
    if (counts.empty()) {
      const int64_t resident = device.resident(methods, size);
      counts = what.over_iterations ? std::vector{resident} : usual_groups(resident, request.quick);
    }
    for (const int64_t groups : counts) {
      if (sweeps.empty() || what.over_iterations || sweeps.back().front().items != size) sweeps.emplace_back();
      for (const int64_t iterations : what.iterations) {
        sweeps.back().push_back({static_cast<uint32_t>(groups), size, static_cast<uint32_t>(iterations)});
      }
    }
  }
  return sweeps;
}

std::vector<method_result> compare_on(thesis_device& device, const thesis_shape& shape, const thesis_question& what,
                                      const comparison_setting& setting, const std::vector<step_method>& methods,
                                      const std::function<void(double)>& progress) {
  memory_by_method memory;
  const auto prepare = [&](const step_method& method) -> prepared_method {
    const auto program = kept_if_stuck(device.prepare(method, shape.groups, shape.items, what.tight));
    memory[method.name] = program->memory();
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
  std::vector<method_result> results = compare_methods(setting, methods, prepare, what.rule, progress);
  what.finish(results, memory);
  return results;
}

}  // namespace

stop_rule thesis_rounds(bool quick) {
  return quick ? stop_rule{3, 5, 0.05, 0, 0.3e9} : stop_rule{10, 30, 0.01, 0, 2e9};
}

void answer_thesis(const thesis_question& what, const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<thesis_device>(request.device);
  const std::vector<step_method> methods = chosen_methods(request, device->methods());
  const auto label = [&](const thesis_shape& shape) {
    return fmt::format("{} {} work-groups x {}", request.device.id, shape.groups, shape.items);
  };
  const comparison_setting setting{what.experiment, request, sink, what.items};
  for_each_sweep(sweeps_of(what, request, *device, methods), sink, label, [&](const auto& shape, const auto& progress) {
    auto results = compare_on(*device, shape, what, setting, methods, progress);
    axis_values axes{{"groups", int64_t{shape.groups}}, {"items", int64_t{shape.items}}};
    if (what.over_iterations) axes.emplace_back("iterations", int64_t{shape.iterations});
    return add_rows(results, axes, sink);
  });
  const std::vector<row> published = published_rows(paper::shen_2013, what.experiment);
  add_all(published, sink);
  add_all(fits_of(published), sink);
}

std::vector<axis> thesis_axes() {
  return {{"groups", "work-groups", 1, 65535, false, "those of the thesis, up to as many as run at once"},
          {"items", "work-items in a work-group", 1, 1024, false, "8 on CPUs, 256 elsewhere"},
          {"method", "ways to wait, by name", 0, 0, true, "all that order data"}};
}

}  // namespace gpusync::tool
