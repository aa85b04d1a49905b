#include "models/line_fit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "models/crossing.hpp"

namespace gpusync::tool {
namespace {

TEST(LineFit, FindsTheLineThatPointsLieOn) {
  const auto line = fit_line({{1, 5}, {2, 7}, {10, 23}, {70, 143}});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 2, 1e-12);
  EXPECT_NEAR(line->intercept, 3, 1e-12);
  EXPECT_NEAR(line->r_squared, 1, 1e-12);
  EXPECT_NEAR(line->slope_error.value(), 0, 1e-9);
  EXPECT_EQ(line->points, 4u);
  EXPECT_NEAR(line->at(100), 203, 1e-9);
}

// Anscombe's first quartet, whose line is known to every statistics package.
TEST(LineFit, AgreesWithAnscombe) {
  const auto line = fit_line({{10, 8.04},
                              {8, 6.95},
                              {13, 7.58},
                              {9, 8.81},
                              {11, 8.33},
                              {14, 9.96},
                              {6, 7.24},
                              {4, 4.26},
                              {12, 10.84},
                              {7, 4.82},
                              {5, 5.68}});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 0.5000909, 1e-7);
  EXPECT_NEAR(line->intercept, 3.0000909, 1e-7);
  EXPECT_NEAR(line->r_squared, 0.6665425, 1e-7);
  EXPECT_NEAR(line->slope_error.value(), 0.1179055, 1e-7);
  EXPECT_NEAR(line->intercept_error.value(), 1.1247468, 1e-7);
}

TEST(LineFit, AWeightCountsLikeThatManyPoints) {
  const auto weighted = fit_line({{1, 1, 3}, {2, 5, 1}, {4, 2, 2}});
  const auto repeated = fit_line({{1, 1}, {1, 1}, {1, 1}, {2, 5}, {4, 2}, {4, 2}});
  ASSERT_TRUE(weighted && repeated);
  EXPECT_NEAR(weighted->slope, repeated->slope, 1e-12);
  EXPECT_NEAR(weighted->intercept, repeated->intercept, 1e-12);
  EXPECT_NEAR(weighted->r_squared, repeated->r_squared, 1e-12);
}

TEST(LineFit, NeedsTwoDifferentX) {
  EXPECT_FALSE(fit_line({}));
  EXPECT_FALSE(fit_line({{1, 2}}));
  EXPECT_FALSE(fit_line({{1, 2}, {1, 3}}));
  EXPECT_FALSE(fit_line({{0.1, 2}, {0.1, 3}, {0.1, 4}}));
  const auto two = fit_line({{1, 2}, {2, 3}});
  ASSERT_TRUE(two);
  EXPECT_FALSE(two->slope_error) << "two points lie on a line, whatever their errors";
}

TEST(LineFit, AConstantIsALineThatExplainsEverything) {
  const auto line = fit_line({{1, 4}, {2, 4}, {3, 4}});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->slope, 0);
  EXPECT_EQ(line->intercept, 4);
  EXPECT_EQ(line->r_squared, 1);
}

RC_GTEST_PROP(LineFit, FindsAnyLineAgain, ())
{
  const double slope = *rc::gen::inRange(-1000, 1000) / 8.0;
  const double intercept = *rc::gen::inRange(-100000, 100000) / 8.0;
  const auto xs = *rc::gen::suchThat(rc::gen::unique<std::vector<int>>(rc::gen::inRange(-5000, 5000)),
                                     [](const std::vector<int>& some) { return some.size() >= 2; });
  std::vector<fit_point> points;
  for (const int x : xs) points.push_back({double(x), intercept + slope * x, *rc::gen::inRange(1, 9) / 4.0});
  const auto line = fit_line(points);
  RC_ASSERT(line.has_value());
  RC_ASSERT(std::abs(line->slope - slope) < 1e-6 * (1 + std::abs(slope)));
  for (const fit_point& point : points)
    RC_ASSERT(std::abs(line->at(point.x) - point.y) < 1e-5 * (1 + std::abs(point.y)));
}

TEST(Crossing, IsInterpolatedBetweenTheLastTwoThatDiffer) {
  const std::vector<curve_point> host{{0, 0}, {10, 100}, {20, 200}};
  EXPECT_DOUBLE_EQ(stays_below_from({{0, 30}, {10, 40}, {20, 50}}, host).value(), 10.0 / 3);
  // It dips below early, but stays so only from the second crossing on.
  EXPECT_DOUBLE_EQ(stays_below_from({{0, -1}, {10, 150}, {20, 150}}, host).value(), 15);
}

TEST(Crossing, IsNeverExtrapolated) {
  const std::vector<curve_point> host{{1, 10}, {5, 50}};
  EXPECT_DOUBLE_EQ(stays_below_from({{1, 5}, {5, 6}}, host).value(), 1);
  EXPECT_FALSE(stays_below_from({{1, 100}, {5, 100}}, host));
  EXPECT_FALSE(stays_below_from({{1, 10}, {5, 50}}, host)) << "equal is not below";
  EXPECT_FALSE(stays_below_from({{2, 1}, {3, 1}}, host)) << "nothing in common";
  EXPECT_DOUBLE_EQ(stays_below_from({{5, 1}, {1, 10}, {3, 1000}}, {{5, 50}, {1, 10}}).value(), 1);
}

}  // namespace
}  // namespace gpusync::tool
