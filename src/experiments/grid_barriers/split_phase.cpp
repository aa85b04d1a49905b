// Experiment split-phase: what is left of a grid barrier's cost if blocks have work of their own between their arrival
// and the moment when they need the others.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/experiment.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/grid_barriers/shapes.hpp"
#include "experiments/step_contest.hpp"
#include "workloads/split_phase/split_phase.hpp"

namespace gpusync::tool {

namespace {

/// One combination of axes.
struct setting {
  int64_t work_us;
  step_shape shape;
};

class split_phase : public experiment {
 public:
  std::string name() const override { return "split-phase"; }
  std::string title() const override {
    return "what a grid barrier costs blocks that work between their arrival and its end";
  }
  std::vector<std::string> items() const override { return {}; }
  std::vector<device_kind> devices() const override { return {device_kind::cuda}; }
  std::vector<axis> axes() const override {
    return {shape_axis("132x256"),
            {"work_us", "microseconds of own work per warp between arrival and wait", 0, 1000, false, "2"},
            {"stores", "1: every step writes a word per thread that two other blocks read and check", 0, 1, false, "1"},
            {"method", "grid barriers that order data, by name; NAME+proxy: a warp of its own serves it", 0, 0, true,
             "the default barrier and the lock-based one, with and without a proxy, and cg"}};
  }

  void check(const experiment_request& request) const override {
    (void)shapes_or(request, default_shapes());
    if (request.axes.words.count("method") == 0) return;
    (void)chosen(request, *open_side<split_phase_device>(request.device)->with_work(0));
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto device = open_side<split_phase_device>(request.device);
    std::vector<setting> settings;
    for (step_shape shape : shapes_or(request, default_shapes())) {
      for (const int64_t stores : request.axes.numbers_or("stores", {1})) {
        shape.stores = stores != 0;
        for (const int64_t work : request.axes.numbers_or("work_us", {2})) settings.push_back({work, shape});
      }
    }
    for (size_t i = 0; i < settings.size() && !sink.interrupted(); ++i) {
      const setting& one = settings[i];
      const auto workload = device->with_work(static_cast<double>(one.work_us));
      auto results =
          step_contest(*workload, request, sink).run(chosen(request, *workload), one.shape, [&](double fraction) {
            sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(settings.size()),
                          fmt::format("{}, {} us of work", to_word(one.shape), one.work_us));
          });
      add_exposed(results, request.keep_samples);
      for (contest_result& result : results) {
        result.entry.experiment = name();
        result.entry.axes = {
            {"shape", to_word(one.shape)}, {"work_us", one.work_us}, {"stores", int64_t{one.shape.stores ? 1 : 0}}};
        if (result.method.name == work_alone) {
          result.entry.verified.reset();
          result.entry.verification.reset();
        }
        sink.add(std::move(result.entry), result.claims_correctness);
      }
    }
  }

 private:
  static std::vector<std::string> default_shapes() { return {"132x256"}; }

  /// The work alone, which the others are compared with, and the methods asked for.
  static std::vector<step_method> chosen(const experiment_request& request, const step_workload& workload) {
    const std::vector<step_method> all = workload.methods();
    std::vector<std::string> available;
    for (const step_method& method : all) available.push_back(method.name);
    std::vector<std::string> names =
        choose_names(request, available,
                     {"placed-counters-acquire-release", "placed-counters-acquire-release+proxy",
                      "lock-based-acquire-release", "lock-based-acquire-release+proxy", "cg"});
    std::erase(names, work_alone);
    names.insert(names.begin(), work_alone);
    std::vector<step_method> methods;
    for (const std::string& name : names) {
      methods.push_back(
          *std::find_if(all.begin(), all.end(), [&](const step_method& method) { return method.name == name; }));
    }
    return methods;
  }

  /// Adds to every row what its steps took longer than the work alone, round by round.
  static void add_exposed(std::vector<contest_result>& results, bool keep_samples) {
    const std::vector<double> work = results.front().samples;
    if (results.front().entry.status != row_status::ok) return;
    for (size_t i = 1; i < results.size(); ++i) {
      contest_result& result = results[i];
      if (result.entry.status != row_status::ok) continue;
      std::vector<double> exposed;
      for (size_t round = 0; round < std::min(work.size(), result.samples.size()); ++round) {
        exposed.push_back(result.samples[round] - work[round]);
      }
      metric time = mean_metric(exposed, 1, "us", keep_samples);
      time.value = time.median;
      result.entry.metrics.emplace_back("exposed", std::move(time));
    }
  }
};

const register_experiment registered(std::make_unique<split_phase>());

}  // namespace

}  // namespace gpusync::tool
