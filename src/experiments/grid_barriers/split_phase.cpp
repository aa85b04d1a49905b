// Experiment split-phase: what is left of a grid barrier's cost if blocks have work of their own between their arrival
// and the moment when they need the others.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "workloads/split_phase/split_phase.hpp"

namespace gpusync::tool::split_phase_experiment {

namespace {

constexpr const char* name = "split-phase";

/// One combination of axes.
struct setting {
  int64_t work_us;
  step_shape shape;
};

/// The work alone, which the others are compared with, and the methods asked for.
std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  std::vector<step_method> all = workload.methods();
  std::vector<step_method> methods =
      chosen_methods(request, all,
                     {method_names::default_barrier, "placed-counters-acquire-release+proxy",
                      "lock-based-acquire-release", "lock-based-acquire-release+proxy", "cg"});
  std::erase_if(methods, [](const step_method& method) { return method.kind == method_kind::floor; });
  methods.insert(methods.begin(), *std::ranges::find(all, method_kind::floor, &step_method::kind));
  return methods;
}

/// Adds to every row what its steps took longer than the work alone, round by round.
void add_exposed(std::vector<method_result>& results, bool keep_samples) {
  if (results.empty() || results.front().entry.status != row_status::ok) return;
  const std::vector<double>& work = results.front().figures.of(step_sample);
  for (size_t i = 1; i < results.size(); ++i) {
    if (results[i].entry.status != row_status::ok) continue;
    const auto exposed = by_round(results[i].figures.of(step_sample), work, std::minus<>());
    results[i].entry.metrics.emplace_back("exposed", median_metric(exposed, 1e-3, "us", keep_samples));
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<split_phase_device>(request.device);
  std::vector<setting> settings;
  for (step_shape shape : shapes_or(request, {"132x256"})) {
    for (const int64_t stores : request.axes.numbers_or("stores", {1})) {
      shape.stores = stores != 0;
      for (const int64_t work : request.axes.numbers_or("work_us", {2})) settings.push_back({work, shape});
    }
  }
  const auto label = [](const setting& one) {
    return fmt::format("{}, {} us of work", to_word(one.shape), one.work_us);
  };
  for_each_case(settings, sink, label, [&](const setting& one, const auto& progress) {
    const auto workload = kept_if_stuck(device->with_work(static_cast<double>(one.work_us)));
    auto results = compare_steps(*workload, {name, request, sink}, methods_of(request, *workload), one.shape, progress);
    add_exposed(results, request.keep_samples);
    if (!results.empty()) {  // the work alone: nobody waits, so nothing is checked
      results.front().entry.verified.reset();
      results.front().entry.verification.reset();
    }
    add_rows(results, {{"shape", to_word(one.shape)}, {"work_us", one.work_us}, {"stores", int64_t{one.shape.stores}}},
             sink);
  });
}

const register_experiment registered({
    name,
    "what a grid barrier costs blocks that work between their arrival and its end",
    {},
    {device_kind::cuda},
    {shape_axis("132x256"),
     {"work_us", "microseconds of own work per warp between arrival and wait", 0, 1000, false, "2"},
     {"stores", "1: every step writes a word per thread that two other blocks read and check", 0, 1, false, "1"},
     {"method", "grid barriers that order data, by name; NAME+proxy: a warp of its own serves it", 0, 0, true,
      "the default barrier and the lock-based one, with and without a proxy, and cg"}},
    run,
    check_methods([](const device_description& device) {
      return open_side<split_phase_device>(device)->with_work(0)->methods();
    }),
});

}  // namespace

}  // namespace gpusync::tool::split_phase_experiment
