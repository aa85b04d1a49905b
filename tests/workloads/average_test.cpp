// Workload "average" on host threads: right methods pass its check, and barriers that let blocks through early, or not
// in order, fail it.
#include "workloads/average/average.hpp"

#include <gpusync/gpusync.hpp>

#include <gtest/gtest.h>

#include "boundary/steps_host.hpp"

namespace gpusync::tool {
namespace {

TEST(AverageHost, EveryMethodComputesRightResults) {
  const auto workload = open_workload("average", find_device("host"));
  for (const step_method& method : workload->methods()) {
    for (const bool stores : {false, true}) {
      const auto program = workload->prepare(method, {3, 2, stores});
      EXPECT_GT(program->run(128), 0) << method.name;
      EXPECT_GT(program->run(192), 0) << method.name;
      const verification found = program->verify();
      EXPECT_TRUE(found.performed) << method.name;
      EXPECT_EQ(found.wrong, 0u) << method.name;
      EXPECT_EQ(found.checked, (stores ? 128u + 192u : 2 * 127u) * 6 + 12) << method.name;
    }
  }
}

TEST(AverageHost, RefusesAMethodThatItDoesNotHave) {
  const auto workload = open_workload("average", find_device("host"));
  EXPECT_THROW((void)workload->prepare({"graph", "", {}}, {1, 1, false}), invalid_argument);
  EXPECT_THROW((void)open_workload("nonsense", find_device("host")), error);
}

/// Runs the workload's text with another boundary than the shipped ones; returns its verification.
template <class Boundary>
check_result run_with(const step_shape& shape, const Boundary& boundary) {
  const auto memory = std::make_shared<host_arrays>(average_arrays(shape));
  average_result result(shape, true, memory);
  const average_text text{{}, {memory->address<float>(0), memory->address<uint32_t>(1)}, shape.stores, true};
  result.reset();
  launch(host_device{}, {shape.blocks, shape.threads}, [&] {
    const host_grid grid = host_grid::current();
    average_text::kept kept = text.load(grid, 0);
    all_steps(text, grid, 256, kept, [&](uint32_t step) {
      boundary(step);
      return true;
    });
    text.save(grid, kept);
  });
  check_result found = result.check(256);
  found.wrong += result.check_last().wrong;
  return found;
}

TEST(AverageCheck, FailsABarrierThatDoesNotWait) {
  for (const bool stores : {false, true}) {
    // Block 1 is held up once; without a barrier block 0 runs ahead and reads what block 1 has not written yet.
    const check_result found = run_with({2, 1, stores}, [](uint32_t step) {
      if (step == 10 && host_grid::current().block() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    EXPECT_GT(found.wrong, 0u);
  }
}

TEST(AverageCheck, FailsABarrierThatReturnsEarlyOnce) {
  uint32_t arrived = 0;
  const check_result found = run_with({2, 1, true}, [&arrived](uint32_t step) {
    __atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
    const bool late = host_grid::current().block() == 1;
    const uint32_t goal = step == 100 && !late ? 0 : 2 * (step + 1);  // block 0 does not wait for block 1 this once
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < goal) std::this_thread::yield();
    if (step == 99 && late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  EXPECT_GT(found.wrong, 0u);
}

/// One after the other, the blocks take steps in an order that a barrier which joins each block with the next one only
/// would allow: block b may be ahead of block b + d by d steps.
TEST(AverageCheck, FailsABarrierThatJoinsNeighboursOnly) {
  constexpr uint32_t blocks = 8;
  const step_shape shape{blocks, 1, true};
  host_arrays memory(average_arrays(shape));
  float* const values = memory.address<float>(0);
  uint32_t at[blocks] = {};
  uint32_t wrong = 0;
  const auto take_step = [&](uint32_t block) {
    const auto place = average_place_at(blocks, block, 1, 0, true);
    wrong += average_step(values, &place, at[block]++, true);
  };
  for (; at[blocks - 1] < average_period; take_step(blocks - 1)) {
    for (bool moved = true; moved;) {  // all others go as far ahead as their next ones let them
      moved = false;
      for (uint32_t block = 0; block + 1 < blocks; ++block) {
        if (at[block] > at[block + 1] || at[block] == average_period) continue;
        take_step(block);
        moved = true;
      }
    }
  }
  EXPECT_GT(wrong, 0u);
}

TEST(AverageCheck, ReadsWordsOfOtherBlocksOnly) {
  for (uint32_t blocks = 2; blocks < 40; ++blocks) {
    for (uint32_t step = 0; step < average_period; ++step) {
      const auto place = average_place_at(blocks, blocks - 1, 3, 1, true);
      EXPECT_LT(average_checked_element(&place, step), 3 * (blocks - 1)) << blocks << " blocks, step " << step;
      EXPECT_EQ(average_checked_element(&place, step) % 3, 1u);
    }
  }
}

TEST(AverageCheck, FailsAProgramThatComputesNothing) {
  const step_shape shape{2, 2, false};
  average_result result(shape, true, std::make_shared<host_arrays>(average_arrays(shape)));
  result.reset();
  EXPECT_EQ(result.check(128).checked, 127u * 4);
  EXPECT_GT(result.check_last().wrong, 0u) << "a run that left the buffer as it was";
}

TEST(AverageCheck, KnowsNothingBeforeTheFirstRun) {
  const auto workload = open_workload("average", find_device("host"));
  EXPECT_FALSE(workload->prepare(workload->methods().front(), {2, 2, false})->verify().performed);
}

TEST(AverageHost, RefusesRunsOfAnotherLength) {
  const auto workload = open_workload("average", find_device("host"));
  const auto program = workload->prepare(workload->methods().front(), {2, 1, false});
  for (const uint64_t steps : {0u, 64u, 100u, 129u}) EXPECT_THROW((void)program->run(steps), invalid_argument) << steps;
  EXPECT_THROW((void)workload->prepare(workload->methods().front(), {0, 1, false}), invalid_argument);
  EXPECT_THROW((void)workload->prepare(workload->methods().front(), {1u << 16, 1u << 16, false}), error);
}

TEST(AverageInputs, RepeatOnlyWithTheirPeriodAndDifferBetweenStepsAndElements) {
  for (uint32_t step = 0; step < average_period; ++step) {
    // What is read one or two steps too early must not look right by chance.
    int same = 0;
    for (uint32_t i = 0; i < 1000; ++i) {
      same += average_value(i, step) == average_value(i, (step + 2) % average_period) ? 1 : 0;
      same += average_value(i, step) == average_value(i + 1, step) ? 1 : 0;
    }
    EXPECT_EQ(same, 0) << step;
  }
}

}  // namespace
}  // namespace gpusync::tool
