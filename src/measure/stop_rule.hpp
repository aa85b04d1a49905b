// When enough has been measured.
#pragma once

#include <cstdint>
#include <string_view>

#include "measure/statistics.hpp"

namespace gpusync::tool {

/// What ended a measurement.
enum class stop_reason {
  running,      ///< nothing yet
  spread,       ///< the spread came under the goal: the good end
  samples,      ///< as many samples as are allowed
  time,         ///< the time budget is spent
  interrupted,  ///< the user asked to stop
};

/// "spread", "samples", "time", "interrupted"; "running" while none holds.
std::string_view to_string(stop_reason reason);

/// Ends on the first of: spread small enough (after `min_samples`), `max_samples`, budget spent (after
/// `samples_before_budget`).
struct stop_rule {
  uint64_t min_samples = 7;
  uint64_t max_samples = 50;
  double relative_spread = 0.01;       ///< interquartile range over median
  double absolute_spread_ns = 0.5;     ///< or interquartile range in ns, for quantities near 0
  double budget_ns = 2e9;              ///< wall-clock time, for all that is measured together
  uint64_t samples_before_budget = 1;  ///< that are taken even if they take longer than the budget

  /// Whether to go on, given what was measured so far and the time spent.
  stop_reason judge(const sample_summary& summary, double spent_ns) const;
};

}  // namespace gpusync::tool
