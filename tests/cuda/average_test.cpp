// Workload "average" on a CUDA device: every method that claims it computes right results, and the one that does not is
// reported wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include <gpusync/core/error.hpp>

#include "boundary/program.hpp"
#include "cuda/described_device.hpp"
#include "harness/graph_watch.hpp"

namespace gpusync::tool {
namespace {

class AverageCuda : public test::DescribedDevice {
 protected:
  void SetUp() override {
    DescribedDevice::SetUp();
    if (!IsSkipped()) workload_ = open_workload("average", device_);
  }
  std::shared_ptr<workload> workload_;
};

TEST_F(AverageCuda, EveryOrderedMethodComputesRightResultsAndTheUnorderedOneIsFoundOut) {
  const auto sms = static_cast<uint32_t>(device_.compute_units);
  for (const step_shape& shape : {step_shape{sms, 256, false}, {sms, 256, true}, {7, 33, true}, {1, 1, true}}) {
    for (const step_method& method : workload_->methods()) {
      if (shape.blocks % method.cluster != 0) {
        EXPECT_THROW((void)workload_->prepare(method, shape), invalid_argument) << method.name;
        continue;
      }
      const auto program = workload_->prepare(method, shape);
      (void)program->run(2 * program->steps_unit());
      (void)program->run(3 * program->steps_unit());
      const verification found = program->verify();
      EXPECT_TRUE(found.performed);
      if (method.ordered) {
        EXPECT_EQ(found.wrong, 0u) << method.name << " on " << shape.blocks << " x " << shape.threads;
      } else if (shape.blocks == sms && shape.stores) {
        EXPECT_GT(found.wrong, 0u) << method.name << " was not found out";
      }
    }
  }
}

TEST_F(AverageCuda, GraphsThatAreMadeAndNotRunDoNotSlowOthersDown) {
  const graph_watch watch({device_});
  const double before = watch.step_time(device_);
  ASSERT_GT(before, 0);
  const auto sms = static_cast<uint32_t>(device_.compute_units);
  std::vector<std::unique_ptr<program>> programs;
  for (const step_method& method : workload_->methods()) {
    if (method.kind != method_kind::graph) continue;
    for (const bool stores : {false, true}) {
      programs.push_back(workload_->prepare(method, {sms, 256, stores}));  // some are never run
      if (!stores) continue;
      for (uint64_t units = 1; units < 4; ++units) (void)programs.back()->run(units * programs.back()->steps_unit());
    }
  }
  EXPECT_NEAR(watch.step_time(device_) / before, 1, 0.05);
  programs.clear();
  EXPECT_NEAR(watch.step_time(device_) / before, 1, 0.05);
}

TEST_F(AverageCuda, ResultsAreRightWhereverTheBarriersWordsLie) {
  const auto sms = static_cast<uint32_t>(device_.compute_units);
  for (const step_method& method : workload_->methods()) {
    if (!method.ordered || sms % method.cluster != 0) continue;
    const auto program = workload_->prepare(method, {sms, 64, true});
    for (int place = 0; place < 8; ++place) {
      program->place_anew();
      (void)program->run(2 * program->steps_unit());
    }
    EXPECT_EQ(program->verify().wrong, 0u) << method.name;
  }
}

TEST_F(AverageCuda, RunsOnADeviceThatIsNotTheCurrentOne) {
  const auto& devices = all_devices();
  const auto last =
      std::find_if(devices.rbegin(), devices.rend(), [](const auto& d) { return d.kind == device_kind::cuda; });
  if (last->index == 0) GTEST_SKIP() << "there is only one CUDA device";
  const auto workload = open_workload("average", *last);
  for (const step_method& method : workload->methods()) {
    const auto program = workload->prepare(method, {7, 64, true});
    (void)program->run(2 * program->steps_unit());
    const verification found = program->verify();
    EXPECT_TRUE(found.performed);
    if (method.ordered) {
      EXPECT_EQ(found.wrong, 0u) << method.name;
    }
  }
}

TEST_F(AverageCuda, RefusesMoreBlocksThanRunAtOnceWhereTheyMust) {
  const auto most = static_cast<uint32_t>(workload_->max_co_resident(256));
  for (const step_method& method : workload_->methods()) {
    if (method.needs_co_residency) {
      EXPECT_THROW((void)workload_->prepare(method, {4 * most, 256, false}), not_co_resident) << method.name;
    } else {
      EXPECT_NO_THROW((void)workload_->prepare(method, {4 * most, 256, false})) << method.name;
    }
  }
}

}  // namespace
}  // namespace gpusync::tool
