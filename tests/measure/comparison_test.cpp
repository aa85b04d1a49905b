// How programs take turns, on programs that only pretend to take time.
#include "measure/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "measure/interruption.hpp"
#include "measure/repeat_difference.hpp"

namespace gpusync::tool {
namespace {

comparison_options quick() {
  comparison_options how;
  how.stop = {3, 6, 0.01, 0, 1e12};
  return how;
}

repeat_options short_runs() {
  repeat_options how;
  how.target_run_ns = 1e5;
  return how;
}

/// Compares programs of steps.
std::vector<compared> compare_steps(const std::vector<repeated_program>& programs, const comparison_options& how) {
  repeat_options runs = short_runs();
  runs.interrupted = how.interrupted;
  std::vector<candidate> candidates;
  for (const repeated_program& program : programs) candidates.push_back(by_repeat_difference(program, runs));
  return compare(candidates, how);
}

sample_summary steps_of(const compared& result) {
  return summarize(result.of(step_sample));
}

/// Turns that take 1, 2, 3, … and whatever else.
candidate counting(std::shared_ptr<int> count = std::make_shared<int>(0)) {
  return {[count]() -> turn_samples {
            *count += 1;
            return {{"time", *count}, {"negative", -*count}};
          },
          [] {}};
}

TEST(Comparison, TakesTurnsInsteadOfMeasuringOneAfterTheOther) {
  std::string order;
  const auto program = [&order](char name, double wobble) {
    auto count = std::make_shared<int>(0);
    return repeated_program{[&order, name, wobble, count](uint64_t steps) {
                              order += name;
                              return static_cast<double>(steps) * (10 + wobble * (++*count % 4));
                            },
                            8};
  };
  const auto results = compare_steps({program('a', 5), program('b', 5)}, quick());
  EXPECT_NE(order.find("aabbbbaa"), std::string::npos) << "the order rotates from round to round: " << order;
  EXPECT_EQ(results[0].stop, stop_reason::samples);
  EXPECT_EQ(steps_of(results[0]).n, 6u);
}

TEST(Comparison, FindsTheTimePerStepAndStopsOnSpread) {
  const auto results =
      compare_steps({{[](uint64_t steps) { return 1e6 + static_cast<double>(steps) * 123.0; }, 64}}, quick());
  EXPECT_NEAR(steps_of(results[0]).median, 123.0, 1e-6);
  EXPECT_NEAR(repeat_sigma(results[0]), 0, 1e-9);
  EXPECT_EQ(results[0].stop, stop_reason::spread);
  EXPECT_EQ(steps_of(results[0]).n, 3u);
}

TEST(Comparison, ASigmaIsThatOfTheRunsOverTheirAdditionalSteps) {
  compared result;
  EXPECT_EQ(repeat_sigma(result), 0);
  result.samples = {{step_sample, {1, 1}},
                    {longer_sample, {100, 106}},
                    {shorter_sample, {10, 18}},
                    {longer_steps_sample, {12, 12}},
                    {shorter_steps_sample, {2, 2}}};
  EXPECT_NEAR(repeat_sigma(result), std::hypot(6, 8) / std::sqrt(2.0) / 10, 1e-9);
}

TEST(Comparison, ChoosesRunsLongEnoughForTheDifferenceButNoLongerThanAllowed) {
  repeat_options how = short_runs();
  const auto counts = choose_counts({[](uint64_t steps) { return 5e5 + static_cast<double>(steps) * 10; }, 64}, how);
  EXPECT_EQ(counts.shorter, 128u);
  EXPECT_NEAR(static_cast<double>(counts.longer - counts.shorter) * 10, how.target_run_ns, 64 * 10);
  how.max_steps = 256;
  const auto capped = choose_counts({[](uint64_t) { return 1e3; }, 64}, how);
  EXPECT_EQ(capped.longer, 128u + 256u);
}

TEST(Comparison, RunsAProgramThatTakesLongNoMoreOftenThanItMust) {
  double spent = 0;
  double once = 0;
  const repeated_program program{[&](uint64_t steps) {
                                   const double time = once + static_cast<double>(steps) * 4.3e6;  // 4.3 ms a step
                                   spent += time;
                                   return time;
                                 },
                                 1000};
  const auto counts = choose_counts(program, {3e6});
  EXPECT_EQ(counts.shorter, 2000u);
  EXPECT_EQ(counts.longer, 3000u);
  EXPECT_LE(spent, 5 * 4.3e9);
  // What is long once a run is not long for its steps.
  once = 1e9;
  const auto others =
      choose_counts({[&](uint64_t steps) { return once + static_cast<double>(steps) * 10; }, 64}, {3e6});
  EXPECT_EQ(others.shorter, 128u);
  EXPECT_NEAR(static_cast<double>(others.longer - others.shorter) * 10, 3e6, 64 * 10);
}

TEST(Comparison, KeepsOneProgramsFailureFromTheOthers) {
  const auto results = compare_steps({{[](uint64_t) -> double { throw std::runtime_error("broken"); }, 1},
                                      {[](uint64_t steps) { return static_cast<double>(steps) * 1e4; }, 1}},
                                     quick());
  EXPECT_TRUE(results[0].failure);
  EXPECT_TRUE(results[0].of(step_sample).empty());
  EXPECT_FALSE(results[1].failure);
  EXPECT_NEAR(steps_of(results[1]).median, 1e4, 1e-6);
}

TEST(Comparison, KeepsWhatAProgramHadMeasuredBeforeItFailed) {
  auto count = std::make_shared<int>(0);
  candidate failing = counting(count);
  failing.run = [run = failing.run, count] {
    if (*count == 2) throw std::runtime_error("broken");
    return run();
  };
  const auto results = compare({failing, counting()}, quick());
  EXPECT_TRUE(results[0].failure);
  EXPECT_EQ(results[0].stop, stop_reason::running);
  EXPECT_EQ(results[0].of("time"), (std::vector<double>{1, 2}));
  EXPECT_EQ(results[1].of("time"), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Comparison, SamplesOfOneIndexAreOfOneRoundWhateverTheirName) {
  const auto results = compare({counting(), counting()}, quick());
  EXPECT_EQ(results[0].of("time").size(), results[0].of("negative").size());
  EXPECT_EQ(by_round(results[0].of("time"), results[1].of("negative"), std::plus<>()), std::vector<double>(6, 0));
  EXPECT_TRUE(results[0].of("unheard of").empty());
}

TEST(Comparison, WithoutAWarmUpOfItsOwnATurnThatDoesNotCountIsOne) {
  candidate one = counting();
  one.warm_up = nullptr;
  EXPECT_EQ(compare({one}, quick())[0].of("time").front(), 2);
}

TEST(Comparison, EndsWhenTheUserAsksAndKeepsWhatWasMeasured) {
  comparison_options how = quick();
  how.stop.relative_spread = -1;
  how.stop.absolute_spread_ns = -1;
  how.stop.max_samples = 1000000;
  int runs = 0;
  how.interrupted = [&runs] { return runs > 40; };
  const auto results = compare_steps({{[&runs](uint64_t steps) {
                                         ++runs;
                                         return static_cast<double>(steps) * 1e4;
                                       },
                                       1}},
                                     how);
  EXPECT_EQ(results[0].stop, stop_reason::interrupted);
  EXPECT_GT(steps_of(results[0]).n, 5u);
}

TEST(Comparison, ARunThatEndsForTheUserIsInterruptedAndNoFailure) {
  const auto results = compare({{[]() -> turn_samples { throw run_interrupted(); }, [] {}}}, quick());
  EXPECT_EQ(results[0].stop, stop_reason::interrupted);
  EXPECT_FALSE(results[0].failure);
}

TEST(Comparison, EndsOnItsTimeBudget) {
  comparison_options how = quick();
  how.stop = {3, 1000000000, -1, -1, 2e7};
  const auto results = compare_steps({{[](uint64_t steps) { return static_cast<double>(steps) * 1e4; }, 1}}, how);
  EXPECT_EQ(results[0].stop, stop_reason::time);
}

}  // namespace
}  // namespace gpusync::tool
