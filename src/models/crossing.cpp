#include "models/crossing.hpp"

#include <map>

namespace gpusync::tool {

namespace {

/// How two curves lie at one x.
struct curve_gap {
  curve_side side = curve_side::level;
  double distance = 0;  // of the medians: the other curve's less this one's
};

std::map<double, curve_gap> gaps_of(const std::vector<spread_point>& curve, const std::vector<spread_point>& other) {
  std::map<double, curve_gap> gaps;
  for (const spread_point& theirs : other) {
    for (const spread_point& ours : curve) {
      if (ours.x != theirs.x) continue;
      const curve_side side = ours.high < theirs.low   ? curve_side::below
                              : ours.low > theirs.high ? curve_side::above
                                                       : curve_side::level;
      gaps[ours.x] = {side, theirs.y - ours.y};
    }
  }
  return gaps;
}

/// Where the line through two gaps, one below and one above, is zero.
double zero_between(const std::pair<const double, curve_gap>& a, const std::pair<const double, curve_gap>& b) {
  return a.first + (b.first - a.first) * a.second.distance / (a.second.distance - b.second.distance);
}

}  // namespace

std::vector<curve_stretch> stretches_of(const std::vector<spread_point>& curve,
                                        const std::vector<spread_point>& other) {
  std::vector<curve_stretch> stretches;
  for (const auto& [x, gap] : gaps_of(curve, other)) {
    if (stretches.empty() || stretches.back().side != gap.side) stretches.push_back({gap.side, x, x});
    stretches.back().last = x;
  }
  return stretches;
}

std::vector<range_below> ranges_below(const std::vector<spread_point>& lower, const std::vector<spread_point>& upper) {
  std::map<double, curve_gap> decided = gaps_of(lower, upper);
  std::erase_if(decided, [](const auto& point) { return point.second.side == curve_side::level; });
  std::vector<range_below> ranges;
  const std::pair<const double, curve_gap>* before = nullptr;
  for (const auto& point : decided) {
    const bool was_below = before != nullptr && before->second.side == curve_side::below;
    if (point.second.side == curve_side::below) {
      if (!was_below) ranges.push_back({before != nullptr ? zero_between(*before, point) : point.first, 0, 0});
      ranges.back().until = point.first;
      ranges.back().points += 1;
    } else if (was_below) {
      ranges.back().until = zero_between(*before, point);
    }
    before = &point;
  }
  return ranges;
}

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

}  // namespace gpusync::tool
