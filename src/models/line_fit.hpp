// A straight line through points, by weighted least squares.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gpusync::tool {

/// One point. `weight` is 1 / variance of y, up to a factor that all points share.
struct fit_point {
  double x = 0;
  double y = 0;
  double weight = 1;
};

/// y = intercept + slope * x.
struct line_fit {
  double slope = 0;
  double intercept = 0;
  /// The part of the (weighted) variance of y that the line explains; 1 if y does not vary.
  double r_squared = 0;
  uint64_t points = 0;
  /// Standard errors, from the scatter about the line; empty for two points, which always lie on one.
  std::optional<double> slope_error;
  std::optional<double> intercept_error;

  double at(double x) const { return intercept + slope * x; }
};

/// The line with the least weighted sum of squared distances in y. Empty if the points do not have two different x.
/// Precondition: all values are finite, weights are positive.
std::optional<line_fit> fit_line(const std::vector<fit_point>& points);

}  // namespace gpusync::tool
