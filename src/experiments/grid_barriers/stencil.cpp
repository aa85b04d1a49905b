// Experiment stencil: a workload as they are. Jacobi relaxation with one boundary a step: one kernel with a grid
// barrier against a kernel for each step.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/experiment.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/grid_barriers/shapes.hpp"
#include "experiments/step_contest.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

namespace {

class stencil : public experiment {
 public:
  std::string name() const override { return "stencil"; }
  std::string title() const override {
    return "a step of a Jacobi relaxation: one kernel with a grid barrier, or a kernel for each step";
  }
  std::vector<std::string> items() const override { return {}; }
  std::vector<device_kind> devices() const override { return {device_kind::cuda}; }
  std::vector<axis> axes() const override {
    return {shape_axis("132x256,264x256; with --quick 132x256"),
            {"dimensions", "1: a rod of elements^2 points; 2: a square plate", 1, 2, false, "1,2"},
            {"elements", "points on a side of the plate; a rod has the square of it", 3, 8192, false,
             "256,512,1024; with --quick 256"},
            {"method", "ways to pass from step to step, by name", 0, 0, true,
             "relaunch,graph,graph-pdl,cg,lock-based-acquire-release,placed-counters-acquire-release"}};
  }

  void check(const experiment_request& request) const override {
    (void)shapes_or(request, default_shapes(request));
    // The smallest plate has the same methods.
    if (request.axes.words.count("method") == 0) return;
    (void)chosen(request, *open_side<stencil_device>(request.device)->on_plate({3, 3}));
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto device = open_side<stencil_device>(request.device);
    const std::vector<step_shape> shapes = shapes_or(request, default_shapes(request));
    // By default the example's rod of 2^16 points, and a plate of as many.
    const std::vector<int64_t> sides = request.axes.numbers_or(
        "elements", request.quick ? std::vector<int64_t>{256} : std::vector<int64_t>{256, 512, 1024});
    const std::vector<int64_t> dimensions = request.axes.numbers_or("dimensions", {1, 2});
    const double combinations = static_cast<double>(shapes.size() * sides.size() * dimensions.size());
    double finished = 0;
    for (const int64_t side : sides) {
      for (const int64_t dimension : dimensions) {
        if (sink.interrupted()) return;
        const auto columns = static_cast<uint32_t>(dimension == 1 ? side * side : side);
        const stencil_size size{dimension == 1 ? 1u : columns, columns};
        const std::string words = fmt::format("{} x {} points", size.rows, size.columns);
        sink.progress(finished / combinations, words + " on the host");
        const auto workload = device->on_plate(size);
        for (const step_shape& shape : shapes) {
          if (sink.interrupted()) return;
          auto results =
              step_contest(*workload, request, sink).run(chosen(request, *workload), shape, [&](double fraction) {
                sink.progress((finished + fraction) / combinations, fmt::format("{}, {}", words, to_word(shape)));
              });
          for (const char* rival : {"cg", "graph"}) add_ratio(results, rival);
          for (contest_result& result : results) {
            result.entry.experiment = name();
            result.entry.axes = {{"shape", to_word(shape)}, {"dimensions", dimension}, {"elements", side}};
            sink.add(std::move(result.entry), result.claims_correctness);
          }
          finished += 1;
        }
      }
    }
  }

 private:
  static std::vector<std::string> default_shapes(const experiment_request& request) {
    if (request.quick) return {"132x256"};
    return {"132x256", "264x256"};
  }

  static std::vector<step_method> chosen(const experiment_request& request, const step_workload& workload) {
    const std::vector<step_method> all = workload.methods();
    std::vector<std::string> available;
    for (const step_method& method : all) available.push_back(method.name);
    std::vector<step_method> methods;
    for (const std::string& name : choose_names(request, available,
                                                {"relaunch", "graph", "graph-pdl", "cg", "lock-based-acquire-release",
                                                 "placed-counters-acquire-release"})) {
      methods.push_back(
          *std::find_if(all.begin(), all.end(), [&](const step_method& method) { return method.name == name; }));
    }
    return methods;
  }
};

const register_experiment registered(std::make_unique<stencil>());

}  // namespace

}  // namespace gpusync::tool
