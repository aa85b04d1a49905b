// Workload "thesis_average": right under every method, and a barrier that lets work-groups go early fails the run.
#include "workloads/thesis_average/thesis_average_opencl.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "harness/experiment.hpp"

namespace gpusync::tool {

namespace {

class opencl_thesis_average : public testing::Test {
 protected:
  void SetUp() override {
    for (const device_description& each : all_devices()) {
      if (each.kind != device_kind::opencl) continue;
      description = each;
      return;
    }
    GTEST_SKIP() << "there is no OpenCL device here";
  }

  /// The rows of an experiment, run as `gpusync run --quick` runs it.
  std::vector<row> run(const std::string& experiment, const axis_choice& axes) const {
    std::vector<row> rows;
    experiment_sink sink;
    sink.add = [&](row entry, bool) { rows.push_back(std::move(entry)); };
    sink.progress = [](double, const std::string&) {};
    sink.interrupted = [] { return false; };
    find_experiment(experiment).run({description, axes, true, false}, sink);
    return rows;
  }

  device_description description;
};

/// The centralized barrier without its wait: arrivals are counted, nobody waits for them.
const opencl::barrier_algorithm& spoilt() {
  static const std::string text = [] {
    std::string source = opencl::centralized.text;
    const std::string wait = "gpusync_wait_equal(counter, 0u, limit)";
    const size_t at = source.find(wait);
    if (at == std::string::npos) throw std::logic_error("centralized.cl no longer waits as this mutant expects");
    return source.replace(at, wait.size(), "GPUSYNC_COMPLETED");
  }();
  static const opencl::barrier_algorithm algorithm = [] {
    opencl::barrier_algorithm copy = opencl::centralized;
    copy.family = "spoilt";
    copy.text = text.c_str();
    return copy;
  }();
  return algorithm;
}

TEST_F(opencl_thesis_average, is_right_under_every_method) {
  const auto device = open_thesis_average(description, opencl::barrier_methods());
  for (const step_method& method : device->methods()) {
    for (const uint32_t groups : {1u, 2u}) {
      const auto program = device->prepare(method, groups, 4, groups == 2);
      for (const uint32_t iterations : {1u, 2u, 7u}) {
        const run_times times = program->run(iterations);
        EXPECT_GT(times.device, 0);
        EXPECT_GT(times.host, 0);
      }
      const verification found = program->verify();
      EXPECT_EQ(found.checked, 3 * 2 * groups * 4u);
      if (method.ordered) {
        EXPECT_EQ(found.wrong, 0u) << method.name << ", " << groups << " work-groups";
      }
      const thesis_memory memory = program->memory();
      EXPECT_EQ(memory.needed, memory.allocated) << method.name;
      EXPECT_EQ(memory.needed, memory.barrier + groups * 4 * 12) << method.name;
      EXPECT_EQ(memory.barrier > 0, method.needs_co_residency) << method.name;
    }
  }
}

TEST_F(opencl_thesis_average, refuses_more_groups_than_run_at_once_only_where_they_wait_for_each_other) {
  const auto device = open_thesis_average(description, {{&opencl::centralized}});
  const std::vector<step_method> methods = device->methods();
  const uint32_t too_many = device->resident(methods, 4) + 1;
  for (const step_method& method : methods) {
    if (method.needs_co_residency) {
      EXPECT_THROW(device->prepare(method, too_many, 4, false), not_co_resident);
    } else {
      EXPECT_NO_THROW(device->prepare(method, too_many, 4, false)->run(2)) << method.name;
    }
  }
}

TEST_F(opencl_thesis_average, a_barrier_that_returns_early_fails_the_run) {
  const register_side<thesis_device> mutant(device_kind::opencl, [](const device_description& device) {
    return open_thesis_average(device, {{&spoilt()}, {&opencl::centralized}});
  });
  axis_choice axes;
  // Where many run at once, two small work-groups keep step even without a barrier.
  const auto resident = open_thesis_average(description, {{&opencl::centralized}});
  const int64_t groups = std::min(resident->resident(resident->methods(), 4), 256u);
  axes.numbers = {{"groups", {groups}}, {"items", {4}}, {"iterations", {200}}};
  bool caught = false;
  for (const row& entry : run("opencl-iterations", axes)) {
    if (entry.method == "spoilt-acquire-release" && entry.axes.back().first == "iterations") {
      caught = true;
      EXPECT_EQ(entry.status, row_status::failed);
      EXPECT_EQ(entry.verified, false);
      EXPECT_NE(entry.reason.value_or("").find("Wrong results"), std::string::npos);
    } else if (entry.method == "centralized-acquire-release" && entry.axes.back().first == "iterations") {
      EXPECT_EQ(entry.verified, true) << entry.reason.value_or("");
    }
  }
  EXPECT_TRUE(caught);
  const register_side<thesis_device> restored(device_kind::opencl, [](const device_description& device) {
    return open_thesis_average(device, opencl::barrier_methods());
  });
}

}  // namespace

}  // namespace gpusync::tool
