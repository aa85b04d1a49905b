#include <gpusync/core/deadline.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using namespace gpusync::literals;

TEST(Timeout, TakesAnyDuration) {
  EXPECT_EQ(timeout(3ns).nanoseconds(), 3u);
  EXPECT_EQ(timeout(50ms).nanoseconds(), 50'000'000u);
  EXPECT_EQ(timeout(2min).nanoseconds(), 120'000'000'000u);
  EXPECT_EQ(timeout(std::chrono::duration<double>(0.25)).nanoseconds(), 250'000'000u);
}

TEST(Timeout, NeitherOverflowsNorCutsToNothing) {
  EXPECT_EQ(timeout(std::chrono::duration<int>(5)).nanoseconds(), 5'000'000'000u);
  EXPECT_EQ((timeout(std::chrono::duration<int64_t, std::pico>(5000)).nanoseconds()), 5u);
  EXPECT_EQ((timeout(std::chrono::duration<int32_t, std::ratio<3600>>(2'000'000)).nanoseconds()),
            7'200'000'000'000'000'000u);
  EXPECT_EQ(timeout(std::chrono::hours::max()).nanoseconds(), UINT64_MAX);
  EXPECT_EQ(timeout(std::chrono::duration<double>(1e300)).nanoseconds(), UINT64_MAX);
}

TEST(Timeout, CountsANegativeSpanAsNone) {
  EXPECT_EQ(timeout(-5ms).nanoseconds(), 0u);
}

TEST(Timeout, HasLiteralsThatNeedNoLibrary) {
  static_assert((7_ns).nanoseconds() == 7);
  static_assert((7_us).nanoseconds() == 7'000);
  static_assert((7_ms).nanoseconds() == 7'000'000);
  static_assert((7_s).nanoseconds() == 7'000'000'000);
}

TEST(Deadline, BeginsWhenItIsFirstAskedAndPassesItsSpanLater) {
  deadline limit(timeout(100));
  EXPECT_FALSE(limit.passed(5000));
  EXPECT_FALSE(limit.passed(5099));
  EXPECT_TRUE(limit.passed(5100));
  EXPECT_TRUE(limit.passed(9999));
}

TEST(Deadline, OfNoSpanPassesAtOnce) {
  deadline limit(timeout(0));
  EXPECT_TRUE(limit.passed(5000));
}

TEST(Deadline, OfTheLongestSpanNeverPasses) {
  deadline limit{timeout(UINT64_MAX)};
  EXPECT_FALSE(limit.passed(5000));
  EXPECT_FALSE(limit.passed(UINT64_MAX));
}

TEST(NoDeadline, NeverPasses) {
  EXPECT_FALSE(no_deadline{}.passed(UINT64_MAX));
}

}  // namespace
}  // namespace gpusync
