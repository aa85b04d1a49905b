// Each variant once, in another process, before any is measured: one that never ends, or takes the device down, must
// not take the measurement with it.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "measure/child_process.hpp"
#include "pacing/paced_kernel.hpp"

namespace gpusync::tool {

/// What a trial has found.
enum class trial_end {
  right,     ///< it ended, and left what the kernel without barriers leaves
  mismatch,  ///< it ended, and left something else
  stuck,     ///< it had not ended when its time was over
  failed     ///< a call failed, or the process ended
};

struct trial_outcome {
  trial_end end = trial_end::failed;
  std::string words;  ///< what else is known: where the first difference is, what failed
};

/// In the other process: runs variant 0, which has no barriers, twice, then those of `wanted`, numbers in `names`, and
/// writes a line for each to `out` as soon as it is known. A launch has `limit_s` seconds, a variant with barriers less
/// if the kernel is quick. Ends early where nothing more can be done on the device: false then, and the process should
/// end at once.
bool run_trial(paced_kernel& kernel, const std::vector<std::string>& names, const std::vector<size_t>& wanted,
               double limit_s, std::ostream& out);

/// Runs another process for the variants whose names it is given.
using trial_process = std::function<child_outcome(const std::vector<std::string>& names)>;

/// In this process: what came of each of `names`, the first of which has no barriers. As many processes as it takes; if
/// variant 0 does not end right, the rest is not tried, and missing.
std::map<std::string, trial_outcome> try_variants(const std::vector<std::string>& names, const trial_process& start);

}  // namespace gpusync::tool
