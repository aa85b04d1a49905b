// Metrics from samples.
#pragma once

#include <string>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// A metric with the quartiles and the spread of `values`, each times `scale`; its value is their mean, its bounds are
/// Student's, the samples that it keeps have six significant digits.
metric mean_metric(const std::vector<double>& values, double scale, const std::string& unit, bool keep_samples);

/// The same, but its value is their median, and its bounds are those of median_interval().
metric median_metric(const std::vector<double>& values, double scale, const std::string& unit, bool keep_samples);

/// A metric that is one figure drawn from `n` samples.
metric plain_metric(double value, const std::string& unit, uint64_t n);

/// A count, as it is.
metric count_metric(uint64_t count, const std::string& unit = "1");

/// A metric without a figure.
metric empty_metric(const std::string& unit);

}  // namespace gpusync::tool
