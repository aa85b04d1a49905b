#include "models/crossing.hpp"

#include <map>

namespace gpusync::tool {

std::optional<double> stays_below_from(const std::vector<curve_point>& lower, const std::vector<curve_point>& upper) {
  std::map<double, double> gap;  // upper - lower, by x
  for (const curve_point& high : upper) {
    for (const curve_point& low : lower) {
      if (low.x == high.x) gap[low.x] = high.y - low.y;
    }
  }
  std::optional<double> from;
  for (auto point = gap.rbegin(); point != gap.rend(); ++point) {
    const auto [x, distance] = *point;
    if (distance <= 0) {
      if (!from) return std::nullopt;
      const auto [next_x, next_distance] = *std::prev(point);  // to the right: the curves are walked from there
      return x + (next_x - x) * -distance / (next_distance - distance);
    }
    from = x;
  }
  return from;
}

std::optional<double> stays_below_until(const std::vector<curve_point>& lower, const std::vector<curve_point>& upper) {
  const auto mirrored = [](std::vector<curve_point> points) {
    for (curve_point& point : points) point.x = -point.x;
    return points;
  };
  const auto from = stays_below_from(mirrored(lower), mirrored(upper));
  return from ? std::optional<double>(-*from) : std::nullopt;
}

}  // namespace gpusync::tool
