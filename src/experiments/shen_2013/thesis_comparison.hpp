// What the experiments of Shen 2013 have in common: methods that run the thesis's computation in turns on one shape.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/choices.hpp"
#include "harness/method_comparison.hpp"
#include "workloads/thesis_average/thesis_average.hpp"

namespace gpusync::tool {

/// Samples of a comparison, in nanoseconds.
inline constexpr const char* host_sample = "host";
inline constexpr const char* device_sample = "device";

/// As often as the thesis measured, or fewer times for a quick look.
stop_rule thesis_rounds(bool quick);

/// What programs need, by method.
using memory_by_method = std::map<std::string, thesis_memory>;

/// What one of the experiments asks.
struct thesis_question {
  const char* experiment;
  std::vector<std::string> items;  ///< that measured rows reproduce besides their methods'
  std::vector<int64_t> iterations;
  /// Whether rows are swept over the iterations, with as many work-groups as the user chose or as run at once. Else
  /// over the work-groups that the user chose, or 1, 10, 20, … 70 as in the thesis, then hundreds, up to as many as run
  /// at once under all methods, that number among them.
  bool over_iterations;
  stop_rule rule;
  /// Makes the metrics of one shape's rows.
  std::function<void(std::vector<method_result>& results, memory_by_method& memory)> finish;
  bool tight = false;  ///< with storages for just one shape (thesis_device::prepare)
};

/// Measures what the user chose, with the lines through each sweep; adds what the thesis has printed for the
/// experiment, and the lines through that.
void answer_thesis(const thesis_question& what, const experiment_request& request, const experiment_sink& sink);

/// The axes that they share.
std::vector<axis> thesis_axes();

}  // namespace gpusync::tool
