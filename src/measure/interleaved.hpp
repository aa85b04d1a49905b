// Measures several programs side by side, so that what drifts (clocks, temperature, other load) hits them alike.
#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "measure/repeat_difference.hpp"
#include "measure/stop_rule.hpp"

namespace gpusync::tool {

/// A program whose time per step is wanted.
struct candidate {
  std::function<double(uint64_t steps)> run;  ///< runs that many steps, returns nanoseconds; may throw
  uint64_t unit = 1;                          ///< steps come in multiples of this
};

struct interleaved_options {
  stop_rule stop;
  double target_run_ns = 5e6;     ///< how long the additional steps of a long run should take
  uint64_t max_steps = 1u << 20;  ///< but no more steps than this
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(double fraction)> progress = [](double) {};  ///< 0..1, for this call
};

/// What came of one candidate. If it threw, `failure` holds what it threw and the rest is what was measured before.
struct measured {
  repeat_samples samples{{0, 1}};
  stop_reason stop = stop_reason::running;
  std::exception_ptr failure;
};

/// Warms every candidate up, finds for each how many steps a long run needs, then takes turns: in each round every
/// candidate that has not met its stop rule runs short and long once, in an order that rotates from round to round. The
/// warm-up is in no figure. Results are in the order of the candidates.
std::vector<measured> measure_interleaved(const std::vector<candidate>& candidates, const interleaved_options& options);

/// The lengths of runs for one candidate: the short one two units, the long one so much longer that the difference
/// takes about options.target_run_ns. Runs the candidate to find out, which also warms it up.
repeat_counts choose_counts(const candidate& program, const interleaved_options& options);

}  // namespace gpusync::tool
