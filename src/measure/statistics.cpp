#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gpusync::tool {

double sample_summary::relative_spread() const {
  if (median == 0) return std::numeric_limits<double>::infinity();
  return (q3 - q1) / std::abs(median);
}

double quantile(const std::vector<double>& sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

sample_summary summarize(std::vector<double> values) {
  sample_summary summary;
  if (values.empty()) return summary;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  summary.n = values.size();
  summary.q1 = quantile(values, 0.25);
  summary.median = quantile(values, 0.5);
  summary.q3 = quantile(values, 0.75);
  summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() > 1) {
    double squares = 0;
    for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
    summary.stddev = std::sqrt(squares / (count - 1));
  }
  return summary;
}

}  // namespace gpusync::tool
