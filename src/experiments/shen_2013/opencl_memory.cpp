// Experiment opencl-memory: the device memory that a program needs under each method, over the number of work-groups.
// Figure 4-7 and appendix J of Shen 2013 (item S8). Counted, not sampled: the sum of our own allocations.
#include <fmt/format.h>

#include "experiments/shen_2013/thesis_comparison.hpp"
#include "harness/answers.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool::opencl_memory_experiment {

namespace {

constexpr const char* name = "opencl-memory";

/// As many as show that the barrier holds in the memory that was counted.
constexpr int64_t iterations = 10;

void fill_in(const thesis_memory& memory, row& entry) {
  entry.metrics = {{"device_memory", empty_metric("KB")}};
  if (memory.needed > 0) {
    entry.metrics = {{"device_memory", plain_metric(static_cast<double>(memory.needed) / 1024, "KB", 1)},
                     {"barrier_memory", count_metric(memory.barrier, "bytes")},
                     {"algorithm_memory", count_metric(memory.algorithm, "bytes")},
                     {"allocated", count_metric(memory.allocated, "bytes")}};
  }
  if (entry.verified != true) return;
  mark_verified(entry, memory.needed == memory.allocated,
                fmt::format("Our count of device memory is {} bytes, but OpenCL has allocated {}.", memory.needed,
                            memory.allocated));
  if (entry.status != row_status::ok) return;
  entry.verification = fmt::format("{} bytes are what OpenCL has allocated; {} iterations in them: {}", memory.needed,
                                   iterations, *entry.verification);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  stop_rule once = thesis_rounds(request.quick);
  once.min_samples = once.max_samples = 1;
  const auto finish = [](std::vector<method_result>& results, memory_by_method& memory) {
    for (method_result& result : results) fill_in(memory[result.method.name], result.entry);
  };
  answer_thesis({name, {"S8", "S9"}, {iterations}, false, once, finish, true}, request, sink);
}

/// On as many work-groups as were synchronized at most.
std::string answer(const measured_rows& measured) {
  int64_t most = 0;
  for (const row* entry : measured.rows) most = std::max(most, axis_number(entry->axes, "groups").value_or(0));
  const row* best = least(measured, "barrier_memory", [&](const row& entry) {
    return entry.kind == method_kind::barrier && axis_number(entry.axes, "groups") == most;
  });
  if (best == nullptr) return "";
  return answer_in(
      measured,
      {fmt::format("The smallest barrier is {}: {:.0f} bytes", best->method, *value_of(*best, "barrier_memory"))},
      best);
}

const register_experiment registered({
    name,
    "how much device memory each way to wait takes under OpenCL, beside the thesis of 2013",
    {"S8", "S9"},
    {device_kind::opencl},
    thesis_axes(),
    run,
    check_methods([](const device_description& device) { return open_side<thesis_device>(device)->methods(); }),
    case_time{6, 3},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::opencl_memory_experiment
