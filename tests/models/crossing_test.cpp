#include "models/crossing.hpp"

#include <gtest/gtest.h>

namespace gpusync::tool {
namespace {

const std::vector<curve_point> flat{{1, 10}, {10, 10}, {20, 10}, {30, 10}};

TEST(Crossing, IsInterpolatedBetweenTheMeasuredPoints) {
  const std::vector<curve_point> rising{{1, 1}, {10, 8}, {20, 12}, {30, 16}};
  EXPECT_EQ(stays_below_from(rising, flat), std::nullopt);
  EXPECT_DOUBLE_EQ(*stays_below_from(flat, rising), 15);
}

TEST(Crossing, IsNotExtrapolated) {
  const std::vector<curve_point> below{{1, 1}, {30, 9}};
  EXPECT_DOUBLE_EQ(*stays_below_from(below, flat), 1);
  EXPECT_EQ(stays_below_from(flat, below), std::nullopt);
  EXPECT_EQ(stays_below_from({{5, 1}}, flat), std::nullopt) << "no number of blocks in common";
}

TEST(Crossing, OfCurvesThatCrossTwiceIsTheLast) {
  const std::vector<curve_point> waves{{1, 5}, {10, 15}, {20, 5}, {30, 5}};
  EXPECT_DOUBLE_EQ(*stays_below_from(waves, flat), 15);
}

std::vector<spread_point> spread(const std::vector<curve_point>& points, double half = 0.5) {
  std::vector<spread_point> all;
  for (const curve_point& point : points) all.push_back({point.x, point.y - half, point.y, point.y + half});
  return all;
}

TEST(RangesBelow, EndWhereTheMediansCross) {
  const auto ranges = ranges_below(spread({{30, 16}, {1, 15}, {10, 8}, {20, 6}}), spread(flat));
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_NEAR(ranges[0].from, 1 + 9 * 5.0 / 7, 1e-12);
  EXPECT_DOUBLE_EQ(ranges[0].until, 24);
  EXPECT_EQ(ranges[0].points, 2u);
}

TEST(RangesBelow, AreNotExtrapolated) {
  const auto all = ranges_below(spread({{1, 1}, {30, 8}}), spread(flat));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_DOUBLE_EQ(all[0].from, 1);
  EXPECT_DOUBLE_EQ(all[0].until, 30);
  EXPECT_TRUE(ranges_below(spread(flat), spread({{1, 1}, {30, 8}})).empty());
  EXPECT_TRUE(ranges_below(spread({{5, 1}}), spread(flat)).empty()) << "no number of blocks in common";
}

TEST(RangesBelow, TakeOverlappingQuartilesForNeither) {
  // Medians cross three times within the noise, and once beyond it.
  const std::vector<curve_point> noisy{{1, 10.2}, {10, 5}, {20, 10.1}, {30, 9.9}, {40, 20}};
  const std::vector<curve_point> level{{1, 10}, {10, 10}, {20, 10}, {30, 10}, {40, 10}};
  const auto ranges = ranges_below(spread(noisy), spread(level));
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_DOUBLE_EQ(ranges[0].from, 10);
  EXPECT_DOUBLE_EQ(ranges[0].until, 20) << "from 5 below at 10 to 10 above at 40";
  EXPECT_EQ(ranges[0].points, 1u);
  // The same medians without any noise.
  EXPECT_EQ(ranges_below(spread(noisy, 0), spread(level, 0)).size(), 2u);

  const auto stretches = stretches_of(spread(noisy), spread(level));
  ASSERT_EQ(stretches.size(), 4u);
  EXPECT_EQ(stretches[0].side, curve_side::level);
  EXPECT_EQ(stretches[1].side, curve_side::below);
  EXPECT_EQ(stretches[2].side, curve_side::level);
  EXPECT_DOUBLE_EQ(stretches[2].first, 20);
  EXPECT_DOUBLE_EQ(stretches[2].last, 30);
  EXPECT_EQ(stretches[3].side, curve_side::above);
}

}  // namespace
}  // namespace gpusync::tool
