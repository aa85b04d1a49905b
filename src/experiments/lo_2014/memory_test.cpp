// Experiment memory-test: the loop on which Lo et al. (2014) found that a barrier nobody needs can pay (algorithm 1,
// table 1, figures 3 and 5).
#include "experiments/lo_2014/paced_rows.hpp"
#include "harness/shapes.hpp"

namespace gpusync::tool::memory_test_experiment {

namespace {

constexpr const char* name = "memory-test";

std::vector<std::string> default_shapes(const experiment_request& request) {
  if (!is_gpu(request)) return {host_shape(request)};
  const std::string full = shape_of_units(request, 2, 512);
  if (request.quick) return {"30x512", full};
  // 516 and 520 threads: warps that share lines, of 32 and of 128 bytes.
  return {"30x512", "30x516", "30x520", shape_of_units(request, 1, 512), shape_of_units(request, 1, 516), full};
}

std::vector<paced_case> cases_of(const experiment_request& request) {
  std::vector<paced_case> all;
  for (const bool small : chosen_l1(request, false)) {
    for (const step_shape& shape : shapes_or(request, default_shapes(request))) {
      for (const int64_t length : chosen_numbers(request, "checks", {is_gpu(request) ? 8192u : 4096u})) {
        paced_case& one = all.emplace_back();
        one.text = name;
        one.problem.shape = shape;
        one.problem.length = static_cast<uint64_t>(length);
        one.problem.small_l1 = small;
        one.axes = {{"shape", to_word(shape)}, {"checks", length}, {"l1", std::string(l1_word(small))}};
      }
    }
  }
  return all;
}

const paced_experiment what{name, {"L2", "L3"}, {"L6", "L7"}, {"L5"}, cases_of};

const register_experiment registered({
    name,
    "whether a barrier that nothing needs speeds up a test of memory, and what of it is waiting's doing",
    {"L2", "L3", "L5", "L6", "L7"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    paced_axes({{"checks", "cells that each thread looks at", 1, 1 << 20, false, "8192; elsewhere 4096"}},
               "30x512,30x516,30x520, and 1 and 2 blocks of 512 threads for each multiprocessor"),
    [](const experiment_request& request, const experiment_sink& sink) { run_paced(what, request, sink); },
    check_paced(cases_of, {name}),
    case_time{18, 3},
    paced_answer,
});

}  // namespace

}  // namespace gpusync::tool::memory_test_experiment
