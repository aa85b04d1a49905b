#include <gpusync/core/phase.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace gpusync {
namespace {

RC_GTEST_PROP(Reached, HoldsFromTheGoalOnAndNotBeforeAcrossTheWrap, (uint32_t goal))
{
  const uint32_t distance = *rc::gen::inRange<uint32_t>(0, 1u << 31);
  RC_ASSERT(phase_reached(goal + distance, goal));
  RC_ASSERT(distance == 0 || !phase_reached(goal - distance, goal));
}

RC_GTEST_PROP(PhaseWord, IsDueOnceAllHaveArrivedInAnyOrderFromAnyPhase, (uint32_t first_phase))
{
  const uint32_t blocks = *rc::gen::inRange<uint32_t>(1, 200);
  std::vector<uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  order = *rc::gen::exec([order] {
    auto shuffled = order;
    for (size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
    return shuffled;
  });
  const uint32_t start = phase_word::start_of(first_phase);
  const uint32_t goal = phase_word::goal(start);
  uint32_t word = start;
  for (uint32_t arrived = 0; arrived < blocks; ++arrived) {
    RC_ASSERT(!phase_reached(word, goal));
    // A block that has just arrived computes its goal from what the word held before.
    RC_ASSERT(phase_word::goal(word) == goal);
    word += order[arrived] == 0 ? phase_word::completing(blocks) : 1u;
  }
  RC_ASSERT(word == goal);
  RC_ASSERT(phase_reached(word, goal));
}

TEST(PhaseWord, OneBlockCompletesAPhaseAlone) {
  EXPECT_EQ(phase_word::completing(1), phase_word::one_phase);
}

TEST(PhaseWord, TheLargestGridStaysWithinItsPhaseUntilTheLastArrival) {
  // Block 0 adds nearly a whole phase at once: even so the word must not look complete before the last arrival.
  const uint32_t blocks = phase_word::max_blocks;
  const uint32_t word = phase_word::completing(blocks) + (blocks - 2);
  EXPECT_FALSE(phase_reached(word, phase_word::goal(0)));
  EXPECT_TRUE(phase_reached(word + 1, phase_word::goal(0)));
}

TEST(PhaseWord, TheLastPhaseBeforeTheWrapIsFollowedByPhaseZero) {
  EXPECT_EQ(phase_word::goal(phase_word::start_of(0xffff)), 0u);
  EXPECT_TRUE(phase_reached(0u, phase_word::goal(phase_word::start_of(0xffff))));
  EXPECT_FALSE(phase_reached(phase_word::start_of(0xffff) + 5, phase_word::goal(phase_word::start_of(0xffff))));
}

}  // namespace
}  // namespace gpusync
