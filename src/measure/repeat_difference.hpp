// The time of one repetition, with everything that happens once per run cancelled.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/statistics.hpp"

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

/// Run times in pairs, and the figures drawn from them. Times in nanoseconds, results per repetition.
class repeat_samples {
 public:
  explicit repeat_samples(repeat_counts counts) : counts_(counts) {}

  void add(double longer_time, double shorter_time);

  const repeat_counts& counts() const { return counts_; }
  /// One difference for each pair.
  const std::vector<double>& differences() const { return differences_; }
  /// Quartiles, median and mean of the differences.
  sample_summary summary() const { return summarize(differences_); }
  /// Eq 8 for the pairs so far.
  double sigma() const;

 private:
  repeat_counts counts_;
  std::vector<double> longer_, shorter_, differences_;
};

}  // namespace gpusync::tool
