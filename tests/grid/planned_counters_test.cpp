// Placed counters under any plan, on host threads.
#include <rapidcheck.h>

#include <sstream>

#include "support/host_barrier_fixture.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::expect_clean;

/// Placed counters are used by plans and places, which must not matter to anything but speed.
template <class Algorithm>
class PlannedHostBarrier : public test::HostBarrierTest<Algorithm> {
 public:
  static void set(typename test::HostBarrierTest<Algorithm>::storage& memory, const grid::counter_plan& plan) {
    memory.places().plan = grid::packed_plan::of(plan);
  }
};
using planned_types =
    ::testing::Types<grid::placed_counters<ordering::none>, grid::placed_counters<ordering::acquire_release>>;
TYPED_TEST_SUITE(PlannedHostBarrier, planned_types, test::algorithm_names);

TYPED_TEST(PlannedHostBarrier, IsCorrectWithAnyPlan) {
  constexpr uint32_t never = TestFixture::never_leaves;
  for (const uint16_t sub_counters : {uint16_t{1}, uint16_t{2}, uint16_t{4}}) {
    for (const uint16_t copies : {uint16_t{1}, uint16_t{2}}) {
      for (const uint16_t partitions : {uint16_t{1}, uint16_t{2}}) {
        for (const uint16_t second_warp : {uint16_t{0}, uint16_t{1}}) {
          typename TestFixture::storage memory(6);
          TestFixture::set(memory, {sub_counters, copies, partitions, second_warp, 0});
          SCOPED_TRACE(std::to_string(sub_counters) + " x " + std::to_string(copies) + " x " +
                       std::to_string(partitions) + (second_warp != 0 ? ", second warp" : ""));
          for (const uint32_t blocks : {6u, 3u, 5u}) {
            EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 5}, 8), 0u) << blocks;
            EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 1}, 8), 0u) << blocks;
          }
          expect_clean(TestFixture::with_drops(memory, {3, 3, never, 4, never, 5}, 5, 8));
          expect_clean(TestFixture::with_drops(memory, {never, 1, 2, never, 2, never}, 4, 8));
        }
      }
    }
  }
}

TYPED_TEST(PlannedHostBarrier, IsCorrectWithWrongSidesAndMixedLines) {
  for (const bool mixed : {false, true}) {
    typename TestFixture::storage memory(6);
    TestFixture::set(memory, {1, 2, 2, 0, 0});
    grid::counter_places& places = memory.places();
    for (uint32_t& partitions : places.partitions.bits)
      partitions = 0x3;  // of six blocks, two are on the other partition than by parity
    // Lines of both partitions mixed, and in another order.
    for (uint32_t i = 0; mixed && i < grid::counter_places::most_lines; ++i) {
      const uint32_t last = 2 * grid::counter_places::most_lines - 1;
      places.put_line(0, i, last - 2 * i);
      places.put_line(1, i, 2 * i);
    }
    EXPECT_EQ(TestFixture::early_releases(memory, {6, 4}, 20), 0u) << mixed;
    EXPECT_EQ(TestFixture::early_releases(memory, {2, 5}, 20), 0u) << mixed;
  }
}

/// Of four counters, fewer blocks make two or one, from launch to launch and while blocks leave.
TYPED_TEST(PlannedHostBarrier, ChangesItsPlanWithTheNumberOfBlocks) {
  typename TestFixture::storage memory(6);
  TestFixture::set(memory, {4, 1, 1, 0, 0});
  for (const uint32_t blocks : {6u, 3u, 5u, 1u, 2u, 6u}) {
    EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 4}, 20), 0u) << blocks;
  }
  expect_clean(TestFixture::with_drops(memory, {2, 3, 4, 5, ~0u, ~0u}, 4, 10));
  expect_clean(TestFixture::with_drops(memory, {1, 2, 3, 4, 5, ~0u}, 4, 10));
  EXPECT_EQ(TestFixture::early_releases(memory, {6, 4}, 20), 0u);
}

/// As when a storage's launches take turns: what one plan leaves behind, another finds.
TYPED_TEST(PlannedHostBarrier, TakesAnotherPlanFromLaunchToLaunch) {
  typename TestFixture::storage memory(6);
  for (int round = 0; round < 3; ++round) {
    for (const grid::counter_plan& plan : {grid::counter_plan{1, 1, 2, 0, 0}, {2, 1, 1, 0, 0}, {1, 1, 1, 0, 0}}) {
      TestFixture::set(memory, plan);
      EXPECT_EQ(TestFixture::early_releases(memory, {6, 2}, 7), 0u) << round << ": " << plan.sub_counters;
    }
  }
}

/// What a launch finds out on the host: a plan that fits, of which each block's first add comes back with the phase.
TYPED_TEST(PlannedHostBarrier, IsCorrectWithPlansThatFit) {
  typename TestFixture::storage memory(6);
  for (const uint32_t blocks : {6u, 1u, 2u, 5u}) {
    for (const uint32_t threads : {1u, 2u, 5u}) {
      memory.places().plan = grid::fit(grid::packed_plan::of({1, 1, 2, 1, 0}), blocks, threads, 1);
      ASSERT_TRUE(memory.places().plan.has_one_counter());
      EXPECT_EQ(TestFixture::early_releases(memory, {blocks, threads}, 9), 0u) << blocks << " x " << threads;
    }
  }
}

}  // namespace
}  // namespace gpusync
