// What a launch costs, found by fusing kernels: Zhang et al. 2020, sections 4 and 9.2.
#pragma once

#include <cstdint>
#include <functional>

#include "measure/comparison.hpp"

namespace gpusync::tool {

/// What becomes of the time of a kernel among others of its stream, in nanoseconds (item Z1).
struct kernel_times {
  double execution = 0;  ///< Kernel Execution Latency: spent in the kernel, without anything of its launch
  double overhead = 0;   ///< Launch Overhead: what is not spent in the kernel

  /// Kernel Total Latency.
  double total() const { return execution + overhead; }
  /// The same, of a kernel whose total and execution latencies are known.
  static kernel_times of_total(double total, double execution) { return {execution, total - execution}; }
};

/// Two ways to do the same work: i launches of kernels of j units, and j launches of kernels of i units.
struct fusion_counts {
  uint64_t launches = 16;  ///< i
  uint64_t units = 1;      ///< j, less than i
};

/// What a launch costs, from the times of both: Zhang et al. 2020, Eq 6, O = (L_ij - L_ji) / (i - j), item Z19.
/// It takes a kernel of i units to last i times as long as one of one unit; fusion_bias() says what follows if it does
/// not. Precondition: counts.launches > counts.units.
double fusion_overhead(double many_launches, double few_launches, const fusion_counts& counts);

/// What Eq 6 says beyond the true overhead where a kernel of j units lasts `of_few_units` and one of i units
/// `of_many_units`: (i of_few_units - j of_many_units) / (i - j). 0 if the units of both last equally long.
double fusion_bias(double of_few_units, double of_many_units, const fusion_counts& counts);

/// The least length of a unit, in nanoseconds, at which Eq 6 is believed: the paper's 5 us, and no less than the host
/// takes for a launch, for behind a shorter kernel the device waits for the host.
double least_fusion_unit(double host_time_of_a_launch);

/// Launches of kernels that only wait.
struct fusible_program {
  /// Carries out so many launches of so many units each and returns their nanoseconds, from before the first launch
  /// until the host knows of the end of the last; may throw.
  std::function<double(uint64_t launches, uint64_t units)> run;
  /// A launch that is in no figure, before each of both; the paper's warm-up.
  std::function<void()> warm_up;
};

/// Names of samples: nanoseconds of a launch by Eq 6, and of the two sequences that it is drawn from.
inline constexpr const char* overhead_sample = "overhead";
inline constexpr const char* many_launches_sample = "many launches";
inline constexpr const char* few_launches_sample = "few launches";

/// The program as a candidate of a comparison: each turn carries out both sequences, the one or the other first in
/// turn.
candidate by_kernel_fusion(fusible_program program, const fusion_counts& counts);

}  // namespace gpusync::tool
