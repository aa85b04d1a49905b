// Experiment conjugate-gradients: a solver with two sums over all blocks in each iteration, in one kernel and in two
// kernels for each iteration.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "usage_error.hpp"
#include "workloads/conjugate_gradients/conjugate_gradients.hpp"

namespace gpusync::tool::conjugate_gradients_experiment {

namespace {

constexpr const char* name = "conjugate-gradients";

std::vector<step_shape> shapes_of(const experiment_request& request) {
  if (request.device.kind == device_kind::host && !has_chosen(request, "shape")) {
    return {{static_cast<uint32_t>(std::max(1, request.device.compute_units)), 1}};
  }
  return shapes_or(request, {"132x512"});
}

void require_real(const std::string& word) {
  if (word == "float" || word == "double") return;
  throw usage_error(fmt::format("Axis type does not take '{}': it takes float, double.", word));
}

struct solving {
  step_shape shape;
  int64_t side;
  std::string type;
};

std::vector<solving> cases_of(const experiment_request& request) {
  const bool on_host = request.device.kind == device_kind::host;
  std::vector<solving> cases;
  for (const step_shape& shape : shapes_of(request)) {
    for (const int64_t side : chosen_numbers(request, "side",
                                             on_host         ? std::vector<uint32_t>{8}
                                             : request.quick ? std::vector<uint32_t>{256}
                                                             : std::vector<uint32_t>{128, 256, 512})) {
      const auto types = request.axes.words.find("type");
      for (const std::string& type : types != request.axes.words.end() ? types->second
                                     : request.quick                   ? std::vector<std::string>{"float"}
                                                                       : std::vector<std::string>{"float", "double"}) {
        cases.push_back({shape, side, type});
      }
    }
  }
  return cases;
}

/// The ways that are compared if the user names none.
const std::vector<std::string> ways_on_gpu{
    "relaunch", "graph", "graph-pdl", "graph-pdl-late", "cg", method_names::default_barrier, method_by_votes};
const std::vector<std::string> ways_on_host{"launch-wait", "lock-based-acquire-release", method_by_votes};

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  return chosen_methods(request, workload.methods(),
                        request.device.kind == device_kind::host ? ways_on_host : ways_on_gpu);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<conjugate_device>(request.device);
  const auto label = [](const solving& one) {
    return fmt::format("{}, {} x {} points, {}", to_word(one.shape), one.side, one.side, one.type);
  };
  std::shared_ptr<const conjugate_problem> problem;
  for_each_case(cases_of(request), sink, label, [&](const solving& one, const auto& progress) {
    if (problem == nullptr || problem->side() != one.side) {
      progress(0, "on the host");
      problem = std::make_shared<const conjugate_problem>(static_cast<uint32_t>(one.side));
    }
    const auto solver = kept_if_stuck(device->solving(problem, one.type == "double"));
    auto results = compare_steps(*solver, {name, request, sink}, methods_of(request, *solver), one.shape, progress);
    add_ratios(results, "step_time", step_sample,
               {"graph", "graph-pdl", "graph-pdl-late", "cg", method_names::default_barrier});
    add_rows(results,
             {{"shape", to_word(one.shape)},
              {"side", one.side},
              {"type", one.type},
              {"iterations", static_cast<int64_t>(problem->iterations())}},
             sink);
  });
}

const register_experiment registered({
    name,
    "conjugate gradients to convergence, two steps with a sum over all blocks in an iteration: one kernel with "
    "barriers or votes, or two kernels for each iteration",
    {},
    {device_kind::cuda, device_kind::host},
    {shape_axis("132x512; on the host a block on each processor"),
     {"side", "points on a side of the square: the matrix has side^2 rows of five entries", 4, 1024, false,
      "128,256,512; with --quick 256; on the host 8"},
     {"type", "what numbers are: float or double", 0, 0, true, "float,double; with --quick float", false, false,
      require_real},
     {"method", "ways to pass from step to step, by name", 0, 0, true,
      on_axis(ways_on_gpu) + "; on the host " + on_axis(ways_on_host)}},
    run,
    check_methods([](const device_description& device) {
      return open_side<conjugate_device>(device)
          ->solving(std::make_shared<const conjugate_problem>(4), false)
          ->methods();
    }),
});

}  // namespace

}  // namespace gpusync::tool::conjugate_gradients_experiment
