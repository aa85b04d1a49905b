// What warps' stamps say of a launch.
#include "measure/chain_times.hpp"

#include <gtest/gtest.h>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {
namespace {

TEST(ChainTimes, LatencyIsThatOfTheSlowestWarpByItsOwnReadings) {
  const std::vector<warp_stamp> stamps{{100, 180, 1, 0}, {150, 260, 1, 0}, {0, 900, 1, 1}};
  EXPECT_DOUBLE_EQ(slowest_cycles(stamps, 2), 110);
  EXPECT_DOUBLE_EQ(slowest_cycles(stamps, 3), 900);
}

TEST(ChainTimes, AMultiprocessorIsBusyFromItsFirstBeginToItsLastEnd) {
  const std::vector<warp_stamp> stamps{{100, 200, 1, 0},     {140, 290, 1, 0},      // 190
                                       {5'000, 5'100, 1, 7}, {5'010, 5'210, 1, 7},  // 210
                                       {10, 20, 1, 3},       {10, 260, 1, 3}};      // 250
  EXPECT_DOUBLE_EQ(busy_cycles(stamps, 2), 210);
}

TEST(ChainTimes, MultiprocessorsWithOtherNumbersOfWarpsDoNotCount) {
  const std::vector<warp_stamp> stamps{
      {0, 100, 1, 0}, {0, 100, 1, 0}, {0, 300, 1, 1}, {0, 300, 1, 1}, {0, 9'000, 1, 2}};
  EXPECT_DOUBLE_EQ(busy_cycles(stamps, 2), 200);
  EXPECT_THROW(busy_cycles(stamps, 1), invalid_argument);
  EXPECT_THROW(busy_cycles(stamps, 5), invalid_argument);
}

TEST(ChainTimes, TheStartSpreadIsThatOfAllBlocksAndNeedsAllOfThem) {
  EXPECT_DOUBLE_EQ(start_spread_ns({{0, 1, 1'000, 0}, {0, 1, 1'064, 1}, {0, 1, 1'032, 2}}), 64);
  EXPECT_DOUBLE_EQ(start_spread_ns({}), 0);
  EXPECT_THROW(start_spread_ns({{0, 1, 1'000, 0}, {0, 1, 0, 1}}), error);
}

}  // namespace
}  // namespace gpusync::tool
