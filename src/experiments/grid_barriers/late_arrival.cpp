// Experiment late-arrival: how soon a grid barrier lets the others go once the last block has come. When blocks come
// together, their adds and polls stand in each other's way; when one is late, only the way from it to the others
// counts.
#include <map>

#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "measure/statistics.hpp"
#include "workloads/late_arrival/late_arrival.hpp"

namespace gpusync::tool::late_arrival_experiment {

namespace {

constexpr const char* name = "late-arrival";

/// Samples: the means of a launch, in nanoseconds.
constexpr const char* mean_sample = "mean release";
constexpr const char* last_sample = "last release";

/// What the steps of all launches that count have taken, by method; nanoseconds.
using steps_by_method = std::map<std::string, late_arrival_times>;

prepared_method prepare(late_arrival_device& device, const step_method& method, const step_shape& shape,
                        late_arrival_times& steps) {
  const auto program = kept_if_stuck(device.prepare(method.name, shape.blocks, shape.threads));
  candidate turns;
  turns.warm_up = [program] { (void)program->run(); };
  turns.run = [program, &steps]() -> turn_samples {
    const late_arrival_times times = program->run();
    steps.mean_release.insert(steps.mean_release.end(), times.mean_release.begin(), times.mean_release.end());
    steps.last_release.insert(steps.last_release.end(), times.last_release.begin(), times.last_release.end());
    return {{mean_sample, summarize(times.mean_release).mean}, {last_sample, summarize(times.last_release).mean}};
  };
  const auto verify = [program]() -> verification {
    return {true, program->checked(), program->wrong(),
            "every thread's word of every step, read by three other blocks in the launches that were timed"};
  };
  return {turns, verify};
}

/// The ratio of the means, with the quartiles of the ratios of single rounds.
metric ratio_of_means(const std::vector<double>& values, const std::vector<double>& base) {
  metric ratio = ratio_of(values, base);
  if (ratio.value) ratio.value = summarize(values).mean / summarize(base).mean;
  return ratio;
}

void add_ratios_of_means(std::vector<method_result>& results) {
  const struct {
    const char *metric_name, *sample, *rival;
  } all[] = {{"mean_release_over_cg", mean_sample, "cg"},
             {"last_release_over_lock_based", last_sample, "lock-based-acquire-release"}};
  for (const auto& each : all) {
    const method_result* base = find_ok(results, each.rival);
    for (method_result& result : results) {
      if (base == nullptr || result.entry.status != row_status::ok) continue;
      result.entry.metrics.emplace_back(each.metric_name,
                                        ratio_of_means(result.figures.of(each.sample), base->figures.of(each.sample)));
    }
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<late_arrival_device>(request.device);
  const std::vector<step_method> methods =
      chosen_methods(request, device->methods(),
                     {"cg", "lock-based-acquire-release", method_names::default_barrier, "tree-2-acquire-release"});
  stop_rule rule;  // a given number of rounds, however much they scatter
  rule.max_samples = request.quick ? 5 : 25;
  rule.min_samples = rule.samples_before_budget = rule.max_samples + 1;
  const comparison_setting setting{name, request, sink};
  const std::vector<step_shape> shapes = shapes_or(request, usual_shapes(request.quick));
  for_each_case(shapes, sink, to_word, [&](const step_shape& shape, const auto& progress) {
    steps_by_method steps;
    const auto prepared = [&](const step_method& method) {
      return prepare(*device, method, shape, steps[method.name]);
    };
    auto results = compare_methods(setting, methods, prepared, rule, progress);
    for (method_result& result : results) {
      const late_arrival_times& times = steps[result.method.name];
      constexpr double us = 1e-3;
      result.entry.metrics = {{"mean_release", mean_metric(times.mean_release, us, "us", request.keep_samples)},
                              {"last_release", mean_metric(times.last_release, us, "us", request.keep_samples)}};
    }
    add_ratios_of_means(results);
    add_rows(results, {{"shape", to_word(shape)}}, sink);
  });
}

const register_experiment registered({
    name,
    "how soon a grid barrier lets its blocks go after the last one, a late one, has come",
    {},
    {device_kind::cuda},
    {shape_axis(usual_shapes_in_words()),
     {"method", "grid barriers that order data, by name", 0, 0, true,
      "cg,lock-based-acquire-release,placed-counters-acquire-release,tree-2-acquire-release"}},
    run,
    check_methods([](const device_description& device) { return open_side<late_arrival_device>(device)->methods(); }),
    case_time{1, 0.3},
});

}  // namespace

}  // namespace gpusync::tool::late_arrival_experiment
