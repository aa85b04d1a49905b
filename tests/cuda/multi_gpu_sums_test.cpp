// Sums over GPUs on real ones, in every way and every passing, on one GPU and on all that reach each other: right where
// they must be, sum after sum, and in graphs that are replayed.
#include <gtest/gtest.h>

#include "cuda/described_device.hpp"
#include "workloads/multi_gpu_reduction/multi_gpu_reduction.hpp"

namespace gpusync::tool {
namespace {

constexpr const char* passings[] = {method_names::relaunch, method_names::host_wait, method_names::graph};

class MultiGpuSumsCuda : public test::DescribedDevice {
 protected:
  void SetUp() override {
    test::DescribedDevice::SetUp();
    if (IsSkipped()) return;
    device_side_ = open_side<multi_gpu_reduction_device>(device_);
  }
  /// Every sum of some runs by every method is right; those that refuse say why. Returns how many methods summed.
  uint32_t expect_right(const across_problem& problem) {
    const auto workload = device_side_->summing(problem);
    uint32_t summed = 0;
    for (const step_method& method : workload->methods()) {
      const std::string where = method.name + ", " + std::to_string(problem.gpus) + " GPUs, " +
                                std::to_string(problem.whole.elements) + " elements, " + problem.whole.passing;
      try {
        const auto own = workload->prepare(method, {1, 1});
        const uint64_t unit = own->steps_unit();
        uint64_t sums = 0;
        // Again and again, for each begins with what the one before has left; an odd and an even number of sums.
        for (const uint64_t units : {1, 2, 3, 1, 8}) {
          EXPECT_GT(own->run(units * unit), 0) << where;
          sums += units * unit;
        }
        const verification found = own->verify();
        EXPECT_GE(found.checked, sums) << where;
        EXPECT_EQ(found.wrong, 0u) << where;
        ++summed;
      } catch (const invalid_argument& why) {
        EXPECT_NE(std::string(why.what()), "") << where;
      }
    }
    return summed;
  }
  static across_problem problem_of(uint32_t gpus, uint64_t elements, bool wide, const char* passing) {
    across_problem problem;
    problem.gpus = gpus;
    problem.whole.elements = elements;
    problem.whole.wide = wide;
    problem.whole.passing = passing;
    return problem;
  }

  std::shared_ptr<multi_gpu_reduction_device> device_side_;
};

/// Small, odd, around the tiles of a block and the blocks of a grid, and so large that blocks claim tiles.
const std::vector<uint64_t> sizes{0, 1, 2, 3, 5, 31, 4097, 65'537, 1'000'003, 20'000'001};
constexpr uint64_t claimed_bytes = (uint64_t{1} << 30) + 12'345 * 8;  // on each GPU

TEST_F(MultiGpuSumsCuda, OfOneGpuAreRight) {
  for (const char* passing : passings) {
    for (const bool wide : {false, true}) {
      for (const uint64_t elements : sizes) {
        EXPECT_GE(expect_right(problem_of(1, elements, wide, passing)), 4u);
      }
    }
  }
}

TEST_F(MultiGpuSumsCuda, OfSeveralGpusAreRight) {
  if (device_side_->gpus() < 2) GTEST_SKIP() << "there are no two GPUs that reach each other's memory";
  for (uint32_t gpus = 2; gpus <= device_side_->gpus(); ++gpus) {
    for (const char* passing : passings) {
      for (const bool wide : {false, true}) {
        for (const uint64_t elements : sizes) {
          EXPECT_GE(expect_right(problem_of(gpus, elements, wide, passing)), 4u);
        }
      }
    }
  }
}

TEST_F(MultiGpuSumsCuda, OfLargeInputsAreRight) {
  const uint32_t gpus = device_side_->gpus();
  for (const char* passing : passings) {
    for (const bool wide : {false, true}) {
      EXPECT_GE(expect_right(problem_of(gpus, gpus * (claimed_bytes / (wide ? 8 : 4)) - 1, wide, passing)), 4u);
    }
  }
}

TEST_F(MultiGpuSumsCuda, OfCachedInputsAreRight) {
  across_problem problem = problem_of(device_side_->gpus(), 3'000'001, false, method_names::relaunch);
  problem.whole.cached = true;
  EXPECT_GE(expect_right(problem), 4u);
}

/// As experiments measure: the programs of all methods take turns on the same memory.
TEST_F(MultiGpuSumsCuda, OfSeveralMethodsInTurnAreRight) {
  const auto workload = device_side_->summing(problem_of(device_side_->gpus(), 777'777, false, method_names::relaunch));
  std::vector<std::unique_ptr<program>> programs;
  for (const step_method& method : workload->methods()) {
    try {
      programs.push_back(workload->prepare(method, {1, 1}));
    } catch (const invalid_argument&) {  // not here
    }
  }
  ASSERT_GE(programs.size(), 5u);
  for (int round = 0; round < 20; ++round) {
    for (const auto& one : programs) (void)one->run(1 + round % 3);
  }
  for (const auto& one : programs) EXPECT_EQ(one->verify().wrong, 0u);
}

TEST_F(MultiGpuSumsCuda, OfMoreGpusThanThereAreAreRefused) {
  const uint32_t gpus = device_side_->gpus();
  const auto workload = device_side_->summing(problem_of(gpus + 1, 1000, false, method_names::relaunch));
  for (const step_method& method : workload->methods()) {
    EXPECT_THROW((void)workload->prepare(method, {1, 1}), invalid_argument) << method.name;
  }
}

TEST_F(MultiGpuSumsCuda, OfWhatNoGpuHasRoomForAreRefused) {
  const auto workload =
      device_side_->summing(problem_of(device_side_->gpus(), uint64_t{1} << 40, true, method_names::relaunch));
  EXPECT_THROW((void)workload->prepare(workload->methods()[0], {1, 1}), invalid_argument);
}

}  // namespace
}  // namespace gpusync::tool
