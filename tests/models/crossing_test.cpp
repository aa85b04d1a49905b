#include "models/crossing.hpp"

#include <gtest/gtest.h>

namespace gpusync::tool {
namespace {

const std::vector<curve_point> flat{{1, 10}, {10, 10}, {20, 10}, {30, 10}};

TEST(Crossing, IsInterpolatedBetweenTheMeasuredPoints) {
  const std::vector<curve_point> rising{{1, 1}, {10, 8}, {20, 12}, {30, 16}};
  EXPECT_DOUBLE_EQ(*stays_below_until(rising, flat), 15);
  EXPECT_EQ(stays_below_from(rising, flat), std::nullopt);
  EXPECT_DOUBLE_EQ(*stays_below_from(flat, rising), 15);
}

TEST(Crossing, IsNotExtrapolated) {
  const std::vector<curve_point> below{{1, 1}, {30, 9}};
  EXPECT_DOUBLE_EQ(*stays_below_until(below, flat), 30);
  EXPECT_DOUBLE_EQ(*stays_below_from(below, flat), 1);
  EXPECT_EQ(stays_below_until(flat, below), std::nullopt);
  EXPECT_EQ(stays_below_until({{5, 1}}, flat), std::nullopt) << "no number of blocks in common";
}

TEST(Crossing, OfCurvesThatCrossTwiceIsTheFirstOrTheLast) {
  const std::vector<curve_point> waves{{1, 5}, {10, 15}, {20, 5}, {30, 5}};
  EXPECT_DOUBLE_EQ(*stays_below_until(waves, flat), 5.5);
  EXPECT_DOUBLE_EQ(*stays_below_from(waves, flat), 15);
}

}  // namespace
}  // namespace gpusync::tool
