// The workloads behind launch-overhead, grid-sync, warp-timers and partial-sync on a CUDA device: what they count and
// check is right, and what holds nobody is found out. What hangs is left to experiments, in processes of their own.
#include <gtest/gtest.h>

#include "boundary/program.hpp"
#include "cuda/described_device.hpp"
#include "measure/statistics.hpp"
#include "workloads/launch_barriers/launch_barriers.hpp"
#include "workloads/launch_overhead/launch_overhead.hpp"
#include "workloads/partial_sync/partial_sync.hpp"
#include "workloads/warp_timers/warp_timers.hpp"

namespace gpusync::tool {
namespace {

class LaunchesCuda : public test::DescribedDevice {
 protected:
  step_shape shape() const { return {static_cast<uint32_t>(device_.compute_units), 256, false}; }
};

TEST_F(LaunchesCuda, EveryLaunchOfASequenceIsCountedAndItsUnitsLastAsLongAsTheyAreMeantTo) {
  const auto device = open_side<launch_device>(device_);
  for (const step_method& method : device->methods()) {
    std::unique_ptr<launch_program> program;
    try {
      program = device->prepare(method, shape());
    } catch (const invalid_argument&) {  // an older device
      continue;
    }
    for (const wait_unit_name& unit : wait_unit_names) {
      launched_kernel kernel;
      kernel.unit = unit.unit;
      kernel.unit_us = 5;
      kernel.units = 2;
      (void)program->run(500, kernel);  // a device that was idle has its clock up then
      const sequence_times times = program->run(7, kernel);
      EXPECT_GT(times.total, 7 * 2 * 4000.0) << method.name << ", " << unit.name;
      EXPECT_LE(times.queued, times.total);
      const double length = summarize(program->lengths(7, kernel)).mean;
      // A nanosleep lasts up to twice as long as it was asked to (PTX ISA), and on an H200 the first ones in a row
      // less.
      const bool sleeps = unit.unit == wait_unit::nanosleep;
      EXPECT_GT(length, sleeps ? 1e3 : 7.5e3) << method.name << ", " << unit.name;
      EXPECT_LT(length, sleeps ? 21e3 : 12.5e3) << method.name << ", " << unit.name;
    }
    launched_kernel empty;
    empty.counted = false;
    EXPECT_GT(program->run(20, empty).total, 0);
    const verification found = program->verify();
    EXPECT_GT(found.checked, 0u);
    EXPECT_EQ(found.wrong, 0u) << method.name;
  }
}

TEST_F(LaunchesCuda, LaunchesWithBarriersCountThemselvesAndFindEachOthersWords) {
  const auto device = open_side<launch_barriers_device>(device_);
  for (const bool in_graph : {false, true}) {
    for (const uint32_t barriers : {1u, 3u}) {
      const auto launches = device->launches(barriers, in_graph);
      for (const step_method& method : launches->methods()) {
        const auto program = launches->prepare(method, shape());
        for (int place = 0; place < 3; ++place) {
          program->place_anew();
          EXPECT_GT(program->run(2 * program->steps_unit()), 0);
        }
        const verification found = program->verify();
        EXPECT_GT(found.checked, 0u);
        EXPECT_EQ(found.wrong, 0u) << method.name;
      }
    }
  }
}

TEST_F(LaunchesCuda, ABarrierOfAWarpHoldsLanesOfAllBranchesAndNoneHoldsNobody) {
  const auto device = open_side<warp_timers_device>(device_);
  for (const warp_barrier_name& each : warp_barriers) {
    for (int run = 0; run < 5; ++run) {
      const warp_passage passage = device->run(each.name);
      EXPECT_EQ(passage.wrong, 0u) << each.name;
      EXPECT_EQ(margin_of(passage) >= 0, each.waits) << each.name << ": " << margin_of(passage);
    }
  }
}

TEST_F(LaunchesCuda, PartsOfAGroupPassTheBarriersThatAreMadeForThem) {
  const auto device = open_side<partial_sync_device>(device_);
  for (const partial_barrier& each : partial_barriers) {
    if (!each.defined_if_rest_leaves || !each.defined_if_rest_stays) continue;
    for (const the_rest rest : {the_rest::leaves, the_rest::stays}) {
      const partial_outcome outcome = device->run(each.name, "half", rest);
      EXPECT_EQ(finding_of(outcome, true), partial_finding::ok) << each.name;
      EXPECT_EQ(outcome.called, members_of("half", outcome.members).count) << each.name;
      EXPECT_EQ(outcome.timed_out != 0, !each.waits) << each.name;
      EXPECT_EQ(outcome.wrong, 0u) << each.name;
      EXPECT_TRUE(outcome.named_the_rest) << each.name;
    }
  }
}

}  // namespace
}  // namespace gpusync::tool
