#include "results/metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "measure/statistics.hpp"

namespace gpusync::tool {

namespace {

/// To six significant digits: what is beyond is noise, and takes twice the room in a document.
double rounded(double sample) {
  return std::isfinite(sample) ? std::strtod(fmt::format("{:.6g}", sample).c_str(), nullptr) : sample;
}

std::optional<interval> mean_interval(const sample_summary& summary) {
  if (summary.n < 2) return std::nullopt;
  const auto count = static_cast<double>(summary.n);
  const double half = student_quantile(count - 1, (1 - usual_confidence) / 2) * summary.stddev / std::sqrt(count);
  return interval{summary.mean - half, summary.mean + half};
}

std::optional<interval> scaled(const std::optional<interval>& bounds, double scale) {
  return bounds ? std::optional(interval{bounds->low * scale, bounds->high * scale}) : std::nullopt;
}

}  // namespace

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
  result.bounds = scaled(mean_interval(summary), scale);
  if (keep_samples) {
    result.samples.emplace();
    for (const double value : values) result.samples->push_back(rounded(value * scale));
  }
  return result;
}

metric median_metric(const std::vector<double>& values, double scale, const std::string& unit, bool keep_samples) {
  metric result = mean_metric(values, scale, unit, keep_samples);
  result.value = result.median;
  result.bounds = scaled(median_interval(values), scale);
  return result;
}

metric plain_metric(double value, const std::string& unit, uint64_t n) {
  metric result = empty_metric(unit);
  result.value = value;
  result.n = n;
  return result;
}

metric count_metric(uint64_t count, const std::string& unit) {
  return plain_metric(static_cast<double>(count), unit, 1);
}

metric empty_metric(const std::string& unit) {
  metric result;
  result.unit = unit;
  return result;
}

}  // namespace gpusync::tool
