#include "measure/repeat_difference.hpp"

#include <cmath>

namespace gpusync::tool {

double repeat_difference(double longer_time, double shorter_time, const repeat_counts& counts) {
  return (longer_time - shorter_time) / static_cast<double>(counts.longer - counts.shorter);
}

double repeat_difference_sigma(double longer_stddev, double shorter_stddev, const repeat_counts& counts) {
  return std::hypot(longer_stddev, shorter_stddev) / static_cast<double>(counts.longer - counts.shorter);
}

void repeat_samples::add(double longer_time, double shorter_time) {
  longer_.push_back(longer_time);
  shorter_.push_back(shorter_time);
  differences_.push_back(repeat_difference(longer_time, shorter_time, counts_));
}

double repeat_samples::sigma() const {
  return repeat_difference_sigma(summarize(longer_).stddev, summarize(shorter_).stddev, counts_);
}

}  // namespace gpusync::tool
