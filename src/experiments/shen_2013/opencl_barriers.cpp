// Experiment opencl-barriers: one synchronization over the number of work-groups, by event profiling. Figure 4-4 and
// appendix H of Shen 2013 (item S6), with equations 3 and 4.
#include <fmt/format.h>

#include <cmath>

#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/shen_2013/thesis_contest.hpp"
#include "experiments/shen_2013/thesis_fits.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

class opencl_barriers : public experiment {
 public:
  std::string name() const override { return "opencl-barriers"; }
  std::string title() const override {
    return "what one synchronization of OpenCL work-groups takes, over their number, beside the thesis of 2013";
  }
  std::vector<std::string> items() const override { return {"S1", "S2", "S3", "S4", "S6", "S9"}; }
  std::vector<device_kind> devices() const override { return {device_kind::opencl}; }
  std::vector<axis> axes() const override { return thesis_axes(); }

  void check(const experiment_request& request) const override {
    if (request.axes.words.count("method") != 0) {
      (void)thesis_methods(request, *open_side<thesis_device>(request.device));
    }
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto device = open_side<thesis_device>(request.device);
    const std::vector<step_method> methods = thesis_methods(request, *device);
    for (const int64_t items : thesis_items(request, *device)) {
      const std::vector<int64_t> counts = thesis_groups(request, *device, methods, static_cast<uint32_t>(items));
      std::vector<row> rows;
      for (size_t i = 0; i < counts.size() && !sink.interrupted(); ++i) {
        const thesis_shape shape{static_cast<uint32_t>(counts[i]), static_cast<uint32_t>(items), 1};
        thesis_contest_options options = thesis_rounds(request.quick);
        if (!request.quick) options.max_rounds = 100;  // a run takes microseconds
        const auto outcomes = run_thesis_contest(*device, request, sink, methods, shape, options, [&](double fraction) {
          sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(counts.size()),
                        fmt::format("{} {} work-groups x {}", request.device.id, shape.groups, shape.items));
        });
        add_rows(request, outcomes, shape, rows, sink);
      }
      add_fits(rows, sink);
    }
    const std::vector<row> published = thesis_published(name());
    for (const row& entry : published) sink.add(entry, true);
    add_fits(published, sink);
  }

 private:
  void add_rows(const experiment_request& request, const std::vector<thesis_outcome>& outcomes,
                const thesis_shape& shape, std::vector<row>& rows, const experiment_sink& sink) const {
    std::optional<double> floor;
    for (const thesis_outcome& outcome : outcomes) {
      if (!outcome.method.synchronizes && !outcome.device_ns.empty()) floor = summarize(outcome.device_ns).median;
    }
    for (const thesis_outcome& outcome : outcomes) {
      row entry = outcome.entry;
      entry.experiment = name();
      entry.items.insert(entry.items.end(), {"S6", "S9"});
      entry.axes = {{"groups", int64_t{shape.groups}}, {"items", int64_t{shape.items}}};
      entry.metrics = {{"device_time", thesis_time(outcome, outcome.device_ns, "us", request.keep_samples)},
                       {"host_time", thesis_time(outcome, outcome.host_ns, "us", request.keep_samples)}};
      // Of the host's synchronization nothing lies between the start and the end of its kernel.
      if (floor && outcome.method.needs_co_residency && !outcome.device_ns.empty()) {
        entry.metrics.emplace_back(
            "synchronization_time",
            plain_metric((summarize(outcome.device_ns).median - *floor) * 1e-3, "us", outcome.device_ns.size()));
      }
      rows.push_back(entry);
      sink.add(std::move(entry), outcome.claims_correctness);
    }
  }

  /// Equation 3, a line over the groups, and equation 4, a constant, for every method: which of them holds shows.
  static void add_fits(const std::vector<row>& rows, const experiment_sink& sink) {
    std::vector<row> fits;
    for (const thesis_series& series : thesis_series_of(rows, "groups", "device_time", fit_weights::even)) {
      row entry =
          thesis_fit_row(rows.front(), series, "groups", "device_time over groups", "time_per_group", "us", 1, "us");
      double mean = 0;
      for (const fit_point& point : series.points) mean += point.y / static_cast<double>(series.points.size());
      double squares = 0;
      for (const fit_point& point : series.points) squares += (point.y - mean) * (point.y - mean);
      entry.metrics.emplace_back("constant", plain_metric(mean, "us", series.points.size()));
      entry.metrics.emplace_back(
          "relative_deviation", plain_metric(std::sqrt(squares / static_cast<double>(series.points.size())) / mean, "1",
                                             series.points.size()));
      fits.push_back(std::move(entry));
    }
    add_thesis_places(fits, [](const row& entry) { return value_of(entry, "at_largest"); });
    for (row& entry : fits) sink.add(std::move(entry), true);
  }
};

const register_experiment registered(std::make_unique<opencl_barriers>());

}  // namespace

}  // namespace gpusync::tool
