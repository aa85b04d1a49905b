#include "measure/statistics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "measure/repeat_difference.hpp"
#include "measure/stop_rule.hpp"

namespace gpusync::tool {
namespace {

TEST(Quantile, IsHyndmanAndFansTypeSeven) {
  // R: quantile(c(1, 3, 4, 10), c(.25, .5, .75)) = 2.5, 3.5, 5.5
  const std::vector<double> sorted{1, 3, 4, 10};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 3.5);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 5.5);
  EXPECT_DOUBLE_EQ(quantile({42}, 0.75), 42);
}

TEST(Summary, MatchesTheNistReferenceNumAcc2) {
  // NIST StRD univariate NumAcc2: 1.2, then 1.1 and 1.3 five hundred times each: mean 1.2, deviation 0.1 exactly.
  std::vector<double> values{1.2};
  for (int i = 0; i < 500; ++i) {
    values.push_back(1.1);
    values.push_back(1.3);
  }
  const sample_summary summary = summarize(values);
  EXPECT_EQ(summary.n, 1001u);
  EXPECT_NEAR(summary.mean, 1.2, 1e-13);
  EXPECT_NEAR(summary.stddev, 0.1, 1e-13);
}

TEST(Summary, OfNothingIsAllZero) {
  EXPECT_EQ(summarize({}).n, 0u);
  EXPECT_EQ(summarize({}).median, 0.0);
}

RC_GTEST_PROP(Summary, ShiftsWithItsValuesAndKeepsItsOrder, ())
{
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<int16_t>>(rc::gen::arbitrary<int16_t>()));
  std::vector<double> plain(values.begin(), values.end());
  std::vector<double> shifted;
  for (const double v : plain) shifted.push_back(v + 1000);
  const sample_summary a = summarize(plain);
  const sample_summary b = summarize(shifted);
  RC_ASSERT(a.q1 <= a.median && a.median <= a.q3);
  RC_ASSERT(std::abs(b.median - a.median - 1000) < 1e-9);
  RC_ASSERT(std::abs(b.stddev - a.stddev) < 1e-6);
}

TEST(RepeatDifference, IsZhangsEquationsSevenAndEight) {
  const repeat_counts counts{256, 512};
  EXPECT_DOUBLE_EQ(repeat_difference(5120, 2560, counts), 10);
  EXPECT_DOUBLE_EQ(repeat_difference_sigma(3, 4, counts), 5.0 / 256);
}

TEST(RepeatDifference, CancelsWhatHappensOncePerRun) {
  for (const double once : {100.0, 5000.0, 123456.0}) {
    EXPECT_DOUBLE_EQ(repeat_difference(once + 1064 * 7.0, once + 64 * 7.0, {64, 1064}), 7);
  }
}

TEST(StopRule, EndsOnSpreadOnlyAfterEnoughSamples) {
  const stop_rule rule{5, 50, 0.01, 0, 1e9};
  EXPECT_EQ(rule.judge(summarize({10, 10, 10, 10}), 0), stop_reason::running);
  EXPECT_EQ(rule.judge(summarize({10, 10, 10, 10, 10}), 0), stop_reason::spread);
  EXPECT_EQ(rule.judge(summarize({9, 10, 11, 10, 9}), 0), stop_reason::running);
}

TEST(StopRule, EndsOnTheBudgetButNeverWithoutASample) {
  const stop_rule rule{5, 50, 0.01, 0, 1e9};
  EXPECT_EQ(rule.judge(summarize({}), 2e9), stop_reason::running);
  EXPECT_EQ(rule.judge(summarize({10, 20}), 2e9), stop_reason::time);
}

TEST(StopRule, ABudgetCanWaitForSamples) {
  const stop_rule rule{5, 50, 0.01, 0, 1e9, 3};
  EXPECT_EQ(rule.judge(summarize({10, 20}), 2e9), stop_reason::running);
  EXPECT_EQ(rule.judge(summarize({10, 20, 30}), 2e9), stop_reason::time);
}

TEST(StopRule, EndsOnTheMostSamples) {
  const stop_rule rule{2, 3, 0.0, 0, 1e9};
  EXPECT_EQ(rule.judge(summarize({1, 2, 3}), 0), stop_reason::samples);
}

}  // namespace
}  // namespace gpusync::tool
