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

TEST(Timeout, CountsANegativeSpanAsNone) { EXPECT_EQ(timeout(-5ms).nanoseconds(), 0u); }

TEST(Timeout, HasLiteralsThatNeedNoLibrary) {
  static_assert((7_ns).nanoseconds() == 7);
  static_assert((7_us).nanoseconds() == 7'000);
  static_assert((7_ms).nanoseconds() == 7'000'000);
  static_assert((7_s).nanoseconds() == 7'000'000'000);
}

TEST(Deadline, PassesAtItsTimeAndNotBefore) {
  EXPECT_FALSE(deadline{100}.passed(99));
  EXPECT_TRUE(deadline{100}.passed(100));
  EXPECT_FALSE(no_deadline{}.passed(UINT64_MAX));
}

}  // namespace
}  // namespace gpusync
