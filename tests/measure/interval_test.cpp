#include "measure/interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace gpusync::tool {
namespace {

using generator = std::mt19937_64;
using distribution = std::function<double(generator&)>;

std::vector<double> draw(size_t count, generator& random, const distribution& from) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(from(random));
  return values;
}

/// What noise may look like; each with median 0.
const std::vector<std::pair<const char*, distribution>> noises{
    {"normal", [](generator& random) { return std::normal_distribution<>()(random); }},
    {"exponential", [](generator& random) { return std::exponential_distribution<>()(random) - std::log(2.0); }},
    {"cauchy", [](generator& random) { return std::cauchy_distribution<>()(random); }},
    {"two values", [](generator& random) { return std::bernoulli_distribution()(random) ? 1.0 : -1.0; }},
};

/// The most misses in `trials` that a rate lets happen in all but one of some thousand cases.
double most_misses(double rate, int trials) {
  return rate * trials + 3.3 * std::sqrt(rate * (1 - rate) * trials);
}

TEST(MedianInterval, NeedsSixValuesForNinetyFivePercent) {
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5}));
  const auto of_six = median_interval({6, 2, 3, 4, 5, 1});
  ASSERT_TRUE(of_six);
  EXPECT_EQ(of_six->low, 1);
  EXPECT_EQ(of_six->high, 6);
  EXPECT_TRUE(median_interval({1, 2, 3, 4, 5}, 0.9));
}

TEST(MedianInterval, TakesTheOrderStatisticsOfThePrintedTable) {
  // Conover, table A3: for n = 20 the binomial's 2.5 % lies at 5, so the 6th and the 15th of 20.
  std::vector<double> values(20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
  EXPECT_EQ(median_interval(values)->low, 6);
  EXPECT_EQ(median_interval(values)->high, 15);
}

TEST(MedianInterval, HoldsTheMedianOfAnyDistributionAsOftenAsItSays) {
  generator random(1);
  for (const auto& [name, noise] : noises) {
    for (const size_t count : {6, 7, 15, 51}) {
      constexpr int trials = 2000;
      int missed = 0;
      for (int i = 0; i < trials; ++i) missed += median_interval(draw(count, random, noise))->contains(0) ? 0 : 1;
      EXPECT_LE(missed, most_misses(0.05, trials)) << name << ", " << count;
    }
  }
}

TEST(RatioByRounds, LeavesOutAsManyPairsAsTheTableOfWilcoxonsTestSays) {
  // Two-sided 5 %: the largest T that is rejected. Of 100 rounds it is the normal limit.
  const std::vector<std::pair<size_t, size_t>> table{{6, 0},   {7, 2},   {8, 3},   {9, 5},   {10, 8},
                                                     {15, 25}, {20, 52}, {25, 89}, {50, 434}};
  for (const auto& [rounds, critical] : table) {
    generator random(rounds);
    const auto values =
        draw(rounds, random, [](generator& from) { return 2 + std::uniform_real_distribution<>()(from); });
    const auto found = ratio_by_rounds(values, std::vector<double>(rounds, 1));
    ASSERT_TRUE(found && found->between);
    size_t below = 0;
    for (size_t i = 0; i < rounds; ++i) {
      for (size_t j = i; j < rounds; ++j) below += (values[i] + values[j]) / 2 < found->between->low ? 1 : 0;
    }
    EXPECT_EQ(below, critical) << rounds;
  }
}

TEST(RatioByRounds, OfTooFewRoundsHasNoInterval) {
  EXPECT_FALSE(ratio_by_rounds({}, {1, 2}));
  const auto five = ratio_by_rounds({2, 2, 2, 2, 2}, {1, 1, 1, 1, 1});
  ASSERT_TRUE(five);
  EXPECT_EQ(five->value, 2);
  EXPECT_FALSE(five->between);
}

TEST(RatioByRounds, CancelsWhatDriftsInBoth) {
  generator random(2);
  std::vector<double> values, base;
  for (int i = 0; i < 20; ++i) {
    const double drift = 1 + 0.1 * i;
    values.push_back(drift * (1.1 + 0.001 * std::normal_distribution<>()(random)));
    base.push_back(drift);
  }
  const auto found = ratio_by_rounds(values, base);
  EXPECT_NEAR(found->value, 1.1, 0.001);
  EXPECT_LT(found->between->high - found->between->low, 0.003);
}

TEST(RatioByRounds, TakesDifferencesThatNoiseHasMadeNegative) {
  const auto found = ratio_by_rounds({-1, 5, 2, 3, -2, 4, 3}, {10, 11, 9, 10, 10, 10, 11});
  ASSERT_TRUE(found && found->between);
  EXPECT_GT(found->between->high, 0);
}

TEST(RatioByRounds, SaysNothingOfABaseThatIsNotAboveItsNoise) {
  EXPECT_FALSE(ratio_by_rounds({1, 1, 1, 1, 1, 1}, {1, -1, 1, -1, 1, -1}));
}

TEST(RatioByRounds, OfManyRoundsTakesThemEvenly) {
  std::vector<double> values(100'000), base(100'000, 1);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i < values.size() / 2 ? 1 : 3;
  EXPECT_NEAR(ratio_by_rounds(values, base)->value, 2, 1e-9);
}

TEST(RatioByRounds, CallsEqualMethodsDifferentNoMoreOftenThanItSays) {
  generator random(3);
  for (const auto& [name, noise] : noises) {
    for (const size_t rounds : {7, 15, 51}) {
      for (const double size : {0.005, 0.02, 0.1}) {
        constexpr int trials = 1000;
        int wrong = 0;
        for (int i = 0; i < trials; ++i) {
          std::vector<double> a, b;
          for (size_t round = 0; round < rounds; ++round) {
            const double drift = std::exp(0.2 * std::normal_distribution<>()(random));
            a.push_back(drift * std::exp(size * noise(random)));
            b.push_back(drift * std::exp(size * noise(random)));
          }
          const auto found = ratio_by_rounds(a, b);
          const difference what = judge_ratio(found ? found->between : std::nullopt);
          wrong += what == difference::faster || what == difference::slower ? 1 : 0;
        }
        EXPECT_LE(wrong, most_misses(0.05, trials)) << name << ", " << rounds << " rounds, noise " << size;
      }
    }
  }
}

TEST(RatioByRounds, CallsMethodsTheSameThatDifferByMoreNoMoreOftenThanItSays) {
  generator random(4);
  const distribution& normal = noises.front().second;
  constexpr int trials = 2000;
  int wrong = 0;
  for (int i = 0; i < trials; ++i) {
    std::vector<double> a, b;
    for (int round = 0; round < 11; ++round) {
      a.push_back(1.0201 * std::exp(0.01 * normal(random)));
      b.push_back(std::exp(0.01 * normal(random)));
    }
    wrong += judge_ratio(ratio_by_rounds(a, b)->between) == difference::same ? 1 : 0;
  }
  EXPECT_LE(wrong, most_misses(0.05, trials));
}

TEST(RatioByRounds, FindsFivePercentInOnePercentOfNoise) {
  generator random(5);
  const distribution& normal = noises.front().second;
  constexpr int trials = 500;
  int found = 0;
  for (int i = 0; i < trials; ++i) {
    std::vector<double> a, b;
    for (int round = 0; round < 11; ++round) {
      a.push_back(1.05 * std::exp(0.01 * normal(random)));
      b.push_back(std::exp(0.01 * normal(random)));
    }
    found += judge_ratio(ratio_by_rounds(a, b)->between) == difference::slower ? 1 : 0;
  }
  EXPECT_GE(found, 0.99 * trials);
}

TEST(JudgeRatio, DecidesByWhereTheWholeIntervalLies) {
  EXPECT_EQ(judge_ratio(std::nullopt), difference::unclear);
  EXPECT_EQ(judge_ratio(interval{0.9, 0.95}), difference::faster);
  EXPECT_EQ(judge_ratio(interval{0.9, 0.99}), difference::unclear);
  EXPECT_EQ(judge_ratio(interval{0.99, 1.01}), difference::same);
  EXPECT_EQ(judge_ratio(interval{1.01, 1.03}), difference::unclear);
  EXPECT_EQ(judge_ratio(interval{1.03, 1.2}), difference::slower);
  EXPECT_EQ(judge_ratio(interval{1.03, 1.2}, 0.05), difference::unclear);
  EXPECT_EQ(judge_ratio(interval{0.5, 50}), difference::unclear);
}

TEST(RatioByRounds, HasAnIntervalFromTheFewestRoundsOn) {
  for (size_t rounds = 1; rounds < 10; ++rounds) {
    const std::vector<double> values(rounds, 2), base(rounds, 1);
    EXPECT_EQ(ratio_by_rounds(values, base)->between.has_value(), rounds >= fewest_rounds) << rounds;
    EXPECT_EQ(median_interval(values).has_value(), rounds >= fewest_rounds) << rounds;
  }
}

}  // namespace
}  // namespace gpusync::tool
