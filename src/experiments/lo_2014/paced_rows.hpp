// Variants of one kernel that differ in pace, side by side: what the experiments on Lo et al.'s (2014) loops have in
// common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/choices.hpp"
#include "harness/experiment.hpp"
#include "harness/method_comparison.hpp"
#include "harness/published.hpp"
#include "pacing/pace_judgement.hpp"
#include "workloads/paced/paced.hpp"

namespace gpusync::tool {

/// One combination of axes.
struct paced_case {
  std::string text;  ///< as register_side<paced_device> knows it
  paced_problem problem;
  axis_values axes;  ///< `part` comes behind them
};

/// An experiment on a loop.
struct paced_experiment {
  const char* name;
  std::vector<std::string> items;          ///< of its times
  std::vector<std::string> clocked_items;  ///< of its clocks
  std::vector<std::string> code_items;     ///< of its machine code
  /// All combinations that the request asks for. Throws usage_error.
  std::function<std::vector<paced_case>(const experiment_request&)> cases;
};

/// Its rows, in each case those of the parts asked for:
/// - `time`: `kernel_time`, and what rho_metrics() gives; `bandwidth`, and what a block takes;
/// - `clocks`: where a warp's time goes in instrumented builds, and what equations 1 and 2 predict from that;
/// - `code`: instructions of each variant.
/// Then what the paper has printed.
void run_paced(const paced_experiment& what, const experiment_request& request, const experiment_sink& sink);

/// The axes that all have behind their own: shape, l1, part, method.
std::vector<axis> paced_axes(std::vector<axis> own, const std::string& default_shapes);

/// Checks the words of all axes; method names are those of these texts.
request_check check_paced(std::function<std::vector<paced_case>(const experiment_request&)> cases,
                          const std::vector<std::string>& texts);

/// Whether a barrier gains, by how much, and which.
std::string paced_answer(const measured_rows& measured);

/// A grid of so many blocks for each compute unit of the request's device.
std::string shape_of_units(const experiment_request& request, uint32_t blocks_per_unit, uint32_t threads);
/// A grid for host threads: as many as there are cores, in blocks of at most four.
std::string host_shape(const experiment_request& request);
/// Whether the device is a GPU.
bool is_gpu(const experiment_request& request);

/// What a variant has gained, in percent of the other's time, medians over rounds with their intervals:
/// - `rho`: against the fastest, by its median, of all that wait for nothing: the plain loop and the controls, for
///   leads also what counts as they do; without any control nobody can say;
/// - `rho_none`: against the plain loop, which is the paper's method, and counts what the compiler did as gain;
/// - `rho_control`: against the control of the same interval, if there is one;
/// - `compiler_share`: what that control gains against the plain loop. A control has its own alone, the plain
///   loop none.
std::vector<std::pair<std::string, metric>> rho_metrics(const std::vector<paced_samples>& all, size_t which);

}  // namespace gpusync::tool
