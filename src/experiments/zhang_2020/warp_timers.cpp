// Experiment warp-timers: does a barrier of a warp hold lanes that come from different branches? Zhang et al. 2020,
// figures 17 and 18; item Z17.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/method_comparison.hpp"
#include "harness/published.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/warp_timers/warp_timers.hpp"

namespace gpusync::tool::warp_timers_experiment {

namespace {

constexpr const char* name = "warp-timers";
constexpr const char *margin_sample = "margin", *spread_sample = "spread";

using passages = std::vector<warp_passage>;

std::vector<step_method> warp_methods() {
  std::vector<step_method> methods;
  for (const warp_barrier_name& each : warp_barriers) {
    step_method& made = methods.emplace_back();
    made.name = each.name;
    made.title = each.title;
    made.items = {"Z17"};
    made.kind = each.waits ? method_kind::barrier : method_kind::floor;
    made.rival = true;
  }
  return methods;
}

/// The barriers whose lanes get rows of their own.
std::vector<std::string> lanes_of(const experiment_request& request) {
  std::vector<std::string> names{"all", "none"};
  for (const warp_barrier_name& each : warp_barriers) names.emplace_back(each.name);
  const std::vector<std::string> chosen = chosen_words(request, "lanes", names, {"tile"});
  return std::ranges::find(chosen, "all") != chosen.end() ? names : chosen;
}

prepared_method prepare(warp_timers_device& device, const step_method& method, const std::shared_ptr<passages>& seen) {
  candidate turns;
  turns.warm_up = [&device, method] { (void)device.run(method.name); };
  turns.run = [&device, method, seen]() -> turn_samples {
    seen->push_back(device.run(method.name));
    return {{margin_sample, margin_of(seen->back())}, {spread_sample, spread_of_starts(seen->back())}};
  };
  const auto verify = [seen]() -> verification {
    verification found{true, seen->size() * timed_lanes, 0,
                       "what every lane drew from its own branch, and the word that a shuffle handed it"};
    for (const warp_passage& each : *seen) found.wrong += each.wrong;
    return found;
  };
  return {turns, verify};
}

void add_metrics(method_result& result, const passages& seen, bool keep_samples) {
  if (result.figures.samples.empty()) return;
  const auto held =
      static_cast<uint64_t>(std::ranges::count_if(seen, [](const warp_passage& each) { return margin_of(each) >= 0; }));
  const bool all = held == seen.size();
  result.entry.metrics = {
      {"margin", result.median_of(margin_sample, 1, "cycles", keep_samples)},
      {"start_spread", result.median_of(spread_sample, 1, "cycles", keep_samples)},
      {"runs_held", plain_metric(static_cast<double>(held) / static_cast<double>(seen.size()), "1", seen.size())}};
  if (!result.entry.verification) return;
  *result.entry.verification += fmt::format("; in {} of {} runs no lane was behind it before all had come: it {}", held,
                                            seen.size(), all ? "holds the warp" : "does not hold the warp");
}

/// A row for each lane: when it came and when it went on, since the first came.
void add_lanes(const method_result& result, const passages& seen, const experiment_sink& sink) {
  for (uint32_t lane = 0; lane < timed_lanes && !seen.empty(); ++lane) {
    std::vector<double> starts, ends;
    for (const warp_passage& each : seen) {
      starts.push_back(each.start[lane]);
      ends.push_back(each.end[lane]);
    }
    row entry = result.entry;
    entry.axes = {{"lane", int64_t{lane}}};
    entry.metrics = {{"start", median_metric(starts, 1, "cycles", false)},
                     {"end", median_metric(ends, 1, "cycles", false)}};
    sink.add(std::move(entry), result.claims_correctness);
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<warp_timers_device>(request.device);
  const std::vector<step_method> methods = chosen_methods(request, warp_methods());
  const std::vector<std::string> with_lanes = lanes_of(request);
  stop_rule rule;
  rule.max_samples = request.quick ? 11 : 101;
  rule.min_samples = rule.samples_before_budget = rule.max_samples + 1;  // how they scatter is the finding
  const comparison_setting setting{name, request, sink};
  const std::vector<std::string> cases{"32 branches"};
  for_each_case(
      cases, sink, [](const std::string& one) { return one; },
      [&](const std::string&, const auto& progress) {
        std::map<std::string, std::shared_ptr<passages>> seen;
        const auto prepared = [&](const step_method& method) {
          return prepare(*device, method, seen[method.name] = std::make_shared<passages>());
        };
        auto results = compare_methods(setting, methods, prepared, rule, progress);
        for (method_result& result : results) {
          if (seen[result.method.name]) add_metrics(result, *seen[result.method.name], request.keep_samples);
        }
        const std::vector<method_result> with_axes = results;
        add_rows(results, {}, sink);
        for (const method_result& result : with_axes) {
          const bool wanted = std::ranges::find(with_lanes, result.method.name) != with_lanes.end();
          if (wanted && seen[result.method.name]) add_lanes(result, *seen[result.method.name], sink);
        }
      });
  add_all(published_rows(paper::zhang_2020, name), sink);
}

std::string answer(const measured_rows& measured) {
  std::vector<std::string> letting_through;
  size_t holding = 0;
  for (const row* entry : measured.rows) {
    const std::optional<double> held = value_of(*entry, "runs_held");
    if (!held || is_floor(*entry)) continue;
    if (*held < 1) {
      letting_through.push_back(entry->method);
    } else {
      ++holding;
    }
  }
  if (holding == 0 && letting_through.empty()) return "";
  if (letting_through.empty()) {
    return answer_in(
        measured, {fmt::format("Trust barriers of a warp in divergent code: all {} kinds held every lane", holding)});
  }
  return answer_in(
      measured,
      {fmt::format("Do not trust {} in divergent code: lanes passed before all had come", join_words(letting_through)),
       fmt::format("Do not trust {} kinds of warp barriers in divergent code", letting_through.size())});
}

request_check checks() {
  request_check made = check_methods([](const device_description&) { return warp_methods(); });
  made.check = [methods = made.check](const experiment_request& request) {
    (void)lanes_of(request);
    methods(request);
  };
  return made;
}

const register_experiment registered({
    name,
    "whether a barrier of a warp holds lanes that come from 32 branches",
    {"Z17"},
    {device_kind::cuda},
    {{"lanes", "barriers whose lanes have rows of their own; all or none", 0, 0, true, "tile"},
     {"method", "barriers of a warp, by name; no-barrier shows that a lane that is not held is found", 0, 0, true,
      "all"}},
    run,
    checks(),
    case_time{1, 0.5},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::warp_timers_experiment
