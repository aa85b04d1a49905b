// Experiment opencl-memory: the device memory that a program needs under each method, over the number of work-groups.
// Figure 4-7 and appendix J of Shen 2013 (item S8). Counted, not sampled: the sum of our own allocations.
#include <fmt/format.h>

#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/shen_2013/thesis_contest.hpp"
#include "experiments/shen_2013/thesis_fits.hpp"

namespace gpusync::tool {

namespace {

/// As many as show that the barrier holds in the memory that was counted.
constexpr uint32_t iterations = 10;

class opencl_memory : public experiment {
 public:
  std::string name() const override { return "opencl-memory"; }
  std::string title() const override {
    return "how much device memory each way to wait takes under OpenCL, beside the thesis of 2013";
  }
  std::vector<std::string> items() const override { return {"S8", "S9"}; }
  std::vector<device_kind> devices() const override { return {device_kind::opencl}; }
  std::vector<axis> axes() const override { return thesis_axes(); }

  void check(const experiment_request& request) const override {
    if (request.axes.words.count("method") != 0) {
      (void)thesis_methods(request, *open_side<thesis_device>(request.device));
    }
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto device = open_side<thesis_device>(request.device);
    std::vector<step_method> methods = thesis_methods(request, *device);
    for (const int64_t items : thesis_items(request, *device)) {
      const std::vector<int64_t> counts = thesis_groups(request, *device, methods, static_cast<uint32_t>(items));
      std::vector<row> rows;
      for (size_t i = 0; i < counts.size() && !sink.interrupted(); ++i) {
        const thesis_shape shape{static_cast<uint32_t>(counts[i]), static_cast<uint32_t>(items), iterations};
        thesis_contest_options once;
        once.tight = true;
        once.min_rounds = once.max_rounds = 1;
        const auto outcomes = run_thesis_contest(*device, request, sink, methods, shape, once, [&](double fraction) {
          sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(counts.size()),
                        fmt::format("{} {} work-groups x {}", request.device.id, shape.groups, shape.items));
        });
        for (const thesis_outcome& outcome : outcomes) {
          rows.push_back(row_of(outcome, shape));
          sink.add(rows.back(), outcome.claims_correctness);
        }
      }
      add_fits(rows, sink);
    }
    const std::vector<row> published = thesis_published(name());
    for (const row& entry : published) sink.add(entry, true);
    add_fits(published, sink);
  }

 private:
  row row_of(const thesis_outcome& outcome, const thesis_shape& shape) const {
    row entry = outcome.entry;
    entry.experiment = name();
    entry.items.insert(entry.items.end(), {"S8", "S9"});
    entry.axes = {{"groups", int64_t{shape.groups}}, {"items", int64_t{shape.items}}};
    const thesis_memory& memory = outcome.memory;
    metric total;
    total.unit = "KB";
    if (memory.needed > 0) {
      total = plain_metric(static_cast<double>(memory.needed) / 1024, "KB", 1);
      entry.metrics = {{"device_memory", total},
                       {"barrier_memory", plain_metric(static_cast<double>(memory.barrier), "bytes", 1)},
                       {"algorithm_memory", plain_metric(static_cast<double>(memory.algorithm), "bytes", 1)},
                       {"allocated", plain_metric(static_cast<double>(memory.allocated), "bytes", 1)}};
    } else {
      entry.metrics = {{"device_memory", total}};
    }
    if (entry.verified == true && memory.needed != memory.allocated) {
      entry.verified = false;
      entry.status = row_status::failed;
      entry.reason = fmt::format("Our count of device memory is {} bytes, but OpenCL has allocated {}.", memory.needed,
                                 memory.allocated);
    } else if (entry.verified == true) {
      entry.verification = fmt::format("{} bytes are what OpenCL has allocated; {} iterations in them: {}",
                                       memory.needed, iterations, *entry.verification);
    }
    return entry;
  }

  static void add_fits(const std::vector<row>& rows, const experiment_sink& sink) {
    std::vector<row> fits;
    for (const thesis_series& series : thesis_series_of(rows, "groups", "device_memory", fit_weights::even)) {
      fits.push_back(thesis_fit_row(rows.front(), series, "groups", "device_memory over groups", "memory_per_group",
                                    "KB", 1, "KB"));
    }
    add_thesis_places(fits, [](const row& entry) { return value_of(entry, "at_largest"); });
    for (row& entry : fits) sink.add(std::move(entry), true);
  }
};

const register_experiment registered(std::make_unique<opencl_memory>());

}  // namespace

}  // namespace gpusync::tool
