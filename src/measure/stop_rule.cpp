#include "measure/stop_rule.hpp"

namespace gpusync::tool {

std::string_view to_string(stop_reason reason) {
  switch (reason) {
    case stop_reason::running: return "running";
    case stop_reason::spread: return "spread";
    case stop_reason::samples: return "samples";
    case stop_reason::time: return "time";
    case stop_reason::interrupted: return "interrupted";
  }
  return "?";
}

stop_reason stop_rule::judge(const sample_summary& summary, double spent_ns) const {
  if (summary.n >= min_samples &&
      (summary.relative_spread() <= relative_spread || summary.q3 - summary.q1 <= absolute_spread_ns)) {
    return stop_reason::spread;
  }
  if (summary.n >= max_samples) return stop_reason::samples;
  if (summary.n >= samples_before_budget && spent_ns >= budget_ns) return stop_reason::time;
  return stop_reason::running;
}

}  // namespace gpusync::tool
