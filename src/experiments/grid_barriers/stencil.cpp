// Experiment stencil: Jacobi relaxation with one boundary a step, in one kernel with a grid barrier and in a kernel for
// each step.
#include <fmt/format.h>

#include "experiments/method_comparison.hpp"
#include "experiments/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* name = "stencil";

std::vector<step_shape> shapes_of(const experiment_request& request) {
  return shapes_or(
      request, request.quick ? std::vector<std::string>{"132x256"} : std::vector<std::string>{"132x256", "264x256"});
}

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  return chosen_methods(
      request, workload.methods(),
      {"relaunch", "graph", "graph-pdl", "cg", "lock-based-acquire-release", "placed-counters-acquire-release"});
}

void check(const experiment_request& request) {
  (void)shapes_of(request);
  // The smallest plate has the same methods.
  if (!has_chosen(request, "method")) return;
  (void)methods_of(request, *open_side<stencil_device>(request.device)->on_plate({3, 3}));
}

/// What is relaxed.
struct body {
  int64_t side, dimensions;

  stencil_size size() const {
    const auto columns = static_cast<uint32_t>(dimensions == 1 ? side * side : side);
    return {dimensions == 1 ? 1u : columns, columns};
  }
};

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<stencil_device>(request.device);
  const std::vector<step_shape> shapes = shapes_of(request);
  // By default the example's rod of 2^16 points, and a plate of as many.
  std::vector<body> bodies;
  for (const int64_t side : chosen_numbers(
           request, "elements", request.quick ? std::vector<uint32_t>{256} : std::vector<uint32_t>{256, 512, 1024})) {
    for (const int64_t dimensions : request.axes.numbers_or("dimensions", {1, 2})) bodies.push_back({side, dimensions});
  }
  std::string doing;
  const auto label = [&](const body& one) {
    return fmt::format("{} x {} points, {}", one.size().rows, one.size().columns, doing);
  };
  for_each_case(bodies, sink, label, [&](const body& one, const auto& progress) {
    doing = "on the host";
    progress(0);
    const auto workload = device->on_plate(one.size());
    for (size_t i = 0; i < shapes.size() && !sink.interrupted(); ++i) {
      doing = to_word(shapes[i]);
      auto results = compare_steps(
          *workload, {name, request, sink}, methods_of(request, *workload), shapes[i],
          [&](double fraction) { progress((static_cast<double>(i) + fraction) / static_cast<double>(shapes.size())); });
      add_ratios(results, "step_time", step_sample, {"cg", "graph"});
      add_rows(results, {{"shape", to_word(shapes[i])}, {"dimensions", one.dimensions}, {"elements", one.side}}, sink);
    }
  });
}

const register_experiment registered({
    name,
    "a step of a Jacobi relaxation: one kernel with a grid barrier, or a kernel for each step",
    {},
    {device_kind::cuda},
    {shape_axis("132x256,264x256; with --quick 132x256"),
     {"dimensions", "1: a rod of elements^2 points; 2: a square plate", 1, 2, false, "1,2"},
     {"elements", "points on a side of the plate; a rod has the square of it", 3, 8192, false,
      "256,512,1024; with --quick 256"},
     {"method", "ways to pass from step to step, by name", 0, 0, true,
      "relaunch,graph,graph-pdl,cg,lock-based-acquire-release,placed-counters-acquire-release"}},
    run,
    check,
});

}  // namespace

}  // namespace gpusync::tool
