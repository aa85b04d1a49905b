// Experiment grid-barriers: every grid barrier beside NVIDIA's own and beside graph boundaries, shape by shape, and how
// many times as long each takes.
#include <algorithm>

#include "experiments/experiment.hpp"
#include "experiments/grid_barriers/shapes.hpp"
#include "experiments/step_contest.hpp"

namespace gpusync::tool {

namespace {

class grid_barriers : public experiment {
 public:
  std::string name() const override { return "grid-barriers"; }
  std::string title() const override { return "how the grid barriers compare with NVIDIA's and with graph boundaries"; }
  std::vector<std::string> items() const override { return {}; }
  std::vector<device_kind> devices() const override { return {device_kind::cuda}; }
  std::vector<axis> axes() const override {
    return {
        shape_axis(usual_shapes_in_words()),
        {"stores", "1: every step writes a word per thread that another block reads and checks", 0, 1, false, "0,1"},
        {"method", "ways to wait, by name", 0, 0, true, "graphs, and all barriers that order data"}};
  }

  void check(const experiment_request& request) const override {
    (void)shapes_or(request, usual_shapes(request.quick));
    if (request.axes.words.count("method") != 0) {
      (void)choose_methods(request, open_workload("average", request.device)->methods());
    }
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto workload = open_workload("average", request.device);
    const std::vector<step_method> methods = chosen_methods(request, *workload);
    std::vector<step_shape> shapes;
    for (step_shape shape : shapes_or(request, usual_shapes(request.quick))) {
      for (const int64_t stores : request.axes.numbers_or("stores", {0, 1})) {
        shape.stores = stores != 0;
        shapes.push_back(shape);
      }
    }
    for (size_t i = 0; i < shapes.size() && !sink.interrupted(); ++i) {
      const std::string label = to_word(shapes[i]);
      auto results = step_contest(*workload, request, sink).run(methods, shapes[i], [&](double fraction) {
        sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(shapes.size()),
                      label + (shapes[i].stores ? ", stores in flight" : ", idle steps"));
      });
      for (const char* rival : {"cg", "graph", "lock-based-acquire-release"}) add_ratio(results, rival);
      for (contest_result& result : results) {
        result.entry.experiment = name();
        result.entry.axes = {{"shape", label}, {"stores", int64_t{shapes[i].stores ? 1 : 0}}};
        sink.add(std::move(result.entry), result.claims_correctness);
      }
    }
  }

 private:
  /// What orders data and passes from step to step on the device: the barriers, and the boundaries of graphs.
  static std::vector<step_method> chosen_methods(const experiment_request& request, const step_workload& workload) {
    std::vector<step_method> methods = choose_methods(request, workload.methods());
    if (request.axes.words.count("method") != 0) return methods;
    std::erase_if(methods, [](const step_method& method) {
      const bool boundary = method.name == "graph" || method.name == "graph-pdl";
      const bool barrier = method.needs_co_residency && method.name != "cooperative-relaunch";
      return !method.synchronizes || !method.ordered || !(boundary || barrier);
    });
    return methods;
  }
};

const register_experiment registered(std::make_unique<grid_barriers>());

}  // namespace

}  // namespace gpusync::tool
