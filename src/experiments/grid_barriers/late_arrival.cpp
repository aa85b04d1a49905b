// Experiment late-arrival: how soon a grid barrier lets the others go once the last block has come. When blocks come
// together, their adds and polls stand in each other's way; when one is late, only the way from it to the others
// counts.
#include <fmt/format.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/experiment.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/grid_barriers/shapes.hpp"
#include "workloads/late_arrival/late_arrival.hpp"

namespace gpusync::tool {

namespace {

/// One barrier on one shape.
struct contestant {
  std::string method;
  std::unique_ptr<late_arrival_program> program;
  std::exception_ptr thrown;                         // why it could not be prepared, or what ended it
  std::vector<double> mean_release, last_release;    // ns, by step
  std::vector<double> mean_by_round, last_by_round;  // ns
};

class late_arrival : public experiment {
 public:
  std::string name() const override { return "late-arrival"; }
  std::string title() const override {
    return "how soon a grid barrier lets its blocks go after the last one, a late one, has come";
  }
  std::vector<std::string> items() const override { return {}; }
  std::vector<device_kind> devices() const override { return {device_kind::cuda}; }
  std::vector<axis> axes() const override {
    return {shape_axis(usual_shapes_in_words()),
            {"method", "grid barriers that order data, by name", 0, 0, true,
             "cg,lock-based-acquire-release,placed-counters-acquire-release,tree-2-acquire-release"}};
  }

  void check(const experiment_request& request) const override {
    (void)shapes_or(request, usual_shapes(request.quick));
    if (request.axes.words.count("method") != 0) (void)chosen(request, *open_side<late_arrival_device>(request.device));
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto device = open_side<late_arrival_device>(request.device);
    const std::vector<std::string> methods = chosen(request, *device);
    const std::vector<step_shape> shapes = shapes_or(request, usual_shapes(request.quick));
    for (size_t i = 0; i < shapes.size() && !sink.interrupted(); ++i) {
      run_shape(request, *device, methods, shapes[i], sink, [&](double fraction) {
        sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(shapes.size()), to_word(shapes[i]));
      });
    }
  }

 private:
  static std::vector<std::string> chosen(const experiment_request& request, const late_arrival_device& device) {
    return choose_names(
        request, device.methods(),
        {"cg", "lock-based-acquire-release", "placed-counters-acquire-release", "tree-2-acquire-release"});
  }

  static std::vector<contestant> prepare(late_arrival_device& device, const std::vector<std::string>& methods,
                                         const step_shape& shape) {
    std::vector<contestant> contestants;
    for (const std::string& method : methods) {
      contestant one;
      one.method = method;
      try {
        one.program = device.prepare(method, shape.blocks, shape.threads);
      } catch (const error&) {
        one.thrown = std::current_exception();
      }
      contestants.push_back(std::move(one));
    }
    return contestants;
  }

  /// One launch of one contestant; `warm`: not to be counted.
  static void take_turn(contestant& one, bool warm) {
    if (one.thrown) return;
    try {
      const late_arrival_times times = one.program->run();
      if (warm) return;
      const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(one.mean_release, times.mean_release);
      append(one.last_release, times.last_release);
      one.mean_by_round.push_back(summarize(times.mean_release).mean);
      one.last_by_round.push_back(summarize(times.last_release).mean);
    } catch (const error&) {
      one.thrown = std::current_exception();
    }
  }

  void run_shape(const experiment_request& request, late_arrival_device& device,
                 const std::vector<std::string>& methods, const step_shape& shape, const experiment_sink& sink,
                 const std::function<void(double)>& progress) const {
    progress(0);
    std::vector<contestant> contestants = prepare(device, methods, shape);
    for (contestant& one : contestants) take_turn(one, true);
    const size_t rounds = request.quick ? 5 : 25;
    for (size_t round = 0; round < rounds && !sink.interrupted(); ++round) {
      for (size_t turn = 0; turn < contestants.size(); ++turn) {
        take_turn(contestants[(turn + round) % contestants.size()], false);
      }
      progress(static_cast<double>(round + 1) / static_cast<double>(rounds));
    }
    double clock = 0;
    try {
      clock = device.clock_mhz();
    } catch (const error&) {  // a device that has failed has no clock; its rows say why
    }
    std::vector<row> rows;
    for (const contestant& one : contestants) rows.push_back(row_of(request, one, shape, clock));
    add_ratios(contestants, rows);
    for (row& entry : rows) sink.add(std::move(entry), true);
  }

  row row_of(const experiment_request& request, const contestant& one, const step_shape& shape, double clock) const {
    row entry;
    entry.experiment = name();
    entry.device = request.device.id;
    entry.axes = {{"shape", to_word(shape)}};
    entry.method = one.method;
    if (clock > 0) entry.clock_mhz = clock;
    constexpr double us = 1e-3;
    entry.metrics = {{"mean_release", mean_metric(one.mean_release, us, "us", request.keep_samples)},
                     {"last_release", mean_metric(one.last_release, us, "us", request.keep_samples)}};
    if (one.thrown) {
      mark_thrown(entry, one.thrown);
      return entry;
    }
    if (one.mean_release.empty()) {
      entry.status = row_status::skipped;
      entry.reason = "Interrupted before a first sample.";
      return entry;
    }
    try {
      mark_checked(entry, one.program->checked(), one.program->wrong(),
                   "every thread's word of every step, read by three other blocks in the launches that were timed");
    } catch (const error&) {
      mark_thrown(entry, std::current_exception());
    }
    return entry;
  }

  /// The ratio of the means, with the quartiles of the ratios of single rounds.
  static metric ratio(const std::vector<double>& values, const std::vector<double>& base) {
    std::vector<double> ratios;
    for (size_t i = 0; i < std::min(values.size(), base.size()); ++i) ratios.push_back(values[i] / base[i]);
    metric result = mean_metric(ratios, 1, "1", false);
    if (!ratios.empty()) result.value = summarize(values).mean / summarize(base).mean;
    return result;
  }

  static void add_ratios(const std::vector<contestant>& contestants, std::vector<row>& rows) {
    const auto index_of = [&](const std::string& method) {
      size_t i = 0;
      while (i < rows.size() && (rows[i].method != method || rows[i].status != row_status::ok)) ++i;
      return i;
    };
    const size_t cg = index_of("cg"), lock_based = index_of("lock-based-acquire-release");
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].status != row_status::ok) continue;
      const contestant& one = contestants[i];
      if (cg < rows.size()) {
        rows[i].metrics.emplace_back("mean_release_over_cg", ratio(one.mean_by_round, contestants[cg].mean_by_round));
      }
      if (lock_based < rows.size()) {
        rows[i].metrics.emplace_back("last_release_over_lock_based",
                                     ratio(one.last_by_round, contestants[lock_based].last_by_round));
      }
    }
  }
};

const register_experiment registered(std::make_unique<late_arrival>());

}  // namespace

}  // namespace gpusync::tool
