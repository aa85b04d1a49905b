// Experiment converging-stencil: a Jacobi relaxation that ends when no point changes by more than a tolerance, and
// what asking for that in each step takes.
#include <fmt/format.h>

#include "experiments/grid_barriers/stencil_cases.hpp"
#include "harness/method_comparison.hpp"
#include "measure/repeat_difference.hpp"

namespace gpusync::tool::converging_stencil_experiment {

namespace {

constexpr const char* name = "converging-stencil";

/// Steps of a relaxation, as far as a tolerance can be chosen for that many.
uint32_t wanted_steps(const experiment_request& request) {
  return static_cast<uint32_t>(request.axes.numbers_or("steps", {request.quick ? 200 : 500}).front());
}

/// The ways that are compared if the user names none; in strips plates that can be cut so.
const std::vector<std::string> ways_on_gpu{"launch-wait", "relaunch", "graph", "graph-pdl",    "graph-pdl-late",
                                           "graph-while", "cg",       "votes", "votes-on-chip"};
const std::vector<std::string> ways_on_host{"launch-wait", "lock-based-acquire-release", "votes"};
const std::vector<std::string> ways_in_strips{"cg-strips", "votes-strips", "halo-votes-strips"};

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload, const relaxing& one) {
  std::vector<std::string> defaults = request.device.kind == device_kind::host ? ways_on_host : ways_on_gpu;
  if (has_strips(one)) defaults.insert(defaults.end(), ways_in_strips.begin(), ways_in_strips.end());
  return chosen_methods(request, workload.methods(), defaults);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<stencil_device>(request.device);
  const bool on_gpu = request.device.kind == device_kind::cuda;
  const std::vector<uint32_t> sides = !on_gpu         ? std::vector<uint32_t>{64}
                                      : request.quick ? std::vector<uint32_t>{1024}
                                                      : std::vector<uint32_t>{512, 1024, 2048};
  const auto cases =
      relaxing_cases(request, *device, sides, request.quick ? std::vector<int64_t>{2} : std::vector<int64_t>{2, 3},
                     {"132x256", "132x512"});
  body_of_cases body(*device, [&](const relaxing& one) {
    return stencil_body::until_converged(one.size, one.type.real, wanted_steps(request));
  });
  for_each_case(cases, sink, label_of, [&](const relaxing& one, const auto& progress) {
    workload& relaxed = body.of(one, progress);
    auto results =
        compare_steps(relaxed, {name, request, sink}, methods_of(request, relaxed, one), one.shape, progress);
    add_ratios(results, "step_time", step_sample,
               {"launch-wait", "graph", "graph-pdl", "graph-pdl-late", "graph-while", "cg", "cg-strips"});
    axis_values axes = axes_of(one);
    axes.push_back({"steps", static_cast<int64_t>(body.steps())});
    axes.push_back({"tolerance", fmt::format("{:.3g}", *body.tolerance())});
    add_rows(results, axes, sink);
  });
}

const register_experiment registered({
    name,
    "a step of a Jacobi relaxation that ends when no point changes by more than a tolerance: who asks, and what it "
    "takes",
    {},
    {device_kind::cuda, device_kind::host},
    {shape_axis("132x256,132x512; on the host a block on each processor"),
     {"dimensions", "2: a square plate of elements^2 points; 3: a cube of about as many", 2, 3, false,
      "2,3; with --quick 2"},
     {"elements", "points on a side of the plate", 8, 8192, false, "512,1024,2048; with --quick 1024; on the host 64"},
     point_axis(),
     {"steps", "about how many it shall take: the tolerance is chosen for it", 4, 100'000, false,
      "500; with --quick 200", true},
     {"method", "ways to pass from step to step, by name", 0, 0, true,
      on_axis(ways_on_gpu) + " and, of " + plates_with_strips + ", " + on_axis(ways_in_strips) +
          ", as far as the device has them; on the host " + on_axis(ways_on_host)}},
    run,
    check_methods([](const device_description& device) {
      const auto smallest = stencil_body::until_converged({8, 8, 1}, stencil_real::single, 4);
      return open_side<stencil_device>(device)->relaxing(smallest)->methods();
    }),
});

}  // namespace

}  // namespace gpusync::tool::converging_stencil_experiment
