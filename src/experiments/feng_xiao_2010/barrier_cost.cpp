// Experiment barrier-cost: what one step boundary costs under every method that a device has. The question of Feng and
// Xiao 2010, asked of the machine at hand. And barrier-memory: the same with the words of barriers in the host's
// memory, which the thesis of 2013 planned (section 2.1.2).
#include <fmt/format.h>

#include <algorithm>

#include "harness/answers.hpp"
#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/barrier_memory/barrier_memory.hpp"

namespace gpusync::tool::barrier_cost_experiment {

namespace {

/// An experiment, and the workload whose methods it compares.
struct compared {
  const char* name;
  const char* workload;
};
constexpr compared costs{"barrier-cost", "average"}, memories{"barrier-memory", "barrier-memory"};

std::vector<step_shape> shapes_of(const experiment_request& request, workload& workload) {
  std::vector<step_shape> shapes;
  for (const int64_t threads : chosen_numbers(request, "threads", workload.default_threads(request.quick))) {
    for (const int64_t blocks : chosen_blocks(request, workload, threads)) {
      for (const int64_t stores : request.axes.numbers_or("stores", {0, 1})) {
        shapes.push_back({static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), stores != 0});
      }
    }
  }
  return shapes;
}

template <const compared& What>
void run(const experiment_request& request, const experiment_sink& sink) {
  const auto workload = open_workload(What.workload, request.device);
  const std::vector<step_method> methods = chosen_methods(request, workload->methods());
  const auto label = [&](const step_shape& shape) { return request.device.id + " " + in_words(shape); };
  for_each_case(shapes_of(request, *workload), sink, label, [&](const step_shape& shape, const auto& progress) {
    auto results = compare_steps(*workload, {What.name, request, sink}, methods, shape, progress);
    add_rows(results, axes_of(shape), sink);
  });
}

template <const compared& What>
request_check checked() {
  return check_methods(
      [](const device_description& device) { return open_workload(What.workload, device)->methods(); });
}

std::vector<axis> axes() {
  return {{"blocks", "blocks (work-groups) in the grid", 1, 65535, false, "some that run at once, up to all"},
          {"threads", "threads (work-items) in a block", 1, 1024, false, "the device's usual ones"},
          {"stores", "1: every step writes a word per thread that another block reads and checks", 0, 1, false, "0,1"},
          {"method", "ways to wait, by name", 0, 0, true, "all that the device has"}};
}

bool is_in_host_memory(const row& entry) {
  return entry.method.ends_with(in_host_memory);
}

/// The quickest barriers of both kinds, on the most blocks that those in the host's memory were measured on, with
/// stores if there were some.
std::string memory_answer(const measured_rows& measured) {
  const auto size_of = [](const row& entry) {
    return std::pair(axis_number(entry.axes, "blocks"), axis_number(entry.axes, "stores"));
  };
  const auto largest = std::ranges::max_element(
      measured.rows, {}, [&](const row* entry) { return std::pair(is_in_host_memory(*entry), size_of(*entry)); });
  if (largest == measured.rows.end() || !is_in_host_memory(**largest)) return "";
  const auto quickest = [&](bool in_host) {
    return least(measured, "step_time", [&](const row& entry) {
      return entry.kind == method_kind::barrier && is_in_host_memory(entry) == in_host &&
             entry.axes == (*largest)->axes;
    });
  };
  const row *const there = quickest(true), *const here = quickest(false);
  if (there == nullptr || here == nullptr) return "";
  const std::string head =
      fmt::format("Words in the host's memory: {} us a step by the quickest barrier, {} in the device's",
                  figure(*value_of(*there, "step_time")), figure(*value_of(*here, "step_time")));
  return answer_in(measured, {head}, *largest);
}

const register_experiment cost_registered({
    costs.name,
    "what one step boundary costs, by every way to wait that the device has",
    {"F1", "F2", "F3", "F4", "F5", "F11", "F12", "S1"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    axes(),
    run<costs>,
    checked<costs>(),
});

const register_experiment memory_registered({
    memories.name,
    "what do barriers cost whose words lie in the host's memory, and not in the device's?",
    {"S10"},
    {device_kind::cuda},
    axes(),
    run<memories>,
    checked<memories>(),
    case_time{9, 2.5},
    memory_answer,
});

}  // namespace

}  // namespace gpusync::tool::barrier_cost_experiment
