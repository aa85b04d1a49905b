// Workload "barrier-parts" on host threads: every variant passes its own check, and what is wrong does not.
#include <gpusync/gpusync.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "boundary/steps_host.hpp"
#include "workloads/barrier_parts/barrier_parts.hpp"

namespace gpusync::tool {
namespace {

TEST(BarrierPartsHost, EveryVariantComputesRightResults) {
  const auto workload = open_workload("barrier-parts", find_device("host"));
  EXPECT_EQ(workload->methods().size(), 12u);
  for (const step_method& method : workload->methods()) {
    for (const bool stores : {false, true}) {
      const auto program = workload->prepare(method, {3, 2, stores});
      EXPECT_GT(program->run(128), 0) << method.name;
      EXPECT_GT(program->run(256), 0) << method.name;
      const verification found = program->verify();
      EXPECT_TRUE(found.performed) << method.name;
      EXPECT_EQ(found.wrong, 0u) << method.name;
      const bool counts = method.name.rfind("atomic-", 0) == 0;
      EXPECT_EQ(found.checked, 2 * 127u * 6 + 12 + (counts ? (128 + 256) * 3 : 0)) << method.name;
    }
  }
}

TEST(BarrierPartsHost, RefusesAVariantThatItDoesNotHave) {
  const auto workload = open_workload("barrier-parts", find_device("host"));
  EXPECT_THROW((void)workload->prepare({"tree-2-none", "", {}}, {1, 1, false}), invalid_argument);
}

/// The result of one variant on one shape, and what it looks at.
struct looked_at {
  looked_at(const step_shape& shape, const std::string& method)
      : memory(std::make_shared<host_arrays>(barrier_parts_arrays(shape))), result(shape, method, memory) {
    result.reset();
  }
  float* values() { return memory->address<float>(0); }
  uint32_t* word() { return memory->address<uint32_t>(2); }

  std::shared_ptr<host_arrays> memory;
  barrier_parts_result result;
};

TEST(BarrierPartsCheck, FailsAnAdditionThatIsLost) {
  for (const uint32_t counted : {3 * 128u - 1, 3 * 128u + 1, 3 * 128u}) {
    looked_at all({3, 1, false}, "atomic-awaited");
    for (uint32_t i = 0; i < 3; ++i) {
      for (uint32_t half = 0; half < 2; ++half)
        all.values()[half * 3 + i] = average_value(i, average_period - 2 + half);
    }
    *all.word() = counted;
    EXPECT_EQ(all.result.check(128).wrong, counted == 3 * 128 ? 0u : 1u);
    EXPECT_EQ(all.result.check_last().wrong, 0u);
  }
}

TEST(BarrierPartsCheck, FollowsACountThatWraps) {
  looked_at all({65535, 1, false}, "atomic-awaited");
  *all.word() = static_cast<uint32_t>(uint64_t{65535} << 17);
  EXPECT_EQ(all.result.check(uint64_t{1} << 17).wrong, 0u);
  *all.word() -= 5;
  EXPECT_EQ(all.result.check(uint64_t{1} << 17).wrong, 5u);
  // And a buffer that nobody wrote, of which one half looks right.
  EXPECT_EQ(all.result.check_last().wrong, 65535u);
}

/// Runs the workload's text with another boundary than the shipped ones, which gets the buffer and the step's number;
/// returns how many words were wrong.
template <class Boundary>
uint64_t wrong_with(const step_shape& shape, uint32_t steps, const Boundary& boundary) {
  looked_at all(shape, "lock-based-acquire-release");
  launch(host_device{}, {shape.blocks, shape.threads}, [&] {
    computation::kept kept;
    all_steps(barrier_parts_in<barrier_part::whole>(*all.memory, shape), host_grid::current(), steps, kept,
              [&](uint32_t step) {
                boundary(all.values(), step);
                return true;
              });
  });
  return all.result.check(steps).wrong + all.result.check_last().wrong;
}

TEST(BarrierPartsCheck, FailsABarrierThatDoesNotWait) {
  for (const uint32_t held_up : {10u, 100u, 200u}) {  // in the checked steps, between them, and in the last ones
    const uint64_t wrong = wrong_with({2, 1, true}, 256, [held_up](const auto&, uint32_t step) {
      const bool late = host_grid::current().block() == 1;
      if (step == held_up && late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    EXPECT_GT(wrong, 0u) << held_up;
  }
}

TEST(BarrierPartsSteps, WriteTheMeanEveryTimeIfTheyHaveWork) {
  uint32_t seen = 0, fresh = 0, steps = 0;
  for (const bool stores : {true, false}) {
    seen = fresh = steps = 0;
    (void)wrong_with({1, 1, stores}, 320, [&](const float* values, uint32_t step) {
      ++steps;
      const bool between = step >= average_checked && step < 320 - average_checked;
      const bool written = values[step % 2] == average_value(0, step % average_period);
      EXPECT_TRUE(between || written) << step;
      seen += between ? 1 : 0;
      fresh += between && written ? 1 : 0;
    });
    EXPECT_EQ(steps, 320u);
    EXPECT_EQ(seen, 320 - 2 * average_checked);
    // Without work the buffer keeps the last two checked steps, which the cycle of inputs comes back to.
    EXPECT_EQ(fresh, stores ? seen : seen / average_period * 2);
  }
}

TEST(BarrierPartsCheck, FailsAPollThatFindsAnotherValue) {
  looked_at all({1, 1, false}, "relaxed-load");
  *all.word() = 1;
  launch(host_device{}, {1, 1}, [&] {
    computation::kept kept;
    all_steps(barrier_parts_in<barrier_part::relaxed_load>(*all.memory, {1, 1, false}), host_grid::current(), 128, kept,
              [](uint32_t) { return true; });
  });
  EXPECT_EQ(all.memory->word(1), 128u);
  EXPECT_EQ(all.result.check(128).wrong, 128u + 1) << "every poll, and a word that nobody was to change";
}

}  // namespace
}  // namespace gpusync::tool
