// Experiment cost-decomposition: where a grid barrier's time goes. The micro-benchmark of Feng and Xiao 2010, section
// VI (figure 3, equations 1 to 3; items F11 to F19), with the parts that a barrier has today.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/experiment.hpp"
#include "experiments/feng_xiao_2010/decomposition_rows.hpp"
#include "experiments/step_contest.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* workload_name = "barrier-parts";

class cost_decomposition : public experiment {
 public:
  std::string name() const override { return "cost-decomposition"; }
  std::string title() const override {
    return "which parts a grid barrier's cost has, over the blocks, beside the paper of 2010";
  }
  std::vector<std::string> items() const override {
    return {"F11", "F12", "F13", "F14", "F15", "F16", "F17", "F18", "F19"};
  }
  std::vector<device_kind> devices() const override { return {device_kind::cuda, device_kind::host}; }
  std::vector<axis> axes() const override {
    return {{"blocks", "blocks in the grid", 1, 65535, false, "some from 1 to one on each processor"},
            {"threads", "threads in a block", 1, 1024, false, "256 on CUDA, 1 on the host"},
            {"stores", "1: every step writes the mean of two floats for each thread; 0: empty steps", 0, 1, false,
             "0,1; with --quick 1"},
            {"method", "programs with some of a barrier's parts, by name", 0, 0, true, "all"}};
  }

  void check(const experiment_request& request) const override {
    if (!request.axes.words.contains("method")) return;
    (void)choose_methods(request, open_workload(workload_name, request.device)->methods());
  }

  void run(const experiment_request& request, const experiment_sink& sink) const override {
    const auto workload = open_workload(workload_name, request.device);
    const std::vector<step_method> methods = choose_methods(request, workload->methods());
    const std::vector<std::vector<step_shape>> sweeps = sweeps_of(request, *workload);
    for (size_t i = 0; i < sweeps.size() && !sink.interrupted(); ++i) {
      run_sweep(request, *workload, methods, sweeps[i], sink, [&](double fraction, const std::string& what) {
        sink.progress((static_cast<double>(i) + fraction) / static_cast<double>(sweeps.size()), what);
      });
    }
    for (row& entry : published_decomposition()) sink.add(std::move(entry), true);
  }

 private:
  /// Shapes that differ in their blocks only stand together: lines are laid through them.
  static std::vector<std::vector<step_shape>> sweeps_of(const experiment_request& request, step_workload& workload) {
    const auto chosen = [&](const char* axis, const std::vector<uint32_t>& defaults) {
      return request.axes.numbers_or(axis, std::vector<int64_t>(defaults.begin(), defaults.end()));
    };
    std::vector<std::vector<step_shape>> sweeps;
    for (const int64_t threads : chosen("threads", workload.default_threads(request.quick))) {
      std::vector<uint32_t> blocks_by_default;
      if (!request.axes.numbers.contains("blocks")) {
        blocks_by_default = workload.default_blocks(request.quick);
        const uint64_t most = workload.max_co_resident(static_cast<uint32_t>(threads));
        std::erase_if(blocks_by_default, [most](uint32_t blocks) { return blocks > most; });
      }
      // The paper's steps have their work in them; without it, there is nothing for a fence to wait for.
      for (const int64_t stores :
           request.axes.numbers_or("stores", request.quick ? std::vector<int64_t>{1} : std::vector<int64_t>{0, 1})) {
        std::vector<step_shape>& sweep = sweeps.emplace_back();
        for (const int64_t blocks : chosen("blocks", blocks_by_default)) {
          sweep.push_back({static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), stores != 0});
        }
      }
    }
    return sweeps;
  }

  void run_sweep(const experiment_request& request, step_workload& workload, const std::vector<step_method>& methods,
                 const std::vector<step_shape>& sweep, const experiment_sink& sink,
                 const std::function<void(double, const std::string&)>& progress) const {
    std::vector<row> variants, parts;
    for (size_t i = 0; i < sweep.size() && !sink.interrupted(); ++i) {
      const step_shape& shape = sweep[i];
      auto results = step_contest(workload, request, sink).run(methods, shape, [&](double fraction) {
        progress((static_cast<double>(i) + fraction) / static_cast<double>(sweep.size()),
                 fmt::format("{} {} blocks x {} threads{}", request.device.id, shape.blocks, shape.threads,
                             shape.stores ? ", stores in flight" : ""));
      });
      for (contest_result& result : results) {
        name_row(result.entry, shape);
        variants.push_back(result.entry);
        sink.add(result.entry, result.claims_correctness);
      }
      for (row& entry : part_rows(results, request.keep_samples)) {
        parts.push_back(entry);
        sink.add(std::move(entry), true);
      }
    }
    if (parts.empty()) return;
    for (row& entry : part_fits(parts)) sink.add(std::move(entry), true);
    for (row& entry : sum_rows(variants, parts)) sink.add(std::move(entry), true);
  }

  /// A variant's row as this experiment calls it. Its time is not a `step_time`: a program with but a part of a barrier
  /// in it is no way to pass a step, and must not be judged as one.
  void name_row(row& entry, const step_shape& shape) const {
    entry.experiment = name();
    entry.items.insert(entry.items.end(), {"F11", "F19"});
    entry.axes = {{"blocks", int64_t{shape.blocks}},
                  {"threads", int64_t{shape.threads}},
                  {"stores", int64_t{shape.stores ? 1 : 0}},
                  {"time_of", std::string(time_of_variants)}};
    entry.metrics.front().first = "variant_time";
  }
};

const register_experiment registered(std::make_unique<cost_decomposition>());

}  // namespace

}  // namespace gpusync::tool
