// The time of one repetition, with everything that happens once per run cancelled.
#pragma once

#include <cstdint>
#include <functional>

#include "measure/comparison.hpp"

namespace gpusync::tool {

/// Two lengths of the same program: the short one holds all that happens once (launch, first touch, warm-up).
struct repeat_counts {
  uint64_t shorter;
  uint64_t longer;
};

/// Time per repetition from a short and a long run: Zhang et al. 2020, Eq 7, T = (L_k1 - L_k2) / (r1 - r2), item Z21.
/// Precondition: counts.longer > counts.shorter.
double repeat_difference(double longer_time, double shorter_time, const repeat_counts& counts);

/// Its standard deviation from those of the two run times: Zhang et al. 2020, Eq 8,
/// sigma = sqrt(s1^2 + s2^2) / (r1 - r2).
double repeat_difference_sigma(double longer_stddev, double shorter_stddev, const repeat_counts& counts);

/// A program whose time per step is wanted.
struct repeated_program {
  std::function<double(uint64_t steps)> run;  ///< runs that many steps, returns nanoseconds; may throw
  uint64_t unit = 1;                          ///< steps come in multiples of this
};

struct repeat_options {
  double target_run_ns = 5e6;     ///< how long the additional steps of a long run should take
  uint64_t max_steps = 1u << 20;  ///< but no more steps than this
  std::function<bool()> interrupted = [] { return false; };
};

/// The lengths of runs for one program: the short one two units, the long one so much longer that the difference takes
/// about options.target_run_ns, or is a unit if that takes four times as long. Runs the program to find out, which also
/// warms it up.
repeat_counts choose_counts(const repeated_program& program, const repeat_options& options);

/// Names of samples: nanoseconds of a step, and of the two runs that it is drawn from, with their lengths.
inline constexpr const char* step_sample = "step";
inline constexpr const char* longer_sample = "longer run";
inline constexpr const char* shorter_sample = "shorter run";
inline constexpr const char* longer_steps_sample = "longer run's steps";
inline constexpr const char* shorter_steps_sample = "shorter run's steps";

/// The program as a candidate of a comparison: its warm-up chooses the lengths, each turn runs short and long once.
candidate by_repeat_difference(repeated_program program, const repeat_options& options);

/// Eq 8 for the rounds of such a candidate, in nanoseconds; 0 if there are none.
double repeat_sigma(const compared& result);

}  // namespace gpusync::tool
