// Experiment barrier-cost: what one step boundary costs under every method that a device has. The question of Feng and
// Xiao 2010, asked of the machine at hand.
#include <fmt/format.h>

#include "experiments/experiment.hpp"
#include "experiments/step_contest.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* workload_name = "average";

class barrier_cost : public experiment {
 public:
  std::string name() const override { return "barrier-cost"; }
  std::string title() const override {
    return "what one step boundary costs, by every way to wait that the device has";
  }
  std::vector<std::string> items() const override { return {"F1", "F2", "F3", "F4", "F5", "F11", "F12", "S1"}; }
  std::vector<device_kind> devices() const override {
    return {device_kind::cuda, device_kind::opencl, device_kind::host};
  }
  std::vector<axis> axes() const override {
    return {
        {"blocks", "blocks (work-groups) in the grid", 1, 65535, false, "some that run at once, up to all"},
        {"threads", "threads (work-items) in a block", 1, 1024, false, "the device's usual ones"},
        {"stores", "1: every step writes a word per thread that another block reads and checks", 0, 1, false, "0,1"},
        {"method", "ways to wait, by name", 0, 0, true, "all that the device has"}};
  }

  void check(const experiment_request& request) const override {
    if (request.axes.words.count("method") != 0) (void)chosen_methods(request);
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto workload = open_workload(workload_name, request.device);
    const auto methods = chosen_methods(request, *workload);
    std::vector<step_shape> shapes;
    const auto chosen = [&](const char* axis, const std::vector<uint32_t>& defaults) {
      return request.axes.numbers_or(axis, std::vector<int64_t>(defaults.begin(), defaults.end()));
    };
    for (const int64_t threads : chosen("threads", workload->default_threads(request.quick))) {
      std::vector<uint32_t> blocks_by_default;
      if (request.axes.numbers.count("blocks") == 0) {
        // Unasked, only grids that run at once: beyond, there is nothing to compare relaunching with.
        blocks_by_default = workload->default_blocks(request.quick);
        const uint64_t most = workload->max_co_resident(static_cast<uint32_t>(threads));
        std::erase_if(blocks_by_default, [most](uint32_t blocks) { return blocks > most; });
      }
      for (const int64_t blocks : chosen("blocks", blocks_by_default)) {
        for (const int64_t stores : request.axes.numbers_or("stores", {0, 1})) {
          shapes.push_back({static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), stores != 0});
        }
      }
    }
    for (size_t i = 0; i < shapes.size() && !sink.interrupted(); ++i) {
      const auto progress = [&](double fraction) {
        sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(shapes.size()),
                      fmt::format("{} {} blocks x {} threads{}", request.device.id, shapes[i].blocks, shapes[i].threads,
                                  shapes[i].stores ? ", stores in flight" : ""));
      };
      run_shape(request, *workload, methods, shapes[i], sink, progress);
    }
  }

 private:
  static std::vector<step_method> chosen_methods(const experiment_request& request) {
    return chosen_methods(request, *open_workload(workload_name, request.device));
  }

  static std::vector<step_method> chosen_methods(const experiment_request& request, const step_workload& workload) {
    return choose_methods(request, workload.methods());
  }

  void run_shape(const experiment_request& request, step_workload& workload, const std::vector<step_method>& methods,
                 const step_shape& shape, const experiment_sink& sink,
                 const std::function<void(double)>& progress) const {
    for (contest_result& result : step_contest(workload, request, sink).run(methods, shape, progress)) {
      result.entry.experiment = name();
      result.entry.axes = {{"blocks", int64_t{shape.blocks}},
                           {"threads", int64_t{shape.threads}},
                           {"stores", int64_t{shape.stores ? 1 : 0}}};
      sink.add(std::move(result.entry), result.claims_correctness);
    }
  }
};

const register_experiment registered(std::make_unique<barrier_cost>());

}  // namespace

}  // namespace gpusync::tool
