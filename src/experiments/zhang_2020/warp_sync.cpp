// Experiment warp-sync: what it takes the lanes of a warp to wait for each other, or to exchange a value (Zhang et al.
// 2020, item Z6, Table 2).
#include <fmt/format.h>

#include <algorithm>

#include "experiments/zhang_2020/level_rows.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/published.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool::warp_sync_experiment {

namespace {

constexpr const char* name = "warp-sync";
constexpr const char *convergent = "convergent", *divergent = "divergent";

/// The operations that are known without a device, for what is asked before one is opened.
const std::vector<std::string> methods{"tile-sync", "tile-shuffle", "coalesced-sync", "coalesced-shuffle", "syncwarp",
                                       "shuffle",   "any",          "redux-max"};

std::vector<level_variant> chosen_variants(const experiment_request& request, const std::vector<level_variant>& all,
                                           const std::string& method) {
  const std::vector<int64_t> groups = request.axes.numbers_or("group", {1, 2, 3, 4, 8, 16, 31, 32});
  const std::vector<std::string> lanes = chosen_words(request, "lanes", {convergent, divergent});
  std::vector<level_variant> chosen;
  std::ranges::copy_if(all, std::back_inserter(chosen), [&](const level_variant& one) {
    return one.method == method && std::ranges::find(groups, int64_t{one.group}) != groups.end() &&
           std::ranges::find(lanes, one.divergent ? divergent : convergent) != lanes.end();
  });
  return chosen;
}

/// The variants of one method, measured side by side.
struct measured_variants {
  const comparison_setting& setting;
  levels_device& device;
  const std::vector<level_variant>& variants;

  std::vector<method_result> compare(const level_shape& shape, const std::function<void(double)>& progress) const {
    return compare_variants(setting, device, variants, shape, progress);
  }
};

/// Adds the throughput in one shape to a row if none before was more.
void add_throughput(row& entry, const method_result& result, const level_shape& shape, bool keep_samples) {
  if (result.entry.status == row_status::failed && entry.status == row_status::ok) {
    entry.status = row_status::failed;
    entry.verified = result.entry.verified;
    entry.reason = fmt::format("{} blocks of {} threads per SM: {}", shape.blocks_per_sm, shape.threads,
                               result.entry.reason.value_or(""));
  }
  if (result.entry.status != row_status::ok) return;
  const metric rate = throughput_of(result, keep_samples);
  const metric* const best = entry.find_metric("throughput");
  if (!rate.value || (best->value && *best->value >= *rate.value)) return;
  for (auto& [what, figure] : entry.metrics) {
    if (what == "throughput") figure = rate;
    if (what == "best_threads") figure = count_metric(shape.threads);
    if (what == "best_blocks_per_sm") figure = count_metric(shape.blocks_per_sm);
    if (what == "start_spread") {
      figure = median_metric(result.figures.of(start_sample), 1e-3, "us", keep_samples);
    }
  }
}

void measure(const measured_variants& what, counted_levels& code, const std::function<void(double)>& progress) {
  const experiment_request& request = what.setting.request;
  const experiment_sink& sink = what.setting.sink;
  const std::vector<level_shape> shapes =
      filling_shapes(what.device.threads_per_sm(), {32, 64, 128, 256, 512, 1024}, request.quick);
  std::vector<method_result> latencies = what.compare({}, part_of(progress, 0, shapes.size() + 1));
  for (method_result& result : latencies) {
    result.entry.metrics = {{"latency", result.median_of(latency_sample, 1, "cycles", request.keep_samples)},
                            {"throughput", empty_metric("1/cycle")},
                            {"best_threads", empty_metric("1")},
                            {"best_blocks_per_sm", empty_metric("1")},
                            {"start_spread", empty_metric("us")}};
  }
  for (size_t i = 0; i < shapes.size() && !sink.interrupted(); ++i) {
    const auto results = what.compare(shapes[i], part_of(progress, i + 1, shapes.size() + 1));
    for (size_t k = 0; k < results.size() && k < latencies.size(); ++k) {
      add_throughput(latencies[k].entry, results[k], shapes[i], request.keep_samples);
    }
  }
  for (size_t k = 0; k < latencies.size(); ++k) {
    row& entry = latencies[k].entry;
    const level_variant& variant = what.variants[k];
    name_by(entry, variant);
    entry.axes = {{"group", int64_t{variant.group}}, {"lanes", variant.divergent ? divergent : convergent}};
    code.add_to(entry, variant);
    if (code.is_removed(variant)) mark_removed(entry);
    sink.add(std::move(entry), true);
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const std::shared_ptr<levels_device> device = open_side<levels_device>(request.device, level_sides::warp);
  const std::vector<level_variant> all = device->variants();
  counted_levels code(*device, all);
  const comparison_setting setting{name, request, sink, {"Z6"}};
  constexpr const char* machine_code_case = "machine code";
  std::vector<std::string> cases = chosen_words(request, "method", methods);
  cases.insert(cases.begin(), machine_code_case);
  const auto label = [](const std::string& one) { return one; };
  for_each_case(cases, sink, label, [&](const std::string& one, const auto& progress) {
    if (one == machine_code_case) return sink.add(code.summary(name, request), true);
    const std::vector<level_variant> variants = chosen_variants(request, all, one);
    if (!variants.empty()) measure({setting, *device, variants}, code, progress);
  });
  if (!sink.interrupted()) add_all(joined(published_rows(paper::zhang_2020, name)), sink);
}

/// The row of a warp-wide operation, whatever came of it; null if there is none.
const row* find_row(const measured_rows& measured, const std::string& method, const char* lanes) {
  const axis_values axes{{"group", int64_t{32}}, {"lanes", lanes}};
  for (const row& entry : measured.results.rows) {
    if (entry.experiment == name && entry.device == measured.device && entry.method == method && entry.axes == axes) {
      return &entry;
    }
  }
  return nullptr;
}

std::optional<double> latency_in(const row* entry) {
  return entry == nullptr || entry->status != row_status::ok ? std::nullopt : value_of(*entry, "latency");
}

std::string answer(const measured_rows& measured) {
  const row* const together = find_row(measured, "syncwarp", convergent);
  const auto barrier = latency_in(together);
  const auto shuffle = latency_in(find_row(measured, "shuffle", convergent));
  const auto apart = latency_in(find_row(measured, "syncwarp", divergent));
  if (!shuffle || !apart || together == nullptr) return "";
  if (barrier) {
    return answer_in(measured, {fmt::format("A warp's barrier takes {} cycles, {} where lanes diverge; a shuffle {}",
                                            figure(*barrier), figure(*apart), figure(*shuffle))});
  }
  if (together->status != row_status::skipped) return "";
  return answer_in(measured, {fmt::format("A warp's barrier costs nothing unless lanes diverge, {} cycles then; a "
                                          "shuffle takes {}",
                                          figure(*apart), figure(*shuffle))});
}

const register_experiment registered({
    name,
    "what a barrier of a warp, of some of its lanes, and a shuffle take, and whether they are in the machine code at "
    "all",
    {"Z6"},
    {device_kind::cuda},
    {{"group", "lanes that synchronize: tiles have 1, 2, 4, 8, 16 or 32", 1, 32, false, "1,2,3,4,8,16,31,32"},
     {"lanes", "whether lanes come together or from two branches: convergent, divergent", 0, 0, true, "both"},
     {"method", "tile-sync, tile-shuffle, coalesced-sync, coalesced-shuffle, syncwarp, shuffle, any, redux-max", 0, 0,
      true, "all"}},
    run,
    {[](const experiment_request& request) {
       (void)chosen_words(request, "method", methods);
       (void)chosen_words(request, "lanes", {convergent, divergent});
     },
     [](const device_description&) { return methods; }},
    case_time{6, 1.5},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::warp_sync_experiment
