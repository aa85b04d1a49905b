// Experiment reduction: the sum of an array by this library, by CUB, with the barrier at a kernel's end and with one in
// the kernel, beside kernels that do no more than to read it.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/zhang_2020/sum_cases.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/method_comparison.hpp"
#include "harness/published.hpp"
#include "measure/repeat_difference.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/graph_states/graph_states.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool::reduction_experiment {

namespace {

constexpr const char* name = "reduction";
constexpr const char* library_method = "gpusync";
constexpr const char* history_axis = "history";

bool on_gpu(const experiment_request& request) {
  return request.device.kind == device_kind::cuda;
}

std::vector<int64_t> sizes_of(const experiment_request& request) {
  std::vector<int64_t> defaults;
  if (request.quick) {
    defaults = {1 << 14, 1 << 20, 1 << 26};
  } else {
    for (int power = 10; power <= (on_gpu(request) ? 32 : 24); power += 2) defaults.push_back(int64_t{1} << power);
  }
  return defaults;
}

std::vector<sum_case> cases_of(const experiment_request& request) {
  const std::vector<std::string> inputs =
      on_gpu(request) ? std::vector<std::string>{"cold", "l2"} : std::vector<std::string>{"l2"};
  return sum_cases(request, {sizes_of(request), inputs, "graph"});
}

/// What this process does before it measures: graphs are slower after some of it, and stay so.
process_history history_of(const experiment_request& request) {
  const process_history history =
      chosen_of(request, history_axis, process_histories, &process_history::name, {process_histories[0].name}).front();
  if (history.did != process_history::what::nothing && !on_gpu(request)) {
    throw usage_error(fmt::format("Axis {} is for CUDA devices: elsewhere there are no graphs.", history_axis));
  }
  return history;
}

/// The method of that kind with the least median; null if none has one.
const method_result* fastest(const std::vector<method_result>& results,
                             const std::function<bool(const step_method&)>& wanted) {
  const method_result* best = nullptr;
  const auto time = [](const method_result& result) { return value_of(result.entry, "step_time"); };
  for (const method_result& result : results) {
    if (!wanted(result.method) || result.entry.status != row_status::ok || !time(result)) continue;
    if (best == nullptr || *time(result) < *time(*best)) best = &result;
  }
  return best;
}

bool is_cub(const step_method& method) {
  return method.name.starts_with("cub-");
}

/// Adds what a sum's time means: the rate, and the ratio to the better form of CUB and to the fastest kernel that only
/// reads as much.
void add_meaning(std::vector<method_result>& results, uint64_t bytes) {
  const method_result* const cub = fastest(results, is_cub);
  const method_result* const read =
      fastest(results, [](const step_method& method) { return method.kind == method_kind::floor; });
  for (method_result& result : results) {
    const std::optional<double> time = value_of(result.entry, "step_time");
    if (result.entry.status != row_status::ok || !time) continue;
    const metric& measured = result.entry.metrics.front().second;
    result.entry.metrics.emplace_back("bandwidth",
                                      plain_metric(static_cast<double>(bytes) / *time / 1e3, "GB/s", measured.n));
    for (const auto& [rival, metric_name] :
         {std::pair(cub, "step_time_over_cub"), std::pair(read, "step_time_over_read")}) {
      if (rival == nullptr) continue;
      result.entry.metrics.emplace_back(metric_name,
                                        ratio_of(result.figures.of(step_sample), rival->figures.of(step_sample)));
    }
  }
}

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  if (on_gpu(request)) {
    return chosen_methods(request, workload.methods(),
                          {library_method, "cub-int", "cub-size", "implicit", "implicit-pdl", "grid-cg", "grid",
                           "read-128x4", "read-256x4", "read-512x8", "read-dealt", "read-claimed"});
  }
  return chosen_methods(request, workload.methods(),
                        {"launch-wait", "relaunch", "lock-based-acquire-release", "sense-reversing-acquire-release"});
}

step_shape shape_of(const experiment_request& request) {
  if (on_gpu(request)) return {1, 1};  // sums know their own
  return {static_cast<uint32_t>(std::max(1, request.device.compute_units)), 1};
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const process_history history = history_of(request);
  const bool is_clean = history.did == process_history::what::nothing;
  const auto states = is_clean ? nullptr : open_side<graph_states_device>(request.device);
  if (states) states->carry_out(history);
  const auto device = open_side<reduction_device>(request.device);
  std::vector<sum_case> cases = cases_of(request);
  std::erase_if(cases, [most = device->most_cached_bytes()](const sum_case& one) { return is_uncached(one, most); });
  const auto label = [](const sum_case& one) { return label_of(one, one.problem().elements); };
  for_each_case(cases, sink, label, [&](const sum_case& one, const auto& progress) {
    const auto workload = kept_if_stuck(device->summing(one.problem()));
    auto results = compare_steps(*workload, {name, request, sink, {"Z14", "Z15"}}, methods_of(request, *workload),
                                 shape_of(request), progress);
    add_meaning(results, one.problem().bytes());
    axis_values axes{{"type", one.type}, {"bytes", static_cast<int64_t>(one.bytes)}, {"count", one.count}};
    if (on_gpu(request)) {
      axes.emplace_back("input", one.input);
      axes.emplace_back("passing", one.passing);
    }
    axes.emplace_back("offset", int64_t{one.offset});
    if (!is_clean) axes.emplace_back(history_axis, std::string(history.name));
    add_rows(results, axes, sink);
  });
  add_all(published_rows(paper::zhang_2020, name), sink);
}

std::string answer(const measured_rows& measured) {
  double best = 0, worst = 0;
  const row* where = nullptr;
  for (const row* entry : measured.rows) {
    const std::optional<double> ratio = value_of(*entry, "step_time_over_cub");
    if (entry->method != library_method || !ratio) continue;
    if (where == nullptr || *ratio < best) best = *ratio, where = entry;
    worst = std::max(worst, *ratio);
  }
  if (where == nullptr) {
    const row* const fastest_row = least(measured, "step_time");
    if (fastest_row == nullptr) return "";
    return answer_in(
        measured,
        {fmt::format("Sum with {}: {} us", fastest_row->method, figure(*value_of(*fastest_row, "step_time")))},
        fastest_row);
  }
  const std::string size = bytes_in_words(static_cast<uint64_t>(*axis_number(where->axes, "bytes")));
  if (worst <= 1) {
    return answer_in(measured, {fmt::format("Use gpusync::reduce: {} to {} of CUB's time, {} us for {}", figure(best),
                                            figure(worst), figure(*value_of(*where, "step_time")), size)});
  }
  return answer_in(measured, {fmt::format("Use gpusync::reduce where it is measured to win: {} to {} of CUB's time, "
                                          "the least at {}",
                                          figure(best), figure(worst), size)});
}

request_check request_check_of_sums() {
  request_check made = check_methods(
      [](const device_description& device) { return open_side<reduction_device>(device)->summing({})->methods(); });
  made.check = [methods = made.check](const experiment_request& request) {
    (void)cases_of(request);
    (void)history_of(request);
    methods(request);
  };
  return made;
}

std::vector<axis> axes_of_experiment() {
  std::vector<axis> all = axes_of_sums("cold,l2; on the host l2", "graph");
  all.insert(all.begin(), {"bytes", "size of the input", 16, int64_t{1} << 35, false,
                           "2^10 to 2^32, every fourth size; with --quick 2^14,2^20,2^26; on the host at most 2^24"});
  all.push_back({"offset", "elements between a boundary of 256 bytes and the first", 0, 3, false, "0"});
  all.push_back({history_axis, "what the process has done before, as in graph-states; it slows graphs down for good", 0,
                 0, true, process_histories[0].name, true});
  all.push_back({"method", "ways to sum, by name; on the host ways to pass from step to step", 0, 0, true,
                 "those that differ most"});
  return all;
}

const register_experiment registered({
    name,
    "the sum of an array: one launch of ours, CUB, two kernels, or a kernel with a grid barrier",
    {"Z14", "Z15"},
    {device_kind::cuda, device_kind::host},
    axes_of_experiment(),
    run,
    request_check_of_sums(),
    case_time{10, 3},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::reduction_experiment
