// Experiment stencil: Jacobi relaxation with one boundary a step, in one kernel with a grid barrier and in a kernel for
// each step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "experiments/method_comparison.hpp"
#include "experiments/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* name = "stencil";

/// The shapes that the user names, or one and two blocks on each SM of an H200; elsewhere a block on each processor.
std::vector<step_shape> shapes_of(const experiment_request& request) {
  if (request.device.kind != device_kind::cuda && !has_chosen(request, "shape")) {
    const auto processors = static_cast<uint32_t>(std::max(1, request.device.compute_units));
    return {{processors, static_cast<uint32_t>(threads_by_default(request.device.kind))}};
  }
  return shapes_or(
      request, request.quick ? std::vector<std::string>{"132x256"} : std::vector<std::string>{"132x256", "264x256"});
}

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  std::vector<std::string> defaults{
      "relaunch", "graph", "graph-pdl", "cg", "lock-based-acquire-release", "placed-counters-acquire-release"};
  if (request.device.kind == device_kind::host) defaults.insert(defaults.begin(), "launch-wait");
  return chosen_methods(request, workload.methods(), defaults);
}

/// A rod of elements^2 points, a square plate of as many, or a cube of about as many.
stencil_size size_of(uint32_t elements, int64_t dimensions) {
  if (dimensions == 1) return {elements * elements, 1, 1};
  if (dimensions == 2) return {elements, elements, 1};
  const auto side = static_cast<uint32_t>(std::lround(std::cbrt(static_cast<double>(elements) * elements)));
  return {side, side, side};
}

/// What is relaxed, and by which grid.
struct relaxing {
  int64_t elements, dimensions;
  stencil_size size;
  step_shape shape;
};

std::vector<relaxing> cases_of(const experiment_request& request) {
  std::vector<relaxing> cases;
  const std::vector<step_shape> shapes = shapes_of(request);
  for (const int64_t elements : chosen_numbers(
           request, "elements", request.quick ? std::vector<uint32_t>{256} : std::vector<uint32_t>{256, 512, 1024})) {
    for (const int64_t dimensions : request.axes.numbers_or("dimensions", {1, 2, 3})) {
      for (const step_shape& shape : shapes) {
        cases.push_back({elements, dimensions, size_of(static_cast<uint32_t>(elements), dimensions), shape});
      }
    }
  }
  return cases;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<stencil_device>(request.device);
  const auto label = [](const relaxing& one) {
    return fmt::format("{} x {} x {} points, {}", one.size.width, one.size.height, one.size.depth, to_word(one.shape));
  };
  // What the host has computed of a body is kept for its next shape.
  std::shared_ptr<workload> body;
  std::pair<int64_t, int64_t> which;
  for_each_case(cases_of(request), sink, label, [&](const relaxing& one, const auto& progress) {
    if (const std::pair wanted{one.elements, one.dimensions}; body == nullptr || which != wanted) {
      progress(0, "on the host");
      body.reset();
      body = kept_if_stuck(device->relaxing(stencil_body(one.size)));
      which = wanted;
    }
    auto results = compare_steps(*body, {name, request, sink}, methods_of(request, *body), one.shape, progress);
    add_ratios(results, "step_time", step_sample, {"cg", "graph"});
    add_rows(results, {{"shape", to_word(one.shape)}, {"dimensions", one.dimensions}, {"elements", one.elements}},
             sink);
  });
}

const register_experiment registered({
    name,
    "a step of a Jacobi relaxation: one kernel with a grid barrier, or a kernel for each step",
    {},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    {shape_axis("132x256,264x256; with --quick 132x256; on OpenCL and the host a block on each processor"),
     {"dimensions", "1: a rod of elements^2 points; 2: a square plate of as many; 3: a cube of about as many", 1, 3,
      false, "1,2,3"},
     {"elements", "points on a side of the plate", 8, 8192, false, "256,512,1024; with --quick 256"},
     {"method", "ways to pass from step to step, by name", 0, 0, true,
      "relaunch,graph,graph-pdl,cg,lock-based-acquire-release,placed-counters-acquire-release, as far as the device "
      "has them; on the host launch-wait besides"}},
    run,
    check_methods([](const device_description& device) {
      const stencil_body smallest({3, 3, 1});  // it has the same methods
      return open_side<stencil_device>(device)->relaxing(smallest)->methods();
    }),
});

}  // namespace

}  // namespace gpusync::tool
