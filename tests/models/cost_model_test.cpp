#include "models/cost_model.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "measure/statistics.hpp"

namespace gpusync::tool {
namespace {

const measured_programs five{"t1", "t2", "t3", "t4", "t5"};

/// Times of the five programs by equation 3, from the parts and the work alone.
program_rounds programs_with(double work, double atomic_add, double check, double block_barriers, double fence) {
  const double unfenced = work + block_barriers + atomic_add + check;
  return {{"t1", {work}},
          {"t2", {atomic_add}},
          {"t3", {work + block_barriers}},
          {"t4", {unfenced}},
          {"t5", {unfenced + fence}}};
}

RC_GTEST_PROP(CostModel, TheFormulaeUndoEquation3, ())
{
  const auto figure = [] { return *rc::gen::inRange(0, 100000) / 8.0; };
  const double work = figure(), atomic_add = figure(), check = figure(), block_barriers = figure(), fence = figure();
  const program_rounds rounds = programs_with(work, atomic_add, check, block_barriers, fence);
  const barrier_formulae parts = formulae_of(five);
  RC_ASSERT(by_round(parts.atomic_add, rounds) == std::vector<double>{atomic_add});
  RC_ASSERT(by_round(parts.check, rounds) == std::vector<double>{check});
  RC_ASSERT(by_round(parts.block_barriers, rounds) == std::vector<double>{block_barriers});
  RC_ASSERT(by_round(parts.fence, rounds) == std::vector<double>{fence});
}

TEST(CostModel, RoundsThatOneProgramLacksHaveNoSay) {
  const cost_formula difference{{"a", 1}, {"b", -1}};
  EXPECT_EQ(by_round(difference, {{"a", {5, 6, 7}}, {"b", {1, 1}}}), (std::vector<double>{4, 5}));
  EXPECT_TRUE(by_round(difference, {{"a", {5, 6, 7}}}).empty());
  EXPECT_TRUE(by_round(difference, {{"a", {5, 6, 7}}, {"b", {}}}).empty());
  EXPECT_TRUE(by_round({}, {{"a", {1}}}).empty());
  EXPECT_EQ(by_round({{"a", 1}, {"a", 1}}, {{"a", {2}}}), (std::vector<double>{4}));
}

TEST(CostModel, WhatDriftsFromRoundToRoundCancels) {
  // Two programs whose clock halves in the middle: each scatters by 30 %, their difference, a constant part, does not.
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.01);
  program_rounds rounds;
  for (int round = 0; round < 40; ++round) {
    const double drift = round < 20 ? 0 : 10;
    rounds["with"].push_back(12 + drift + noise(random));
    rounds["without"].push_back(10 + drift + noise(random));
  }
  const sample_summary part = summarize(by_round({{"with", 1}, {"without", -1}}, rounds));
  EXPECT_NEAR(part.median, 2, 0.01);
  EXPECT_NEAR(part.stddev, 0.0141, 0.005);
  EXPECT_GT(summarize(rounds["with"]).stddev, 4);
}

TEST(CostModel, ASumsErrorIsThatOfIndependentOnes) {
  const cost_estimate sum = sum_of({{1, 3.0}, {10, 4.0}, {100, 0.0}});
  EXPECT_EQ(sum.value, 111);
  EXPECT_DOUBLE_EQ(sum.sigma.value(), 5);
  EXPECT_FALSE(sum_of({{1, 3.0}, {10, std::nullopt}, {100, 1.0}}).sigma);
  EXPECT_EQ(sum_of({}).value, 0);
  EXPECT_EQ(execution_time({2, 3.0}, {5, 4.0}).value, 7);
  EXPECT_EQ(execution_time({2, 3.0}, {5, 4.0}).sigma, 5);
}

TEST(CostModel, AFitFindsALineWithItsErrors) {
  const auto exact = fit_cost({{1, 5}, {2, 7}, {30, 63}});
  ASSERT_TRUE(exact);
  EXPECT_NEAR(exact->per_block.value, 2, 1e-12);
  EXPECT_NEAR(exact->constant.value, 3, 1e-12);
  EXPECT_NEAR(exact->at(30).value, 63, 1e-9);
  EXPECT_NEAR(exact->at(30).sigma.value(), 0, 1e-6);
  EXPECT_FALSE(fit_cost({{4, 1}, {4, 2}}));
  const auto two = fit_cost({{1, 1}, {2, 3}});
  ASSERT_TRUE(two);
  EXPECT_FALSE(two->at(1).sigma) << "two points lie on a line, whatever their errors";
}

/// The error of a line at x is s sqrt(1 / n + (x - mean)^2 / Sxx), here worked out by hand.
TEST(CostModel, ALinesErrorIsLeastAtTheMeanOfItsPoints) {
  const std::vector<fit_point> points{{1, 1}, {2, 3}, {3, 2}, {6, 7}};
  const auto line = fit_cost(points);
  ASSERT_TRUE(line);
  double rest = 0;
  for (const fit_point& point : points) rest += std::pow(point.y - line->at(point.x).value, 2);
  const double scatter = rest / 2;  // two degrees of freedom
  const double mean = 3, squares = 14;
  for (const double x : {0.0, 3.0, 30.0}) {
    const double expected = std::sqrt(scatter * (1.0 / 4 + (x - mean) * (x - mean) / squares));
    EXPECT_NEAR(line->at(x).sigma.value(), expected, 1e-9) << x;
  }
}

TEST(CostModel, ABarrierIsTheSumOfItsParts) {
  const cost_line constant{{0.5, std::nullopt}, {0, std::nullopt}, 0},
      rising{{1, std::nullopt}, {0.25, std::nullopt}, 0};
  EXPECT_DOUBLE_EQ(synchronization_time({constant, rising}, 1).value, 1.75);
  EXPECT_DOUBLE_EQ(synchronization_time({constant, rising}, 100).value, 26.5);
  EXPECT_DOUBLE_EQ(synchronization_time({constant}, 100).value, 0.5);
  EXPECT_FALSE(synchronization_time({constant, rising}, 1).sigma);
}

}  // namespace
}  // namespace gpusync::tool
