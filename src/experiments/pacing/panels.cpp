// Experiment panels: blocks that go through a large table panel by panel, left to drift or kept together. What Lo et
// al. (2014) did for the warps of a block, for the blocks of a grid.
#include <fmt/format.h>

#include <algorithm>

#include "harness/answers.hpp"
#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"
#include "workloads/panels/panels.hpp"

namespace gpusync::tool::panels_experiment {

namespace {

constexpr const char *name = "panels", *time_sample = "time";

bool is_window(const std::string& method) {
  return method.find("window-") != std::string::npos;
}

/// A table several times the cache, in panels of which the cache holds some.
uint64_t default_table(device_kind kind) {
  return kind == device_kind::cuda ? uint64_t{1} << 31 : uint64_t{1} << 26;
}

std::vector<uint64_t> panel_sizes(const experiment_request& request) {
  if (has_chosen(request, "panel")) {
    const std::vector<int64_t> chosen = request.axes.numbers_or("panel", {});
    return {chosen.begin(), chosen.end()};
  }
  if (request.device.kind != device_kind::cuda) return {uint64_t{1} << 19};
  if (request.quick) return {uint64_t{1} << 23};
  return {uint64_t{1} << 21, uint64_t{1} << 23, uint64_t{1} << 24, uint64_t{1} << 25};
}

/// Eight blocks of 256 threads on each multiprocessor; on processors a thread each.
std::string default_shape(const device_description& device) {
  const int units = std::max(device.compute_units, 1);
  return device.kind == device_kind::cuda ? fmt::format("{}x256", 8 * units) : fmt::format("{}x1", std::max(units, 2));
}

template <class Value>
std::vector<Value> chosen_values(const experiment_request& request, const char* axis,
                                 const std::vector<std::string>& names, const std::vector<std::string>& defaults) {
  std::vector<Value> values;
  for (const std::string& word : chosen_words(request, axis, names, defaults)) {
    values.push_back(static_cast<Value>(std::ranges::find(names, word) - names.begin()));
  }
  return values;
}

std::vector<panel_problem> cases_of(const experiment_request& request) {
  const auto ops = chosen_values<panel_op>(
      request, "op", panel_op_names(),
      request.quick ? std::vector<std::string>{"gather"} : std::vector<std::string>{"gather", "scatter"});
  const auto imbalances = chosen_values<panel_imbalance>(request, "imbalance", panel_imbalance_names(), {"blocks"});
  const auto table =
      static_cast<uint64_t>(chosen_number(request, "table", static_cast<int64_t>(default_table(request.device.kind))));
  const auto starts = chosen_values<panel_start>(request, "start", panel_start_names(), {"same"});
  const std::vector<int64_t> works = request.axes.numbers_or("work", {0});
  std::vector<panel_problem> all;
  for (const step_shape& shape : shapes_or(request, {default_shape(request.device)})) {
    for (const panel_op op : ops) {
      for (const panel_imbalance imbalance : imbalances) {
        for (const uint64_t panel : panel_sizes(request)) {
          for (const panel_start start : starts) {
            for (const int64_t work : works) {
              all.push_back(
                  {op, imbalance, table, panel, shape.blocks, shape.threads, start, static_cast<uint32_t>(work)});
              try {
                (void)all.back().work();
              } catch (const invalid_argument& refused) {
                throw usage_error(refused.what());
              }
            }
          }
        }
      }
    }
  }
  return all;
}

std::string word_of(panel_op op) {
  return panel_op_names().at(static_cast<size_t>(op));
}
std::string word_of(panel_imbalance imbalance) {
  return panel_imbalance_names().at(static_cast<size_t>(imbalance));
}

std::string word_of(panel_start start) {
  return panel_start_names().at(static_cast<size_t>(start));
}

std::string label(const panel_problem& one) {
  std::string words = fmt::format("{}, panels of {}, {} blocks x {} threads, {}", word_of(one.op),
                                  bytes_in_words(one.panel_bytes), one.blocks, one.threads, word_of(one.imbalance));
  if (one.start != panel_start::same) words += ", " + word_of(one.start);
  if (one.multiply_adds != 0) words += fmt::format(", {} multiply-adds", one.multiply_adds);
  return words;
}

prepared_method prepare(panels_device& device, const panel_problem& problem, const step_method& method) {
  const auto program = kept_if_stuck(device.prepare(problem, method.name));
  candidate turns;
  turns.run = [program]() -> turn_samples { return {{time_sample, program->run()}}; };
  prepared_method made{turns, [program] { return program->verify(); }};
  if (is_window(method.name)) {
    made.finish = [program](row& entry) {
      entry.metrics.emplace_back("given_up", plain_metric(program->given_up(), "1", 1));
    };
  }
  return made;
}

stop_rule rule_for(bool quick) {
  stop_rule rule;
  rule.min_samples = quick ? 5 : 11;
  rule.max_samples = quick ? 9 : 41;
  rule.samples_before_budget = rule.min_samples;
  rule.budget_ns = quick ? 2e9 : 6e9;
  return rule;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<panels_device>(request.device);
  const std::vector<step_method> methods = chosen_methods(request, device->methods());
  const comparison_setting setting{name, request, sink};
  for_each_case(cases_of(request), sink, label, [&](const panel_problem& one, const auto& progress) {
    auto results = compare_methods(
        setting, methods, [&](const step_method& method) { return prepare(*device, one, method); },
        rule_for(request.quick), progress);
    for (method_result& result : results) {
      row& entry = result.entry;
      // A window is no way to wait for data, nor are launches in an order that nothing promises.
      if (!result.method.ordered && entry.method != method_names::none) entry.kind.reset();
      entry.metrics.insert(entry.metrics.begin(),
                           {"time", result.median_of(time_sample, 1e-6, "ms", request.keep_samples)});
    }
    add_ratios(results, "time", time_sample, {method_names::none, "cg", "launch-a-panel"});
    axis_values axes{{"op", word_of(one.op)},
                     {"imbalance", word_of(one.imbalance)},
                     {"table", static_cast<int64_t>(one.table_bytes)},
                     {"panel", static_cast<int64_t>(one.panel_bytes)},
                     {"shape", to_word(step_shape{one.blocks, one.threads, false})}};
    // Where they say something: rows that were recorded before there were such axes stay comparable.
    if (has_chosen(request, "start")) axes.emplace_back("start", word_of(one.start));
    if (has_chosen(request, "work")) axes.emplace_back("work", static_cast<int64_t>(one.multiply_adds));
    add_rows(results, axes, sink);
  });
}

std::string answer(const measured_rows& measured) {
  const std::string over_drift = std::string("time_over_") + method_names::none;
  const row* const best = least(measured, over_drift, [](const row& entry) { return is_window(entry.method); });
  if (best == nullptr) return "";
  const double ratio = *value_of(*best, over_drift);
  const std::string head =
      ratio < 0.99 ? fmt::format("Keep blocks together over panels by {}: {} of the time", best->method, figure(ratio))
                   : "Windows over panels gain nothing here";
  return answer_in(measured, {head}, best);
}

const register_experiment registered({
    name,
    "what does it bring to keep the blocks of a grid at the same panel of a table larger than the cache?",
    {},
    {device_kind::cuda, device_kind::host},
    {{"op",
      "what blocks do to random words of a panel, or, of a stream, to all of them in order: " +
          fmt::format("{}", fmt::join(panel_op_names(), ", ")),
      0, 0, true, "gather,scatter"},
     {"imbalance", "how unlike their work is: " + fmt::format("{}", fmt::join(panel_imbalance_names(), ", ")), 0, 0,
      true, "blocks"},
     {"table", "its bytes", 64, int64_t{1} << 40, false, "2^31; on host threads 2^26", true},
     {"panel", "bytes of a panel: a power of two", 8, int64_t{1} << 32, false,
      "2^21,2^23,2^24,2^25; on host threads 2^19"},
     {"start", "the panel at which blocks begin: same, or spread over the table", 0, 0, true, "same"},
     {"work", "dependent multiply-adds on each word that is read", 0, 1 << 20, false, "0"},
     shape_axis("8 blocks of 256 threads on each multiprocessor; on host threads one of each processor"),
     {"method", "ways to keep blocks together, by name", 0, 0, true, "all"}},
    run,
    {[](const experiment_request& request) {
       (void)cases_of(request);
       if (has_chosen(request, "method")) {
         (void)chosen_methods(request, open_side<panels_device>(request.device)->methods());
       }
     },
     [](const device_description& device) {
       std::vector<std::string> names;
       for (const step_method& each : open_side<panels_device>(device)->methods()) names.push_back(each.name);
       return names;
     }},
    case_time{30, 8},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::panels_experiment
