// Robust and classical statistics of a sample.
#pragma once

#include <cstdint>
#include <vector>

namespace gpusync::tool {

/// What is said of a sample. Same unit as the values. All zero for an empty sample; stddev is 0 for one value.
struct sample_summary {
  uint64_t n = 0;
  double q1 = 0, median = 0, q3 = 0;
  double mean = 0;
  double stddev = 0;  ///< of the sample (divisor n - 1)

  /// Interquartile range over the median; infinite for a median of 0.
  double relative_spread() const;
};

/// The value below which a fraction p (0..1) of `sorted` lies, interpolated linearly between order statistics
/// (Hyndman and Fan's type 7, the default of R and NumPy). Precondition: sorted ascending, not empty.
double quantile(const std::vector<double>& sorted, double p);

/// Summary of `values` in any order.
sample_summary summarize(std::vector<double> values);

}  // namespace gpusync::tool
