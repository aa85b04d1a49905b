// How programs take turns, on programs that only pretend to take time.
#include "measure/interleaved.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace gpusync::tool {
namespace {

interleaved_options quick() {
  interleaved_options how;
  how.stop = {3, 6, 0.01, 0, 1e12};
  how.target_run_ns = 1e5;
  return how;
}

TEST(Interleaved, TakesTurnsInsteadOfMeasuringOneAfterTheOther) {
  std::string order;
  const auto program = [&order](char name, double wobble) {
    auto count = std::make_shared<int>(0);
    return candidate{[&order, name, wobble, count](uint64_t steps) {
                       order += name;
                       return static_cast<double>(steps) * (10 + wobble * (++*count % 4));
                     },
                     8};
  };
  const auto results = measure_interleaved({program('a', 5), program('b', 5)}, quick());
  EXPECT_NE(order.find("aabbbbaa"), std::string::npos) << "the order rotates from round to round: " << order;
  EXPECT_EQ(results[0].stop, stop_reason::samples);
  EXPECT_EQ(results[0].samples.summary().n, 6u);
}

TEST(Interleaved, FindsTheTimePerStepAndStopsOnSpread) {
  const auto results =
      measure_interleaved({{[](uint64_t steps) { return 1e6 + static_cast<double>(steps) * 123.0; }, 64}}, quick());
  EXPECT_NEAR(results[0].samples.summary().median, 123.0, 1e-6);
  EXPECT_EQ(results[0].stop, stop_reason::spread);
  EXPECT_EQ(results[0].samples.summary().n, 3u);
}

TEST(Interleaved, ChoosesRunsLongEnoughForTheDifferenceButNoLongerThanAllowed) {
  interleaved_options how = quick();
  const auto counts = choose_counts({[](uint64_t steps) { return 5e5 + static_cast<double>(steps) * 10; }, 64}, how);
  EXPECT_EQ(counts.shorter, 128u);
  EXPECT_NEAR(static_cast<double>(counts.longer - counts.shorter) * 10, how.target_run_ns, 64 * 10);
  how.max_steps = 256;
  const auto capped = choose_counts({[](uint64_t) { return 1e3; }, 64}, how);
  EXPECT_EQ(capped.longer, 128u + 256u);
}

TEST(Interleaved, KeepsOneProgramsFailureFromTheOthers) {
  const auto results = measure_interleaved({{[](uint64_t) -> double { throw std::runtime_error("broken"); }, 1},
                                            {[](uint64_t steps) { return static_cast<double>(steps) * 1e4; }, 1}},
                                           quick());
  EXPECT_TRUE(results[0].failure);
  EXPECT_FALSE(results[1].failure);
  EXPECT_NEAR(results[1].samples.summary().median, 1e4, 1e-6);
}

TEST(Interleaved, EndsWhenTheUserAsksAndKeepsWhatWasMeasured) {
  interleaved_options how = quick();
  how.stop.relative_spread = -1;
  how.stop.absolute_spread_ns = -1;
  how.stop.max_samples = 1000000;
  int runs = 0;
  how.interrupted = [&runs] { return runs > 40; };
  const auto results = measure_interleaved({{[&runs](uint64_t steps) {
                                               ++runs;
                                               return static_cast<double>(steps) * 1e4;
                                             },
                                             1}},
                                           how);
  EXPECT_EQ(results[0].stop, stop_reason::interrupted);
  EXPECT_GT(results[0].samples.summary().n, 5u);
}

TEST(Interleaved, EndsOnItsTimeBudget) {
  interleaved_options how = quick();
  how.stop = {3, 1000000000, -1, -1, 2e7};
  const auto results = measure_interleaved({{[](uint64_t steps) { return static_cast<double>(steps) * 1e4; }, 1}}, how);
  EXPECT_EQ(results[0].stop, stop_reason::time);
}

}  // namespace
}  // namespace gpusync::tool
