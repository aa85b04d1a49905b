// Experiment cost-decomposition: where a grid barrier's time goes. The micro-benchmark of Feng and Xiao 2010, section
// VI (figure 3, equations 1 to 3; items F11 to F19), with the parts that a barrier has today.
#include <fmt/format.h>

#include "experiments/feng_xiao_2010/decomposition_rows.hpp"
#include "harness/answers.hpp"
#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "models/decomposition.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool::cost_decomposition_experiment {

namespace {

constexpr const char* name = "cost-decomposition";
constexpr const char* workload_name = "barrier-parts";

/// Shapes that differ in their blocks only, along which lines are laid.
std::vector<std::vector<step_shape>> sweeps_of(const experiment_request& request, workload& workload) {
  std::vector<std::vector<step_shape>> sweeps;
  // The paper's steps have their work in them; without it, there is nothing for a fence to wait for.
  const std::vector<uint32_t> usual_stores = request.quick ? std::vector<uint32_t>{1} : std::vector<uint32_t>{0, 1};
  for (const int64_t threads : chosen_numbers(request, "threads", workload.default_threads(request.quick))) {
    for (const int64_t stores : chosen_numbers(request, "stores", usual_stores)) {
      std::vector<step_shape>& shapes = sweeps.emplace_back();
      for (const int64_t blocks : chosen_blocks(request, workload, threads)) {
        shapes.push_back({static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), stores != 0});
      }
    }
  }
  return sweeps;
}

/// A variant's row as this experiment calls it. Its time is not a `step_time`: a program with but a part of a barrier
/// in it is no way to pass a step, and must not be judged as one.
void name_row(row& entry, const step_shape& shape) {
  entry.axes = axes_of(shape);
  entry.axes.emplace_back("time_of", std::string(time_of_variants));
  entry.metrics.front().first = "variant_time";
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto workload = open_workload(workload_name, request.device);
  const std::vector<step_method> methods = chosen_methods(request, workload->methods());
  const auto label = [&](const step_shape& shape) { return request.device.id + " " + in_words(shape); };
  for_each_sweep(sweeps_of(request, *workload), sink, label, [&](const step_shape& shape, const auto& progress) {
    auto results = compare_steps(*workload, {name, request, sink, {"F11", "F19"}}, methods, shape, progress);
    for (method_result& result : results) name_row(result.entry, shape);
    const std::vector<row> parts = part_rows(results, request.keep_samples);
    std::vector<row> rows = add_rows(results, sink);
    add_all(parts, sink);
    rows.insert(rows.end(), parts.begin(), parts.end());
    return rows;
  });
  add_all(published_decomposition(), sink);
}

/// Of the largest grid, with stores.
std::string answer(const measured_rows& measured) {
  const auto size = [](const row& entry) {
    return std::pair{axis_number(entry.axes, "blocks").value_or(0), axis_number(entry.axes, "stores").value_or(0)};
  };
  const row* largest = nullptr;
  for (const row* entry : measured.rows) {
    const std::optional<double> time = value_of(*entry, "part_time");
    if (!time || entry->items.empty() || entry->kind != method_kind::barrier) continue;  // the paper's parts
    const bool better = largest == nullptr || size(*entry) > size(*largest) ||
                        (size(*entry) == size(*largest) && *time > *value_of(*largest, "part_time"));
    if (better) largest = entry;
  }
  if (largest == nullptr) return "";
  return answer_in(measured,
                   {fmt::format("Most of the lock-based barrier's time is {}: {} us", largest->method,
                                figure(*value_of(*largest, "part_time")))},
                   largest);
}

const register_experiment registered({
    name,
    "which parts a grid barrier's cost has, over the blocks, beside the paper of 2010",
    {"F11", "F12", "F13", "F14", "F15", "F16", "F17", "F18", "F19"},
    {device_kind::cuda, device_kind::host},
    {{"blocks", "blocks in the grid", 1, 65535, false, "some from 1 to one on each processor"},
     {"threads", "threads in a block", 1, 1024, false, "256 on CUDA, 1 on the host"},
     {"stores", "1: every step writes the mean of two floats for each thread; 0: empty steps", 0, 1, false,
      "0,1; with --quick 1"},
     {"method", "programs with some of a barrier's parts, by name", 0, 0, true, "all"}},
    run,
    check_methods([](const device_description& device) { return open_workload(workload_name, device)->methods(); }),
    case_time{9, 2.5},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::cost_decomposition_experiment
