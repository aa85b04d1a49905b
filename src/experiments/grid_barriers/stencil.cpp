// Experiment stencil: Jacobi relaxation with one boundary a step, in one kernel with a grid barrier, which may keep the
// body on the chip, and in a kernel for each step.
#include "experiments/grid_barriers/stencil_cases.hpp"
#include "harness/method_comparison.hpp"
#include "measure/repeat_difference.hpp"

namespace gpusync::tool::stencil_experiment {

namespace {

constexpr const char* name = "stencil";

/// The ways that are compared if the user names none: of any body; besides of plates and cubes; besides of plates that
/// can be cut into strips.
const std::vector<std::string> ways{"relaunch",
                                    "graph",
                                    "graph-pdl",
                                    "graph-pdl-late",
                                    "cg",
                                    "lock-based-acquire-release",
                                    method_names::default_barrier};
const std::vector<std::string> ways_on_chip{"cg-on-chip", "placed-counters-acquire-release-on-chip",
                                            "placed-counters-acquire-release-on-chip-split",
                                            "neighbour-barrier-on-chip", "neighbour-barrier-on-chip-split"};
const std::vector<std::string> ways_in_strips{"cg-strips", "placed-counters-acquire-release-strips",
                                              "placed-counters-acquire-release-strips-split",
                                              "neighbour-barrier-strips", "halo-strips"};

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload, const relaxing& one) {
  std::vector<std::string> defaults = ways;
  if (request.device.kind == device_kind::host) defaults.insert(defaults.begin(), "launch-wait");
  if (one.dimensions > 1) defaults.insert(defaults.end(), ways_on_chip.begin(), ways_on_chip.end());
  if (has_strips(one)) defaults.insert(defaults.end(), ways_in_strips.begin(), ways_in_strips.end());
  return chosen_methods(request, workload.methods(), defaults);
}

std::vector<relaxing> cases_of(const experiment_request& request, const stencil_device& device) {
  return relaxing_cases(
      request, device, request.quick ? std::vector<uint32_t>{256} : std::vector<uint32_t>{256, 512, 1024}, {1, 2, 3},
      request.quick ? std::vector<std::string>{"132x512"} : std::vector<std::string>{"132x512", "264x1024"});
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<stencil_device>(request.device);
  body_of_cases body(*device, [](const relaxing& one) { return stencil_body(one.size, one.type.real); });
  for_each_case(cases_of(request, *device), sink, label_of, [&](const relaxing& one, const auto& progress) {
    workload& relaxed = body.of(one, progress);
    auto results =
        compare_steps(relaxed, {name, request, sink, {"Z24"}}, methods_of(request, relaxed, one), one.shape, progress);
    add_ratios(results, "step_time", step_sample, {"cg", "graph", "graph-pdl", "graph-pdl-late"});
    add_rows(results, axes_of(one), sink);
  });
}

const register_experiment registered({
    name,
    "a step of a Jacobi relaxation: one kernel with a grid barrier, or a kernel for each step",
    {"Z24"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    {shape_axis("132x512,264x1024; with --quick 132x512; on OpenCL and the host a block on each processor"),
     {"dimensions", "1: a rod of elements^2 points; 2: a square plate of as many; 3: a cube of about as many", 1, 3,
      false, "1,2,3"},
     {"elements", "points on a side of the plate", 8, 8192, false, "256,512,1024; with --quick 256"},
     point_axis(),
     {"method", "ways to pass from step to step, by name", 0, 0, true,
      on_axis(ways) + " and, of plates and cubes, " + on_axis(ways_on_chip) + ", and of " + plates_with_strips + ", " +
          on_axis(ways_in_strips) + ", as far as the device has them; on the host launch-wait besides"}},
    run,
    check_methods([](const device_description& device) {
      const stencil_body smallest({3, 3, 1});  // it has the same methods
      return open_side<stencil_device>(device)->relaxing(smallest)->methods();
    }),
});

}  // namespace

}  // namespace gpusync::tool::stencil_experiment
