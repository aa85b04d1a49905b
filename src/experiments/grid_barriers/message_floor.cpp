// Experiment message-floor: how long a message takes from one multiprocessor to another through global memory. A grid
// barrier is at least one message from the last block to every other: none is faster than the slowest pair's.
#include <fmt/format.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/experiment.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "workloads/message_floor/message_floor.hpp"

namespace gpusync::tool {

namespace {

/// A way to send messages, by name.
struct named_variant {
  const char* name;
  message_variant how;
};

constexpr named_variant variants[] = {
    {"release-acquire", {true, true, false}},
    {"release-acquire-anywhere", {true, false, false}},
    {"relaxed-near", {false, true, false}},
    {"relaxed-anywhere", {false, false, false}},
};

class message_floor : public experiment {
 public:
  std::string name() const override { return "message-floor"; }
  std::string title() const override {
    return "how long a message takes between any two multiprocessors: the floor of every grid barrier";
  }
  std::vector<std::string> items() const override { return {}; }
  std::vector<device_kind> devices() const override { return {device_kind::cuda}; }
  std::vector<axis> axes() const override {
    return {{"payload", "1: each message hands over a word besides, written and read with plain accesses", 0, 1, false,
             "0,1"},
            {"method",
             "how flags are stored and read, and where they lie: names without 'anywhere' mean near their "
             "poller",
             0, 0, true, "all"}};
  }

  void check(const experiment_request& request) const override { (void)chosen(request); }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto device = open_side<message_floor_device>(request.device);
    std::vector<named_variant> jobs;
    for (const named_variant& one : chosen(request)) {
      for (const int64_t payload : request.axes.numbers_or("payload", {0, 1})) {
        // Relaxed messages order nothing, so what they would hand over proves nothing.
        if (payload != 0 && !one.how.ordered) continue;
        jobs.push_back(one);
        jobs.back().how.payload = payload != 0;
      }
    }
    const uint32_t stride = request.quick ? 37 : 1;
    for (size_t i = 0; i < jobs.size() && !sink.interrupted(); ++i) {
      const auto progress = [&](double fraction) {
        sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(jobs.size()), jobs[i].name);
        return !sink.interrupted();
      };
      sink.add(row_of(request, *device, jobs[i], stride, progress), true);
    }
  }

 private:
  static std::vector<named_variant> chosen(const experiment_request& request) {
    std::vector<std::string> names;
    for (const named_variant& one : variants) names.emplace_back(one.name);
    std::vector<named_variant> found;
    for (const std::string& name : choose_names(request, names, names)) {
      found.push_back(*std::find_if(std::begin(variants), std::end(variants),
                                    [&](const named_variant& one) { return one.name == name; }));
    }
    return found;
  }

  row row_of(const experiment_request& request, message_floor_device& device, const named_variant& one, uint32_t stride,
             const std::function<bool(double)>& progress) const {
    row entry;
    entry.experiment = name();
    entry.device = request.device.id;
    entry.axes = {{"payload", int64_t{one.how.payload ? 1 : 0}}};
    entry.method = one.name;
    try {
      if (one.how.near) {
        if (const std::string reason = device.why_not_near(); !reason.empty()) {
          entry.status = row_status::skipped;
          entry.reason = reason;
          return entry;
        }
      }
      const message_times times = device.measure(one.how, stride, progress);
      entry.clock_mhz = device.clock_mhz();
      fill_in(entry, times, one.how.payload, request.keep_samples);
    } catch (const error&) {
      mark_thrown(entry, std::current_exception());
    }
    return entry;
  }

  static void fill_in(row& entry, const message_times& times, bool payload, bool keep_samples) {
    std::vector<double> sorted = times.one_way_ns;
    if (sorted.empty()) {
      entry.status = row_status::skipped;
      entry.reason = "Interrupted before a first pair was done.";
      return;
    }
    std::sort(sorted.begin(), sorted.end());
    constexpr double us = 1e-3;
    metric one_way = mean_metric(sorted, us, "us", keep_samples);
    one_way.value = one_way.median;
    entry.metrics = {{"one_way", std::move(one_way)},
                     {"one_way_p99", plain_metric(quantile(sorted, 0.99) * us, "us", sorted.size())},
                     {"one_way_max", plain_metric(sorted.back() * us, "us", sorted.size())}};
    entry.verified = times.wrong == 0;
    entry.verification = fmt::format("{} messages between {} pairs, each looked at: {}", times.sent, sorted.size(),
                                     payload ? "whether it came with the word that was written before it"
                                             : "whether it came with the number that was sent");
    if (times.wrong == 0) return;
    entry.status = row_status::failed;
    entry.reason = fmt::format("{} of {} messages did not come, or not as they were sent.", times.wrong, times.sent);
  }
};

const register_experiment registered(std::make_unique<message_floor>());

}  // namespace

}  // namespace gpusync::tool
