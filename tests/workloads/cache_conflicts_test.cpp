// Lo et al. (2014), figures 4 and 5, in a simulated cache: how a barrier reduces contention, and hits fall with its
// interval.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/small_cache.hpp"

namespace gpusync::tool {
namespace {

// Figure 4: 2 blocks of 4 warps, a cache of 6 lines. Of the drawing the text keeps that requests 14 and 20 contend for
// line 2, and that lines 2, 3 and 5 are those that the barrier relieves.
TEST(CacheConflicts, WithoutABarrierWarpsOfOneBlockContendAsInFigure4) {
  const std::vector<uint32_t> requests = memory_test_requests({1, 2, 1, 1, 2, 2, 1, 1});
  EXPECT_NE(std::ranges::find(requests, 14u), requests.end());
  EXPECT_NE(std::ranges::find(requests, 20u), requests.end());
  const request_period period(requests, 6);
  EXPECT_EQ(period.contended(), (std::set<uint32_t>{2, 3, 5}));
  EXPECT_EQ(period.conflicts(), 4u);
}

TEST(CacheConflicts, WithABarrierNoBlockContendsWithItself) {
  const std::vector<uint32_t> requests = memory_test_requests({1, 1, 1, 1, 1, 1, 1, 1});
  for (const auto first : {requests.begin(), requests.begin() + 4}) {
    EXPECT_EQ(request_period({first, first + 4}, 6).conflicts(), 0u);
  }
  // Eight segments for six lines: two conflicts are the fewest that there can be.
  EXPECT_EQ(request_period(requests, 6).conflicts(), 2u);
}

TEST(CacheConflicts, FewestWhereBothBlocksKeepInStepWhateverTheirRounds) {
  for (uint32_t first = 0; first < 6; ++first) {
    for (uint32_t second = 0; second < 6; ++second) {
      const std::vector<uint32_t> in_step =
          memory_test_requests({first, first, first, first, second, second, second, second});
      for (const auto begin : {in_step.begin(), in_step.begin() + 4}) {
        EXPECT_EQ(request_period({begin, begin + 4}, 6).conflicts(), 0u);
      }
    }
  }
}

TEST(CacheConflicts, HitsFallAsTheIntervalGrows) {
  double before = 1;
  for (const uint32_t interval : {1u, 4u, 16u, 64u, 0u}) {
    double hits = 0;
    for (uint32_t seed = 0; seed < 8; ++seed) hits += shared_hits(16, 2048, interval, 16, seed) / 8;
    EXPECT_LT(hits, before) << "interval " << interval;
    before = hits;
  }
  EXPECT_LT(before, 0.25);
  EXPECT_DOUBLE_EQ(shared_hits(16, 2048, 1, 16, 1), 0.5) << "each segment is fetched once and found once";
}

}  // namespace
}  // namespace gpusync::tool
