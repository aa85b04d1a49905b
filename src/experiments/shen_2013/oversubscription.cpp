// Experiment oversubscription: phases of a grid with more work-groups than run at once. A plain barrier waits for ever
// then (Shen 2013, section 3.3); a phased grid does not. What does a phase cost, beside a launch for each?
#include <fmt/format.h>

#include "harness/choices.hpp"
#include "harness/method_comparison.hpp"
#include "measure/repeat_difference.hpp"

namespace gpusync::tool::oversubscription_experiment {

namespace {

constexpr const char* name = "oversubscription";

struct shape_on {
  step_shape shape;
  uint64_t resident;
};

/// 1, half of those that run at once, all of them, and 2 to 64 times as many.
std::vector<int64_t> default_blocks(uint64_t resident, bool quick) {
  const auto all = static_cast<int64_t>(resident);
  std::vector<int64_t> blocks;
  const auto add = [&blocks](int64_t count) {
    if (count > (blocks.empty() ? 0 : blocks.back())) blocks.push_back(count);
  };
  if (quick) {
    for (const int64_t times : {1, 2, 64}) add(times * all);
    return blocks;
  }
  add(1);
  add(all / 2);
  for (int64_t times = 1; times <= 64; times *= 2) add(times * all);
  return blocks;
}

std::vector<shape_on> shapes_of(const experiment_request& request, workload& workload) {
  std::vector<shape_on> shapes;
  for (const int64_t threads : chosen_numbers(request, "threads", workload.default_threads(request.quick))) {
    const uint64_t resident = workload.max_co_resident(static_cast<uint32_t>(threads));
    for (const int64_t blocks : request.axes.numbers_or("virtual_blocks", default_blocks(resident, request.quick))) {
      shapes.push_back({{static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), true}, resident});
    }
  }
  return shapes;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto workload = open_workload(name, request.device);
  const std::vector<step_method> methods = chosen_methods(request, workload->methods());
  const auto label = [&](const shape_on& one) {
    return fmt::format("{} {} blocks x {} threads on {}", request.device.id, one.shape.blocks, one.shape.threads,
                       one.resident);
  };
  for_each_case(shapes_of(request, *workload), sink, label, [&](const shape_on& one, const auto& progress) {
    auto results = compare_steps(*workload, {name, request, sink}, methods, one.shape, progress);
    add_ratios(results, "step_time", step_sample, {"relaunch", "graph"});
    add_rows(results,
             {{"virtual_blocks", int64_t{one.shape.blocks}},
              {"resident", static_cast<int64_t>(one.resident)},
              {"threads", int64_t{one.shape.threads}}},
             sink);
  });
}

const register_experiment registered({
    name,
    "what a phase costs in a grid of more blocks than run at once, in one kernel and in a launch for each phase",
    {"S5"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    {{"virtual_blocks", "blocks (work-groups) of the grid", 1, 1 << 24, false, "1 to 64 times those that run at once"},
     {"threads", "threads (work-items) in a block", 1, 1024, false, "256 on GPUs, 64 on CPUs' OpenCL, 1 on the host"},
     {"method", "ways to run the phases, by name", 0, 0, true, "all"}},
    run,
    check_methods([](const device_description& device) { return open_workload(name, device)->methods(); }),
});

}  // namespace

}  // namespace gpusync::tool::oversubscription_experiment
