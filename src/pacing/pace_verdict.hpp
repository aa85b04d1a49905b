// Whether artificial barriers pay in a kernel, and whose doing a gain is.
#pragma once

#include <string>
#include <vector>

#include "pacing/marked_source.hpp"
#include "pacing/pace_comparison.hpp"
#include "pacing/pace_judgement.hpp"

namespace gpusync::tool {

/// What the comparison says.
enum class pace_finding {
  barrier_gains,   ///< a barrier gains on the faster of no barrier and the controls
  compiler_gains,  ///< a control gains, no barrier gains on it
  no_gain,         ///< the best barrier is about as fast
  loses,           ///< every barrier is slower than none, or than a control that gains nothing
  too_few,         ///< too few rounds to say
  marked_wrongly   ///< no barrier could be measured, for all were refused
};

/// "barrier-gains", "compiler-gains", "no-gain", "loses", "too-few-rounds", "marked-wrongly".
const char* to_string(pace_finding finding);

/// Gains are shares of the time without barriers.
struct pace_verdict {
  pace_finding finding = pace_finding::too_few;
  std::string best;  ///< the fastest variant with barriers; empty if there is none
  std::string base;  ///< what it is compared with: the fastest of none and the controls
  gain total;        ///< of `best` on none
  gain compilers;    ///< of the fastest control on none; 0 if that is slower
  gain barriers;     ///< of `best` on `base`: total is the sum of both
  uint64_t rounds = 0;
  std::string sentence;  ///< what to do, with the figures
};

/// Judges what compare_paced() has found by judge_samples(). Only those whose state is measured count.
pace_verdict judge_paced(const std::vector<kernel_variant>& variants);

/// What else may help, as far as the kernel's text says it: a sentence each, all of them with "may".
std::vector<std::string> other_cures(const source_kernel& kernel, int narrow_loads, int wide_loads);

}  // namespace gpusync::tool
