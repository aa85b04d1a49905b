// What the experiments on Feng and Xiao's applications have in common: time over the number of blocks, under every
// method; where the curves cross; the improvement over a launch for each step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/choices.hpp"
#include "harness/memory_room.hpp"
#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "workloads/device_side/application_device.hpp"

namespace gpusync::tool {

/// One computation to be measured.
struct application {
  const char* experiment = nullptr;
  /// Axes that say what is computed and in which form; blocks and threads come behind them.
  axis_values axes;
  /// Opens the workload; called when its turn has come.
  std::function<std::unique_ptr<workload>()> open;
  /// The work of one run in units of 10^9, and their name as a metric: "cell_updates", in "1e9/s". Where there is none,
  /// a run's time is `empty_run_time`: nothing to compare methods by.
  double work = 0;
  std::string rate;
  /// Paper items that its rows reproduce besides their methods'.
  std::vector<std::string> items;
  /// Axis blocks if the user names none; empty for blocks_up_to() what runs at once.
  std::vector<int64_t> blocks;
  /// Axis threads if the user names none; 0 for what the device's kind has.
  int64_t threads = 0;
  /// Methods if the user names none: the names of those that are wanted of what there is; empty for all.
  std::vector<std::string> methods;
};

/// The axes that all have: blocks, threads, method.
std::vector<axis> application_axes();

/// "262144 on CUDA, 65536 elsewhere; with --quick 16384 and 4096" of sizes by default, `size(gpu, quick)`.
std::string sizes_in_words(int64_t (*size)(bool gpu, bool quick));

/// "memory", "registers" or "pipeline": how an application's form keeps its data.
const char* form_word(kept_form form);

/// The forms that axis `form` names of those that the device has, or `by_default`. Throws usage_error.
std::vector<kept_form> chosen_forms(const experiment_request& request, const application_device& device,
                                    kept_form by_default);

/// Measures all shapes of one computation and adds their rows: for each shape and method `run_time`, its ratio to
/// graph, relaunch and cg, and the improvement over a launch for each step; for each method that keeps its kernel the
/// range of blocks in which it is faster than that. `progress` gets the part of this computation that is done.
void run_application(const application& what, const experiment_request& request, const experiment_sink& sink,
                     const std::function<void(double, const std::string&)>& progress);

/// Numbers of blocks from 1 to `most` for a device with so many processors, among them the paper's 1 to 30, one on
/// every processor, and `most`; few of them for a quick look.
std::vector<int64_t> blocks_up_to(uint64_t most, uint32_t processors, bool quick);

}  // namespace gpusync::tool
