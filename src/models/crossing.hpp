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

/// A point of a measured curve: a median and its quartiles.
struct spread_point {
  double x = 0;
  double low = 0;
  double y = 0;
  double high = 0;
};

/// Where one measured curve lies beside another: its quartiles wholly below the other's, wholly above, or neither.
enum class curve_side { below, level, above };

/// Neighbouring x that both curves have, with the same side.
struct curve_stretch {
  curve_side side = curve_side::level;
  double first = 0;
  double last = 0;
};
/// All of them by rising x. Points in any order.
std::vector<curve_stretch> stretches_of(const std::vector<spread_point>& curve, const std::vector<spread_point>& other);

/// A range of x in which a curve lies below another.
struct range_below {
  double from = 0;
  double until = 0;
  size_t points = 0;  ///< x at which it was found below
};

/// The ranges of x in which `lower` lies below `upper`, by rising x. What is level says nothing and is passed over. A
/// range ends where the medians' lines cross between the last x at which it was below and the next at which it was
/// above; nothing is extrapolated, so that it ends with its own last x where there is no such next one.
std::vector<range_below> ranges_below(const std::vector<spread_point>& lower, const std::vector<spread_point>& upper);

}  // namespace gpusync::tool
