// What the host says of launches of which part has called a barrier, and of lanes that came to one.
#include "workloads/partial_sync/partial_sync.hpp"

#include <gtest/gtest.h>

#include <set>

#include "workloads/launch_overhead/launch_overhead.hpp"
#include "workloads/warp_timers/warp_timers.hpp"

namespace gpusync::tool {
namespace {

partial_outcome outcome_of(uint32_t called, uint32_t passed, uint32_t late, uint32_t timed_out, bool ended = true) {
  partial_outcome outcome;
  outcome.ended = ended;
  outcome.members = 8;
  outcome.called = called;
  outcome.passed = passed;
  outcome.late = late;
  outcome.timed_out = timed_out;
  return outcome;
}

TEST(PartialSync, WhoeverDoesNotPassWhileTheRestStaysIsInADeadlock) {
  EXPECT_EQ(finding_of(outcome_of(4, 4, 0, 0), true), partial_finding::ok);
  EXPECT_EQ(finding_of(outcome_of(4, 4, 0, 0), false), partial_finding::undefined);
  EXPECT_EQ(finding_of(outcome_of(4, 0, 4, 0), true), partial_finding::deadlock) << "it waits for who waits for it";
  EXPECT_EQ(finding_of(outcome_of(4, 3, 1, 0), false), partial_finding::deadlock);
  EXPECT_EQ(finding_of(outcome_of(4, 0, 0, 0, false), false), partial_finding::deadlock);
  EXPECT_EQ(finding_of(outcome_of(4, 0, 0, 4), true), partial_finding::ok) << "it is told";
}

TEST(PartialSync, SubsetsAreNeitherEmptyNorWhole) {
  for (const uint32_t all : {4u, 8u, 32u, 132u}) {
    for (const char* subset : {"half", "one", "odd"}) {
      const calling_members found = members_of(subset, all);
      EXPECT_GE(found.count, 1u);
      EXPECT_LT(found.count, all);
      EXPECT_LT(found.first + (found.count - 1) * found.stride, all);
    }
  }
  EXPECT_THROW((void)members_of("most", 8), invalid_argument);
}

TEST(PartialSync, BarriersHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const partial_barrier& each : partial_barriers) names.insert(each.name);
  EXPECT_EQ(names.size(), std::size(partial_barriers));
}

TEST(WarpTimers, ABarrierHoldsIfNobodyLeavesItBeforeTheLastHasCome) {
  warp_passage held;
  for (uint32_t lane = 0; lane < timed_lanes; ++lane) {
    held.start[lane] = 10.0 * lane;
    held.end[lane] = 400 + lane;
  }
  EXPECT_EQ(margin_of(held), 90);
  EXPECT_EQ(spread_of_starts(held), 310);
  held.end[7] = 309;
  EXPECT_EQ(margin_of(held), -1);
}

TEST(LaunchOverhead, WaysToLaunchHaveNamesOfTheirOwnAndOneIsInClusters) {
  std::set<std::string> names;
  for (const step_method& each : launch_methods()) {
    names.insert(each.name);
    EXPECT_EQ(each.cluster, each.name == launch_names::cluster ? 2u : 1u);
    EXPECT_TRUE(each.kind == method_kind::launch || each.kind == method_kind::graph);
  }
  EXPECT_EQ(names.size(), launch_methods().size());
}

}  // namespace
}  // namespace gpusync::tool
