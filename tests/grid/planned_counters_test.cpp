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
  static grid::counter_table& table(typename test::HostBarrierTest<Algorithm>::storage& memory) {
    return *reinterpret_cast<grid::counter_table*>(memory.state());
  }
};
using planned_types =
    ::testing::Types<grid::placed_counters<ordering::none>, grid::placed_counters<ordering::acquire_release>>;
TYPED_TEST_SUITE(PlannedHostBarrier, planned_types, test::algorithm_names);

TYPED_TEST(PlannedHostBarrier, IsCorrectWithAnyPlan) {
  constexpr uint32_t never = TestFixture::never_leaves;
  for (const uint16_t sub_counters : {uint16_t{1}, uint16_t{2}, uint16_t{4}}) {
    for (const uint16_t copies : {uint16_t{1}, uint16_t{2}}) {
      for (const uint16_t sides : {uint16_t{1}, uint16_t{2}}) {
        for (const uint16_t second_warp : {uint16_t{0}, uint16_t{1}}) {
          typename TestFixture::storage memory(6);
          grid::counter_plan& plan = TestFixture::table(memory).rules.rules[0].plan;
          plan.sub_counters = sub_counters;
          plan.copies = copies;
          plan.sides = sides;
          plan.second_warp = second_warp;
          SCOPED_TRACE(std::to_string(sub_counters) + " x " + std::to_string(copies) + " x " + std::to_string(sides) +
                       (second_warp != 0 ? ", second warp" : ""));
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
    grid::counter_table& table = TestFixture::table(memory);
    table.rules.rules[0].plan.copies = 2;
    table.rules.rules[0].plan.sides = 2;
    for (uint32_t& sides : table.sides) sides = 0x7;  // of six blocks, three are on the other side than by parity
    // Lines of both sides mixed, and in another order.
    for (uint32_t i = 0; mixed && i < grid::counter_table::most_lines; ++i) {
      const uint32_t last = 2 * grid::counter_table::most_lines - 1;
      table.put_line(0, i, last - 2 * i);
      table.put_line(1, i, 2 * i);
    }
    EXPECT_EQ(TestFixture::early_releases(memory, {6, 4}, 20), 0u) << mixed;
    EXPECT_EQ(TestFixture::early_releases(memory, {2, 5}, 20), 0u) << mixed;
  }
}

TYPED_TEST(PlannedHostBarrier, ChangesItsPlanWithTheNumberOfBlocks) {
  typename TestFixture::storage memory(6);
  grid::counter_table& table = TestFixture::table(memory);
  const grid::counter_plan small = table.rules.rules[0].plan;
  grid::counter_plan large = small;
  large.sub_counters = 2;
  large.sides = 1;
  table.rules.count = 2;
  table.rules.rules[0] = {3 * grid::counter_rule::unit, grid::counter_rules::any,
                          small};  // a device of one processor: up to 3 blocks
  table.rules.rules[1] = {grid::counter_rules::any, grid::counter_rules::any, large};
  for (const uint32_t blocks : {6u, 3u, 5u, 2u, 6u}) {
    EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 3}, 20), 0u) << blocks;
  }
  expect_clean(TestFixture::with_drops(memory, {2, 3, 4, 5, ~0u, ~0u}, 3, 10));
  EXPECT_EQ(TestFixture::early_releases(memory, {6, 3}, 20), 0u);
}

}  // namespace
}  // namespace gpusync
