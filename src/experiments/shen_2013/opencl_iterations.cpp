// Experiment opencl-iterations: repeated synchronization at the largest number of work-groups. Figures 4-5 and 4-6 and
// appendix I of Shen 2013 (item S7), with equations 5 and 6.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/shen_2013/thesis_contest.hpp"
#include "experiments/shen_2013/thesis_fits.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

class opencl_iterations : public experiment {
 public:
  std::string name() const override { return "opencl-iterations"; }
  std::string title() const override {
    return "from how many synchronizations on a barrier of OpenCL work-groups beats the host, beside the thesis of "
           "2013";
  }
  std::vector<std::string> items() const override { return {"S1", "S2", "S3", "S4", "S7", "S9"}; }
  std::vector<device_kind> devices() const override { return {device_kind::opencl}; }
  std::vector<axis> axes() const override {
    std::vector<axis> all = thesis_axes();
    all.push_back(
        {"iterations", "synchronizations in a run", 1, 100000, false, "17 from 1 to 5000; with --quick 1,10,50,200"});
    return all;
  }

  void check(const experiment_request& request) const override {
    if (request.axes.words.count("method") != 0) {
      (void)thesis_methods(request, *open_side<thesis_device>(request.device));
    }
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto device = open_side<thesis_device>(request.device);
    const std::vector<step_method> methods = thesis_methods(request, *device);
    std::vector<thesis_shape> grids;
    for (const int64_t items : thesis_items(request, *device)) {
      const auto size = static_cast<uint32_t>(items);
      std::vector<int64_t> counts = request.axes.numbers_or("groups", {});
      if (counts.empty()) counts = {device->resident(methods, size)};
      for (const int64_t groups : counts) grids.push_back({static_cast<uint32_t>(groups), size, 0});
    }
    for (size_t i = 0; i < grids.size() && !sink.interrupted(); ++i) {
      run_grid(request, *device, methods, grids[i], sink, [&](double fraction) {
        sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(grids.size()),
                      fmt::format("{} {} work-groups x {}", request.device.id, grids[i].groups, grids[i].items));
      });
    }
    const std::vector<row> published = thesis_published(name());
    for (const row& entry : published) sink.add(entry, true);
    add_fits(published, fit_weights::even, sink);
  }

 private:
  /// Those of the thesis, on to the 5,000 that its text speaks of, and fewer, among which a barrier overtakes the host
  /// today.
  static std::vector<int64_t> numbers(const experiment_request& request) {
    std::vector<int64_t> numbers = request.axes.numbers_or(
        "iterations", request.quick ? std::vector<int64_t>{1, 10, 50, 200}
                                    : std::vector<int64_t>{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 1500, 2000,
                                                           2500, 3000, 4000, 5000});
    std::sort(numbers.begin(), numbers.end());  // cheapest to check
    return numbers;
  }

  void run_grid(const experiment_request& request, thesis_device& device, const std::vector<step_method>& methods,
                thesis_shape shape, const experiment_sink& sink, const std::function<void(double)>& progress) const {
    const std::vector<int64_t> all = numbers(request);
    std::vector<row> rows;
    for (size_t i = 0; i < all.size() && !sink.interrupted(); ++i) {
      shape.iterations = static_cast<uint32_t>(all[i]);
      const auto outcomes = run_thesis_contest(
          device, request, sink, methods, shape, thesis_rounds(request.quick),
          [&](double fraction) { progress((static_cast<double>(i) + fraction) / static_cast<double>(all.size())); });
      for (const thesis_outcome& outcome : outcomes) {
        row entry = outcome.entry;
        entry.experiment = name();
        entry.items.insert(entry.items.end(), {"S7", "S9"});
        entry.axes = {{"groups", int64_t{shape.groups}},
                      {"items", int64_t{shape.items}},
                      {"iterations", int64_t{shape.iterations}}};
        entry.metrics = {{"total_time", thesis_time(outcome, outcome.host_ns, "ms", request.keep_samples)},
                         {"device_time", thesis_time(outcome, outcome.device_ns, "ms", request.keep_samples)}};
        rows.push_back(entry);
        sink.add(std::move(entry), outcome.claims_correctness);
      }
    }
    add_fits(rows, fit_weights::relative, sink);
  }

  /// Equation 5, T = N (T1 + Tc + Tcs), and equation 6, T = T1 + N (Tc + Tgs): lines over the iterations N, whose slope
  /// is the time of a step.
  static void add_fits(const std::vector<row>& rows, fit_weights weights, const experiment_sink& sink) {
    const std::vector<thesis_series> all = thesis_series_of(rows, "iterations", "total_time", weights);
    const auto host = std::ranges::find_if(
        all, [](const thesis_series& series) { return thesis_method_of(series.method) == "launch-wait"; });
    std::vector<row> fits;
    for (const thesis_series& series : all) {
      row entry = thesis_fit_row(rows.front(), series, "iterations", "total_time over iterations", "step_time", "us",
                                 1e3, "ms");
      judge(series, entry);
      if (host != all.end() && &series != &*host && series.method != "no-barrier") {
        metric from = plain_metric(0, "iterations", series.points.size());
        from.value = stays_below_from(curve_of(series), curve_of(*host));
        if (from.value) from.value = std::ceil(*from.value);
        entry.metrics.emplace_back("wins_from", from);
      }
      fits.push_back(std::move(entry));
    }
    add_synchronization_time(fits);
    add_thesis_places(fits, [](const row& entry) { return value_of(entry, "step_time"); });
    for (row& entry : fits) sink.add(std::move(entry), true);
  }

  /// The line of verified measurements takes part in the verdict like any step time.
  static void judge(const thesis_series& series, row& entry) {
    if (entry.status != row_status::ok || is_published(entry)) return;
    entry.verified = true;
    entry.verification = fmt::format("a line through {} figures, each of them verified", series.points.size());
    metric& step = entry.metrics.front().second;
    if (*step.value > 0) return;
    entry.status = row_status::skipped;
    entry.reason = fmt::format(
        "Not measurable: more iterations took no longer ({:.3g} us a step). Is the machine busy with other work?",
        *step.value);
    step.value = step.q1 = step.median = step.q3 = step.stddev = std::nullopt;
  }

  /// The step less the work alone.
  static void add_synchronization_time(std::vector<row>& fits) {
    const auto floor = std::ranges::find(fits, "no-barrier", &row::method);
    if (floor == fits.end() || !value_of(*floor, "step_time")) return;
    const double alone = *value_of(*floor, "step_time");
    for (row& entry : fits) {
      const auto step = value_of(entry, "step_time");
      if (!step || entry.method == "no-barrier") continue;
      entry.metrics.emplace_back("synchronization_time",
                                 plain_metric(*step - alone, "us", entry.metrics.front().second.n));
    }
  }
};

const register_experiment registered(std::make_unique<opencl_iterations>());

}  // namespace

}  // namespace gpusync::tool
