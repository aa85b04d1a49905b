// Experiment oversubscription: phases of a grid with more work-groups than run at once. A plain barrier waits for ever
// then (Shen 2013, section 3.3); a phased grid does not. What does a phase cost, beside a launch for each?
#include <fmt/format.h>

#include "experiments/experiment.hpp"
#include "experiments/step_contest.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* workload_name = "oversubscription";

class oversubscription : public experiment {
 public:
  std::string name() const override { return "oversubscription"; }
  std::string title() const override {
    return "what a phase costs in a grid of more blocks than run at once, in one kernel and in a launch for each phase";
  }
  std::vector<std::string> items() const override { return {"S5"}; }
  std::vector<device_kind> devices() const override {
    return {device_kind::cuda, device_kind::opencl, device_kind::host};
  }
  std::vector<axis> axes() const override {
    return {{"virtual_blocks", "blocks (work-groups) of the grid", 1, 1 << 24, false,
             "1 to 64 times those that run at once"},
            {"threads", "threads (work-items) in a block", 1, 1024, false,
             "256 on GPUs, 64 on CPUs' OpenCL, 1 on the host"},
            {"method", "ways to run the phases, by name", 0, 0, true, "all"}};
  }

  void check(const experiment_request& request) const override {
    if (request.axes.words.count("method") == 0) return;
    (void)choose_methods(request, open_workload(workload_name, request.device)->methods());
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto workload = open_workload(workload_name, request.device);
    const auto methods = choose_methods(request, workload->methods());
    struct shape_on {
      step_shape shape;
      uint64_t resident;
    };
    std::vector<shape_on> shapes;
    const std::vector<uint32_t> usual = workload->default_threads(request.quick);
    for (const int64_t threads : request.axes.numbers_or("threads", {usual.begin(), usual.end()})) {
      const uint64_t resident = workload->max_co_resident(static_cast<uint32_t>(threads));
      for (const int64_t blocks : request.axes.numbers_or("virtual_blocks", default_blocks(resident, request.quick))) {
        step_shape shape;
        shape.blocks = static_cast<uint32_t>(blocks);
        shape.threads = static_cast<uint32_t>(threads);
        shape.stores = true;
        shapes.push_back({shape, resident});
      }
    }
    for (size_t i = 0; i < shapes.size() && !sink.interrupted(); ++i) {
      const auto& [shape, resident] = shapes[i];
      auto results = step_contest(*workload, request, sink).run(methods, shape, [&](double fraction) {
        sink.progress(
            (static_cast<double>(i) + fraction) / static_cast<double>(shapes.size()),
            fmt::format("{} {} blocks x {} threads on {}", request.device.id, shape.blocks, shape.threads, resident));
      });
      for (const char* rival : {"relaunch", "graph"}) add_ratio(results, rival);
      for (contest_result& result : results) {
        result.entry.experiment = name();
        result.entry.axes = {{"virtual_blocks", int64_t{shape.blocks}},
                             {"resident", static_cast<int64_t>(resident)},
                             {"threads", int64_t{shape.threads}}};
        sink.add(std::move(result.entry), result.claims_correctness);
      }
    }
  }

 private:
  /// 1, half of those that run at once, all of them, and 2 to 64 times as many.
  static std::vector<int64_t> default_blocks(uint64_t resident, bool quick) {
    const auto all = static_cast<int64_t>(resident);
    std::vector<int64_t> blocks;
    const auto add = [&blocks](int64_t count) {
      if (count > (blocks.empty() ? 0 : blocks.back())) blocks.push_back(count);
    };
    if (quick) {
      for (const int64_t times : {1, 2, 64}) add(times * all);
      return blocks;
    }
    add(1);
    add(all / 2);
    for (int64_t times = 1; times <= 64; times *= 2) add(times * all);
    return blocks;
  }
};

const register_experiment registered(std::make_unique<oversubscription>());

}  // namespace

}  // namespace gpusync::tool
