// Experiment message-floor: how long a message takes from one multiprocessor to another through global memory. A grid
// barrier is at least one message from the last block to every other: none is faster than the slowest pair's.
#include <fmt/format.h>

#include <algorithm>

#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/rows.hpp"
#include "measure/statistics.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/message_floor/message_floor.hpp"

namespace gpusync::tool::message_floor_experiment {

namespace {

constexpr const char* name = "message-floor";

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

std::vector<named_variant> chosen_variants(const experiment_request& request) {
  return chosen_of(request, "method", variants, &named_variant::name);
}

void add_times(row& entry, const message_times& times, bool payload, bool keep_samples) {
  std::vector<double> sorted = times.one_way_ns;
  if (sorted.empty()) return mark_interrupted(entry, "a first pair was done");
  std::ranges::sort(sorted);
  constexpr double us = 1e-3;
  entry.metrics = {{"one_way", median_metric(sorted, us, "us", keep_samples)},
                   {"one_way_p99", plain_metric(quantile(sorted, 0.99) * us, "us", sorted.size())},
                   {"one_way_max", plain_metric(sorted.back() * us, "us", sorted.size())}};
  entry.verification = fmt::format("{} messages between {} pairs, each looked at: {}", times.sent, sorted.size(),
                                   payload ? "whether it came with the word that was written before it"
                                           : "whether it came with the number that was sent");
  mark_verified(entry, times.wrong == 0,
                fmt::format("{} of {} messages did not come, or not as they were sent.", times.wrong, times.sent));
}

row row_of(const experiment_request& request, message_floor_device& device, const named_variant& one,
           const std::function<bool(double)>& progress) {
  row entry = new_row(name, request, one.name, method_kind::neighbours);
  entry.ordered = one.how.ordered;
  entry.axes = {{"payload", int64_t{one.how.payload}}};
  fill_in(entry, [&] {
    const std::string reason = one.how.near ? device.why_not_near() : "";
    if (!reason.empty()) return mark_skipped(entry, reason);
    const message_times times = device.measure(one.how, request.quick ? 37 : 1, progress);
    entry.clock_mhz = clock_seen(request.device);
    add_times(entry, times, one.how.payload, request.keep_samples);
  });
  return entry;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<message_floor_device>(request.device);
  std::vector<named_variant> jobs;
  for (named_variant one : chosen_variants(request)) {
    for (const int64_t payload : request.axes.numbers_or("payload", {0, 1})) {
      // Relaxed messages order nothing, so what they would hand over proves nothing.
      if (payload != 0 && !one.how.ordered) continue;
      one.how.payload = payload != 0;
      jobs.push_back(one);
    }
  }
  const auto label = [](const named_variant& one) { return std::string(one.name); };
  for_each_case(jobs, sink, label, [&](const named_variant& one, const auto& progress) {
    const auto goes_on = [&](double fraction) {
      progress(fraction);
      return !sink.interrupted();
    };
    sink.add(row_of(request, *device, one, goes_on), true);
  });
}

std::string answer(const measured_rows& measured) {
  const row* best = least(measured, "one_way", [](const row& entry) { return entry.ordered; });
  if (best == nullptr) return "";
  const std::string head = fmt::format("A message takes {} us", figure(*value_of(*best, "one_way")));
  return answer_in(measured, {fmt::format("{} from SM to SM by {}, {} us between the slowest", head, best->method,
                                          figure(value_of(*best, "one_way_max").value_or(0))),
                              head});
}

const register_experiment registered({
    name,
    "how long a message takes between any two multiprocessors: the floor of every grid barrier",
    {},
    {device_kind::cuda},
    {{"payload", "1: each message hands over a word besides, written and read with plain accesses", 0, 1, false, "0,1"},
     {"method",
      "how flags are stored and read, and where they lie: names without 'anywhere' mean near their "
      "poller",
      0, 0, true, "all"}},
    run,
    {[](const experiment_request& request) { (void)chosen_variants(request); },
     [](const device_description&) {
       std::vector<std::string> names;
       for (const named_variant& one : variants) names.emplace_back(one.name);
       return names;
     }},
    case_time{7, 2},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::message_floor_experiment
