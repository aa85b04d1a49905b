// Workload "barrier-parts" on host threads: every variant passes its own check, and what is wrong does not.
#include <gpusync/gpusync.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "workloads/barrier_parts/barrier_parts_methods.hpp"

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

TEST(BarrierPartsCheck, FailsAnAdditionThatIsLost) {
  for (const uint32_t counted : {3 * 128u - 1, 3 * 128u + 1, 3 * 128u}) {
    barrier_parts_result result({3, 1, false}, false, true);
    std::vector<float> values = result.first_values();
    for (uint32_t i = 0; i < 3; ++i) {
      for (uint32_t half = 0; half < 2; ++half) values[half * 3 + i] = average_value(i, average_period - 2 + half);
    }
    result.add_run(128, 0, counted);
    EXPECT_EQ(result.verify(values).wrong, counted == 3 * 128 ? 0u : 1u);
  }
}

TEST(BarrierPartsCheck, FollowsACountThatWraps) {
  barrier_parts_result result({65535, 1, false}, false, true);
  result.add_run(uint64_t{1} << 17, 0, static_cast<uint32_t>(uint64_t{65535} << 17));
  result.add_run(uint64_t{1} << 17, 0, static_cast<uint32_t>(uint64_t{65535} << 17) - 5);
  // And a buffer that nobody wrote, of which one half looks right.
  EXPECT_EQ(result.verify(result.first_values()).wrong, 5u + 65535);
}

/// Stands for a thread's barrier: calls `boundary` instead, with the buffer and the step's number.
template <class Boundary>
struct stand_in {
  void enter() {}
  void sync() { boundary(values, step++); }

  const Boundary& boundary;
  const std::vector<float>& values;
  uint32_t step = 0;
};

/// Runs the workload's text with another boundary than the shipped ones; returns its verification.
template <class Boundary>
verification run_with(const step_shape& shape, uint32_t steps, const Boundary& boundary) {
  barrier_parts_result result(shape, true, false);
  std::vector<float> values = result.first_values();
  uint32_t wrong = 0, word = 0;
  launch(host_device{}, {shape.blocks, shape.threads}, [&] {
    stand_in<Boundary> barrier{boundary, values};
    barrier_parts_run(host_grid::current(), {{values.data(), &wrong}, &word, 0}, shape.stores, steps, barrier);
  });
  result.add_run(steps, wrong, word);
  return result.verify(values);
}

TEST(BarrierPartsCheck, FailsABarrierThatDoesNotWait) {
  for (const uint32_t held_up : {10u, 100u, 200u}) {  // in the checked steps, between them, and in the last ones
    const verification found = run_with({2, 1, true}, 256, [held_up](const auto&, uint32_t step) {
      const bool late = host_grid::current().block() == 1;
      if (step == held_up && late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    EXPECT_GT(found.wrong, 0u) << held_up;
  }
}

TEST(BarrierPartsSteps, WriteTheMeanEveryTimeIfTheyHaveWork) {
  uint32_t seen = 0, fresh = 0, steps = 0;
  for (const bool stores : {true, false}) {
    seen = fresh = steps = 0;
    run_with({1, 1, stores}, 320, [&](const std::vector<float>& values, uint32_t step) {
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
  uint32_t wrong = 0, word = 1;
  std::vector<float> values = barrier_parts_result({1, 1, false}, false, false).first_values();
  launch(host_device{}, {1, 1}, [&] {
    barrier_parts_run<barrier_part::relaxed_load>(host_grid::current(), {{values.data(), &wrong}, &word, 0}, false,
                                                  128);
  });
  EXPECT_EQ(wrong, 128u);
  barrier_parts_result result({1, 1, false}, false, false);
  result.add_run(128, 0, 1);
  values[0] = average_value(0, 62);
  values[1] = average_value(0, 63);
  EXPECT_EQ(result.verify(values).wrong, 1u) << "a word that nobody was to change";
}

}  // namespace
}  // namespace gpusync::tool
