// Experiment stencil: Jacobi relaxation with one boundary a step, in one kernel with a grid barrier, which may keep the
// body on the chip, and in a kernel for each step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include "experiments/method_comparison.hpp"
#include "experiments/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "usage_error.hpp"
#include "workloads/stencil/stencil.hpp"
#include "workloads/stencil/stencil_tiles.hpp"

namespace gpusync::tool::stencil_experiment {

namespace {

constexpr const char* name = "stencil";

/// The shapes that the user names, or one block on each SM of an H200 and as many threads as it holds;
/// elsewhere a block on each processor.
std::vector<step_shape> shapes_of(const experiment_request& request) {
  if (request.device.kind != device_kind::cuda && !has_chosen(request, "shape")) {
    const auto processors = static_cast<uint32_t>(std::max(1, request.device.compute_units));
    return {{processors, static_cast<uint32_t>(threads_by_default(request.device.kind))}};
  }
  return shapes_or(
      request, request.quick ? std::vector<std::string>{"132x512"} : std::vector<std::string>{"132x512", "264x1024"});
}

/// What points are: the axis `type`.
struct real_type {
  std::string name;
  stencil_real real;
};
void require_type(const std::string& word) {
  if (word == "float" || word == "double") return;
  throw usage_error(fmt::format("Axis type does not take '{}': it takes float, double.", word));
}
std::vector<real_type> types_of(const experiment_request& request, const stencil_device& device) {
  std::vector<real_type> all;
  for (const auto& [word, real] : {std::pair{"float", stencil_real::single}, {"double", stencil_real::twice}}) {
    if (device.has(real)) all.push_back({word, real});
  }
  return chosen_of(request, "type", all, &real_type::name,
                   request.quick ? std::vector<std::string>{"float"} : std::vector<std::string>{"float", "double"});
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
  real_type type;
  step_shape shape;
};

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload, const relaxing& one) {
  std::vector<std::string> defaults{
      "relaunch", "graph", "graph-pdl", "cg", "lock-based-acquire-release", "placed-counters-acquire-release"};
  if (request.device.kind == device_kind::host) defaults.insert(defaults.begin(), "launch-wait");
  if (one.dimensions > 1) {
    defaults.insert(defaults.end(), {"cg-on-chip", "placed-counters-acquire-release-on-chip",
                                     "placed-counters-acquire-release-on-chip-split", "neighbour-barrier-on-chip",
                                     "neighbour-barrier-on-chip-split"});
  }
  if (one.dimensions == 2 && strip_pairs(one.size, one.shape) != 0) {
    defaults.insert(defaults.end(),
                    {"cg-strips", "placed-counters-acquire-release-strips",
                     "placed-counters-acquire-release-strips-split", "neighbour-barrier-strips", "halo-strips"});
  }
  return chosen_methods(request, workload.methods(), defaults);
}

std::vector<relaxing> cases_of(const experiment_request& request, const stencil_device& device) {
  std::vector<relaxing> cases;
  const std::vector<step_shape> shapes = shapes_of(request);
  const std::vector<real_type> types = types_of(request, device);
  for (const int64_t elements : chosen_numbers(
           request, "elements", request.quick ? std::vector<uint32_t>{256} : std::vector<uint32_t>{256, 512, 1024})) {
    for (const int64_t dimensions : request.axes.numbers_or("dimensions", {1, 2, 3})) {
      for (const real_type& type : types) {
        for (const step_shape& shape : shapes) {
          cases.push_back({elements, dimensions, size_of(static_cast<uint32_t>(elements), dimensions), type, shape});
        }
      }
    }
  }
  return cases;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<stencil_device>(request.device);
  const auto label = [](const relaxing& one) {
    return fmt::format("{} x {} x {} points, {}, {}", one.size.width, one.size.height, one.size.depth, one.type.name,
                       to_word(one.shape));
  };
  // What the host has computed of a body is kept for its next shape.
  std::shared_ptr<workload> body;
  std::tuple<int64_t, int64_t, std::string> which;
  for_each_case(cases_of(request, *device), sink, label, [&](const relaxing& one, const auto& progress) {
    if (const std::tuple wanted{one.elements, one.dimensions, one.type.name}; body == nullptr || which != wanted) {
      progress(0, "on the host");
      body.reset();
      body = kept_if_stuck(device->relaxing(stencil_body(one.size, one.type.real)));
      which = wanted;
    }
    auto results =
        compare_steps(*body, {name, request, sink, {"Z24"}}, methods_of(request, *body, one), one.shape, progress);
    add_ratios(results, "step_time", step_sample, {"cg", "graph", "graph-pdl"});
    add_rows(results,
             {{"shape", to_word(one.shape)},
              {"dimensions", one.dimensions},
              {"elements", one.elements},
              {"type", one.type.name}},
             sink);
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
     {"type", "what points are: float or double", 0, 0, true, "float,double; with --quick float", false, false,
      require_type},
     {"method", "ways to pass from step to step, by name", 0, 0, true,
      "relaunch,graph,graph-pdl,cg,lock-based-acquire-release,placed-counters-acquire-release and, of plates and "
      "cubes, "
      "cg-on-chip,placed-counters-acquire-release-on-chip,placed-counters-acquire-release-on-chip-split,"
      "neighbour-barrier-on-chip,neighbour-barrier-on-chip-split, and of plates whose rows have two or four points "
      "for each thread of a block, or four or eight if they are long, "
      "cg-strips,placed-counters-acquire-release-strips,placed-counters-acquire-release-strips-split,"
      "neighbour-barrier-strips,halo-strips, as far as the device has them; on the host launch-wait besides"}},
    run,
    check_methods([](const device_description& device) {
      const stencil_body smallest({3, 3, 1});  // it has the same methods
      return open_side<stencil_device>(device)->relaxing(smallest)->methods();
    }),
});

}  // namespace

}  // namespace gpusync::tool::stencil_experiment
