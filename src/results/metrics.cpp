#include "results/metrics.hpp"

#include "measure/statistics.hpp"

namespace gpusync::tool {

metric mean_metric(const std::vector<double>& values, double scale, const std::string& unit, bool keep_samples) {
  metric result = empty_metric(unit);
  result.n = values.size();
  if (values.empty()) return result;
  const sample_summary summary = summarize(values);
  result.value = summary.mean * scale;
  result.q1 = summary.q1 * scale;
  result.median = summary.median * scale;
  result.q3 = summary.q3 * scale;
  result.stddev = summary.stddev * scale;
  if (keep_samples) {
    result.samples.emplace();
    for (const double value : values) result.samples->push_back(value * scale);
  }
  return result;
}

metric median_metric(const std::vector<double>& values, double scale, const std::string& unit, bool keep_samples) {
  metric result = mean_metric(values, scale, unit, keep_samples);
  result.value = result.median;
  return result;
}

metric plain_metric(double value, const std::string& unit, uint64_t n) {
  metric result = empty_metric(unit);
  result.value = value;
  result.n = n;
  return result;
}

metric empty_metric(const std::string& unit) {
  metric result;
  result.unit = unit;
  return result;
}

}  // namespace gpusync::tool
