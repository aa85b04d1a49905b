// Workload "average" computes the same under every method, and its figures are sane.
#include <gtest/gtest.h>

#include <chrono>

#include <gpusync/core/error.hpp>
#include <gpusync/opencl/registry.hpp>
#include "boundary/program.hpp"

namespace gpusync::tool {

namespace {

class opencl_average : public testing::Test {
 protected:
  void SetUp() override {
    for (const device_description& device : all_devices()) {
      if (device.kind != device_kind::opencl) continue;
      workload = open_workload("average", device);
      return;
    }
    GTEST_SKIP() << "there is no OpenCL device here";
  }

  step_method method(const std::string& name) const {
    for (const step_method& each : workload->methods()) {
      if (each.name == name) return each;
    }
    throw error("no method " + name);
  }

  std::shared_ptr<tool::workload> workload;
};

TEST_F(opencl_average, lists_its_methods_the_floor_first) {
  std::vector<std::string> names;
  for (const step_method& each : workload->methods()) names.push_back(each.name);
  std::vector<std::string> expected{"no-barrier", "launch-wait", "relaunch"};
  for (const opencl::barrier_method& each : opencl::barrier_methods()) expected.push_back(each.name());
  EXPECT_EQ(names, expected);
  EXPECT_EQ(names[3], "lock-based-none");
}

TEST_F(opencl_average, is_right_under_every_method) {
  for (const step_method& each : workload->methods()) {
    for (const bool stores : {false, true}) {
      for (const uint32_t blocks : {1u, 2u}) {
        const auto program = workload->prepare(each, {blocks, 64, stores});
        EXPECT_GT(program->run(128), 0.0);
        EXPECT_GT(program->run(320), 0.0);
        const verification found = program->verify();
        EXPECT_TRUE(found.performed);
        const uint64_t steps = stores ? 448 : 2 * 127;
        EXPECT_EQ(found.checked, (steps + 2) * blocks * 64);
        if (each.ordered) {
          EXPECT_EQ(found.wrong, 0u) << each.name << ", " << blocks << " work-groups, stores " << stores;
        }
      }
    }
  }
}

TEST_F(opencl_average, takes_no_longer_on_the_devices_timer_than_on_the_hosts) {
  using clock = std::chrono::steady_clock;
  for (const char* name : {"no-barrier", "relaunch", "lock-based-acquire-release"}) {
    const auto program = workload->prepare(method(name), {2, 64, false});
    program->run(128);
    const auto start = clock::now();
    const double device_time = program->run(6400);
    const double host_time = std::chrono::duration<double, std::nano>(clock::now() - start).count();
    EXPECT_LE(device_time, host_time) << name;
    EXPECT_GE(device_time, 6400.0) << name << ": no device does a step in a nanosecond";
  }
}

TEST_F(opencl_average, refuses_more_groups_than_run_at_once_only_where_they_wait_for_each_other) {
  const auto too_many = static_cast<uint32_t>(workload->max_co_resident(64) + 1);
  for (const step_method& each : workload->methods()) {
    if (each.needs_co_residency) {
      EXPECT_THROW(workload->prepare(each, {too_many, 64, false}), not_co_resident) << each.name;
    } else {
      EXPECT_NO_THROW(workload->prepare(each, {too_many, 64, false})->run(128)) << each.name;
    }
  }
}

TEST_F(opencl_average, refuses_shapes_and_lengths_that_cannot_be_run) {
  EXPECT_THROW(workload->prepare(method("relaunch"), {1, 1u << 20, false}), invalid_argument);
  EXPECT_THROW(workload->prepare(method("relaunch"), {0, 64, false}), invalid_argument);
  EXPECT_THROW(workload->prepare({"cg", "", {}}, {1, 64, false}), invalid_argument);
  EXPECT_THROW(workload->prepare(method("relaunch"), {1, 64, false})->run(100), invalid_argument);
}

TEST_F(opencl_average, sweeps_only_what_can_run) {
  for (const bool quick : {false, true}) {
    ASSERT_FALSE(workload->default_blocks(quick).empty());
    ASSERT_FALSE(workload->default_threads(quick).empty());
    for (const uint32_t blocks : workload->default_blocks(quick)) {
      EXPECT_LE(blocks, workload->max_co_resident(workload->default_threads(quick).front()));
    }
  }
}

}  // namespace

}  // namespace gpusync::tool
