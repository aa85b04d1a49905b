// What an artificial barrier gains: equations 1 to 5 of Lo et al. (2014), on their tables and on points with known
// fits.
#include "models/pace_model.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace gpusync::tool {
namespace {

// Table 3. The printed reduction ratios, 26.3, 8.9 and 17.1 %, cannot be derived from the printed clocks.
TEST(PaceModel, PredictsTheGainsOfTable3) {
  const pace_clocks gtx295{5433, 3452, 555}, gtx480{2440, 1716, 527}, gtx690{1513, 828, 503};
  for (const pace_clocks& clocks : {gtx295, gtx480, gtx690}) EXPECT_TRUE(predicts_gain(clocks));
  EXPECT_NEAR(predicted_rho(gtx295), 26.2, 0.1);
  EXPECT_NEAR(predicted_rho(gtx480), 8.1, 0.1);
  EXPECT_NEAR(predicted_rho(gtx690), 12.0, 0.1);
}

/// Equations 1 and 2 on table 4: the barrier is in the accumulation, beside the memory's part.
double rho_of_table_4(double accumulation, double tree, double paced_accumulation, double paced_tree) {
  return predicted_rho({accumulation + tree, paced_accumulation + paced_tree, 0});
}

TEST(PaceModel, PredictsTheGainsOfTable4) {
  EXPECT_NEAR(rho_of_table_4(1302092, 136478, 1295664, 118574), 1.7, 0.05);
  EXPECT_NEAR(rho_of_table_4(2046871, 275709, 2151725, 98779), 3.1, 0.05);
  EXPECT_NEAR(rho_of_table_4(768774, 129124, 843731, 50668), 0.4, 0.05);
  EXPECT_NEAR(rho_of_table_4(2526039, 350016, 2643813, 102731), 4.5, 0.05);
  EXPECT_NEAR(rho_of_table_4(2889167, 408093, 2730773, 111333), 13.8, 0.05);
  EXPECT_NEAR(rho_of_table_4(1164633, 211422, 1103736, 80701), 13.9, 0.05);
}

RC_GTEST_PROP(PaceModel, AGainIsPredictedExactlyWhereRhoIsPositive, ())
{
  const auto clocks = [] { return *rc::gen::inRange(1, 100000); };
  const pace_clocks some{double(clocks()), double(clocks()), double(clocks())};
  RC_ASSERT(predicts_gain(some) == (predicted_rho(some) > 0));
}

// The mean warp waits as long as it has gained, but the kernel no longer waits for the slowest one.
TEST(PaceModel, KnowsTheTailByHowLongWarpsLive) {
  const pace_clocks clocks{1000, 700, 330};
  EXPECT_FALSE(predicts_gain(clocks));
  EXPECT_NEAR(predicted_rho(clocks), -3, 1e-9);
  EXPECT_NEAR(predicted_rho(clocks, 0.73, 0.94), 20.0, 0.05);
}

TEST(PaceModel, RhoIsTakenRoundByRound) {
  const std::vector<double> rho = rho_by_round({90, 120, 50, 7}, {100, 100, 0});
  ASSERT_EQ(rho.size(), 2u) << "a round whose base is 0 says nothing, nor one that the base has not";
  EXPECT_NEAR(rho[0], 10, 1e-12);
  EXPECT_NEAR(rho[1], -20, 1e-12);
}

TEST(FitTerms, FindsCoefficientsAndTheirErrors) {
  // y = 2 + 3 a - b, and one residual of known size.
  std::vector<terms_point> points;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) points.push_back({{1, double(a), double(b)}, 2.0 + 3 * a - b});
  }
  const auto exact = fit_terms(points);
  ASSERT_TRUE(exact);
  EXPECT_NEAR(exact->coefficients[0], 2, 1e-9);
  EXPECT_NEAR(exact->coefficients[1], 3, 1e-9);
  EXPECT_NEAR(exact->coefficients[2], -1, 1e-9);
  EXPECT_NEAR(exact->r_squared, 1, 1e-12);
  EXPECT_NEAR(exact->errors[1].value(), 0, 1e-6);
}

// As a line's, by fit_line().
TEST(FitTerms, AgreesWithTheLineFit) {
  const std::vector<fit_point> line{{10, 8.04, 1}, {8, 6.95, 1},  {13, 7.58, 1},
                                    {9, 8.81, 1},  {11, 8.33, 1}, {14, 9.96, 1}};
  std::vector<terms_point> points;
  for (const fit_point& point : line) points.push_back({{1, point.x}, point.y});
  const auto by_terms = fit_terms(points);
  const auto by_line = fit_line(line);
  ASSERT_TRUE(by_terms && by_line);
  EXPECT_NEAR(by_terms->coefficients[0], by_line->intercept, 1e-9);
  EXPECT_NEAR(by_terms->coefficients[1], by_line->slope, 1e-9);
  EXPECT_NEAR(by_terms->errors[0].value(), by_line->intercept_error.value(), 1e-9);
  EXPECT_NEAR(by_terms->errors[1].value(), by_line->slope_error.value(), 1e-9);
  EXPECT_NEAR(by_terms->r_squared, by_line->r_squared, 1e-9);
}

TEST(FitTerms, RefusesWhatDeterminesNothing) {
  EXPECT_FALSE(fit_terms({}));
  EXPECT_FALSE(fit_terms({{{1, 2}, 3}}));
  EXPECT_FALSE(fit_terms({{{1, 2}, 3}, {{1, 2}, 4}, {{1, 2}, 5}})) << "the terms are proportional";
  const auto just = fit_terms({{{1, 2}, 3}, {{1, 3}, 4}});
  ASSERT_TRUE(just);
  EXPECT_FALSE(just->errors[0]) << "two points always lie on a line";
}

TEST(PaceModel, FitsOneLevelOfCache) {
  const auto fit = fit_one_level({{1, 400}, {0.5, 4785, 0}, {0.25, 6977.5, 0}, {0, 9170, 0}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->coefficients[0], 400, 1e-6);
  EXPECT_NEAR(fit->coefficients[1], 8770, 1e-6);
}

TEST(PaceModel, TwoLevelsExplainWhatOneCannot) {
  std::vector<hits_and_clocks> points;
  for (const auto& [l1, l2] : {std::pair{0.87, 0.9}, {0.82, 0.1}, {0.75, 0.8}, {0.61, 0.2}, {0.33, 0.9}, {0.13, 0.4}}) {
    points.push_back({l1, 839 + (1 - l1) * 3949 + (1 - l1) * (1 - l2) * 13185, l2});
  }
  const auto one = fit_one_level(points), two = fit_two_levels(points);
  ASSERT_TRUE(one && two);
  EXPECT_NEAR(two->coefficients[0], 839, 1e-6);
  EXPECT_NEAR(two->coefficients[1], 3949, 1e-6);
  EXPECT_NEAR(two->coefficients[2], 13185, 1e-6);
  EXPECT_GT(two->r_squared, 0.999);
  EXPECT_LT(one->r_squared, 0.95);
  EXPECT_GT(one->errors[1].value(), two->errors[1].value());
}

TEST(PaceModel, FindsTheRateAtWhichHitsFallOff) {
  std::vector<std::pair<double, double>> points;
  for (const double tau : {1.0, 10.0, 100.0, 400.0}) points.emplace_back(tau, 0.9 * std::exp(-0.004 * tau));
  points.emplace_back(1000, 0);
  const auto fit = fit_decay(points);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->at_zero, 0.9, 1e-9);
  EXPECT_NEAR(fit->rate, 0.004, 1e-9);
  EXPECT_FALSE(fit_decay({{1, 0}, {2, 0}, {3, 0.5}}));
}

// Hit ratios of L1 on an H200 with a barrier every 1, 4, 16, 64, 256 and 1,024 batches of four loads.
TEST(PaceModel, HitsFallOffAsARandomWalkDoesAndNotAsEquation4Says) {
  const std::vector<std::pair<double, double>> measured{{4, 0.87},   {16, 0.82},   {64, 0.75},
                                                        {256, 0.61}, {1024, 0.33}, {4096, 0.13}};
  const auto by_accesses = fit_decay(measured), by_root = fit_drift(measured);
  ASSERT_TRUE(by_accesses && by_root);
  EXPECT_GT(by_root->r_squared, 0.98);
  EXPECT_LT(by_accesses->r_squared, by_root->r_squared - 0.02);
}

}  // namespace
}  // namespace gpusync::tool
