// Experiment grid-barriers: every grid barrier beside NVIDIA's own and beside graph boundaries, shape by shape, and how
// many times as long each takes.
#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "measure/repeat_difference.hpp"

namespace gpusync::tool::grid_barriers_experiment {

namespace {

constexpr const char* name = "grid-barriers";

/// What orders data and passes from step to step on the device: the barriers, and the boundaries of graphs.
std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  return chosen_methods(request, workload.methods(), [](const step_method& method) {
    return method.ordered && (method.kind == method_kind::graph || method.kind == method_kind::barrier);
  });
}

std::vector<step_shape> shapes_of(const experiment_request& request) {
  std::vector<step_shape> shapes;
  for (step_shape shape : shapes_or(request, usual_shapes(request.quick))) {
    for (const int64_t stores : request.axes.numbers_or("stores", {0, 1})) {
      shape.stores = stores != 0;
      shapes.push_back(shape);
    }
  }
  return shapes;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto workload = open_workload("average", request.device);
  const std::vector<step_method> methods = methods_of(request, *workload);
  const auto label = [](const step_shape& shape) {
    return to_word(shape) + (shape.stores ? ", stores in flight" : ", idle steps");
  };
  for_each_case(shapes_of(request), sink, label, [&](const step_shape& shape, const auto& progress) {
    auto results = compare_steps(*workload, {name, request, sink}, methods, shape, progress);
    add_ratios(results, "step_time", step_sample, {"cg", "graph", "lock-based-acquire-release"});
    add_rows(results, {{"shape", to_word(shape)}, {"stores", int64_t{shape.stores}}}, sink);
  });
}

const register_experiment registered({
    name,
    "how the grid barriers compare with NVIDIA's and with graph boundaries",
    {},
    {device_kind::cuda},
    {shape_axis(usual_shapes_in_words()),
     {"stores", "1: every step writes a word per thread that another block reads and checks", 0, 1, false, "0,1"},
     {"method", "ways to wait, by name", 0, 0, true, "graphs, and all barriers that order data"}},
    run,
    check_methods([](const device_description& device) { return open_workload("average", device)->methods(); }),
});

}  // namespace

}  // namespace gpusync::tool::grid_barriers_experiment
