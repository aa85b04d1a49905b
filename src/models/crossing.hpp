// Where one measured curve falls below another.
#pragma once

#include <optional>
#include <vector>

namespace gpusync::tool {

/// A point of a curve.
struct curve_point {
  double x = 0;
  double y = 0;
};

/// The x from which `lower` stays below `upper` up to the largest x that both have. Between such x the curves are taken
/// for straight, so the crossing is interpolated; nothing is extrapolated: the least common x is returned if `lower` is
/// below from there on, nothing if it is not below at the largest one, or if no x is common. Points in any order.
std::optional<double> stays_below_from(const std::vector<curve_point>& lower, const std::vector<curve_point>& upper);

/// The same from the other side: the x until which `lower` stays below `upper` from the least x that both have; the
/// greatest common x if it is below up to there, nothing if it is not below at the least one.
std::optional<double> stays_below_until(const std::vector<curve_point>& lower, const std::vector<curve_point>& upper);

}  // namespace gpusync::tool
