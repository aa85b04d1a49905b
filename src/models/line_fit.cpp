#include "models/line_fit.hpp"

#include <cmath>

namespace gpusync::tool {

std::optional<line_fit> fit_line(const std::vector<fit_point>& points) {
  double weights = 0;
  double mean_x = 0;
  double mean_y = 0;
  for (const fit_point& point : points) {
    weights += point.weight;
    mean_x += point.weight * point.x;
    mean_y += point.weight * point.y;
  }
  if (points.size() < 2) return std::nullopt;
  mean_x /= weights;
  mean_y /= weights;
  // About the means: sums of raw squares would lose the digits that matter where x or y are large and vary little.
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const fit_point& point : points) {
    xx += point.weight * (point.x - mean_x) * (point.x - mean_x);
    xy += point.weight * (point.x - mean_x) * (point.y - mean_y);
    yy += point.weight * (point.y - mean_y) * (point.y - mean_y);
  }
  bool differ = false;
  for (const fit_point& point : points) differ = differ || point.x != points.front().x;
  if (!differ) return std::nullopt;

  line_fit line;
  line.points = points.size();
  line.slope = xy / xx;
  line.intercept = mean_y - line.slope * mean_x;
  double rest = 0;
  for (const fit_point& point : points) {
    const double distance = point.y - line.at(point.x);
    rest += point.weight * distance * distance;
  }
  line.r_squared = yy > 0 ? 1 - rest / yy : 1;
  if (points.size() > 2) {
    const double variance = rest / static_cast<double>(points.size() - 2);
    line.slope_error = std::sqrt(variance / xx);
    line.intercept_error = std::sqrt(variance * (1 / weights + mean_x * mean_x / xx));
  }
  return line;
}

}  // namespace gpusync::tool
