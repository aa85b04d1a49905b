// Experiment multi-gpu-reduction on GPUs that are made up: sums that take known times, and are right or wrong.
#include <gtest/gtest.h>

#include <set>

#include "boundary/gpu_count.hpp"
#include "harness/answers.hpp"
#include "harness/experiment.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "workloads/multi_gpu_reduction/multi_gpu_reduction.hpp"

namespace gpusync::tool::multi_gpu_reduction_test {
namespace {

constexpr uint32_t gpus_here = 2;

/// Sums that take `pattern[round % 3]` times as long as 1 KiB a nanosecond.
class known_sums : public program {
 public:
  known_sums(uint64_t bytes, std::array<double, 3> pattern, uint64_t wrong)
      : nanoseconds_(static_cast<double>(bytes) / 1024), pattern_(pattern), wrong_(wrong) {}

  double run(uint64_t steps) override {
    checked_ += steps;
    return (static_cast<double>(steps) + 3) * nanoseconds_ * pattern_[round_ % 3];
  }
  uint64_t steps_unit() const override { return 1; }
  verification verify() override { return {true, checked_, wrong_, "known"}; }
  void place_anew() override { ++round_; }  // told before each turn

 private:
  const double nanoseconds_;
  const std::array<double, 3> pattern_;
  const uint64_t wrong_;
  uint64_t checked_ = 0;
  size_t round_ = 0;
};

step_method method(const std::string& name, method_kind kind) {
  step_method made;
  made.name = name;
  made.kind = kind;
  return made;
}

/// One GPU alone takes 1, 2 and 3 times as long in turn, and all together 3, 1 and 2 times: by rounds 1/3, 2 and 1.5
/// times the rate, of which 1.5 is in the middle. The medians of the times are equal.
class known_workload : public workload {
 public:
  explicit known_workload(const across_problem& problem) : problem_(problem) {}

  std::vector<step_method> methods() const override {
    return {method("gpusync", method_kind::barrier), method("spoiled", method_kind::barrier),
            method(one_gpu_sum, method_kind::floor)};
  }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape&) override {
    require_gpus(problem_.gpus, gpus_here);
    const uint64_t part = problem_of_gpu(problem_, 0).bytes();
    if (method.name == one_gpu_sum) return std::make_unique<known_sums>(part, std::array{1.0, 2.0, 3.0}, 0);
    return std::make_unique<known_sums>(part, std::array{3.0, 1.0, 2.0}, method.name == "spoiled" ? 1 : 0);
  }
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return UINT64_MAX; }

 private:
  const across_problem problem_;
};

class known_gpus : public multi_gpu_reduction_device {
 public:
  uint32_t gpus() const override { return gpus_here; }
  uint64_t most_cached_bytes() const override { return 1 << 20; }
  std::unique_ptr<workload> summing(const across_problem& problem) override {
    return std::make_unique<known_workload>(problem);
  }
};

class MultiGpuReduction : public ::testing::Test {
 protected:
  MultiGpuReduction() : before_(openers()[key()]) {
    openers()[key()] = make_side<known_gpus>;
    request_.device.id = "cuda:0";
    request_.device.kind = device_kind::cuda;
    request_.quick = true;
    sink_.interrupted = [] { return false; };
    sink_.progress = [](double, const std::string&) {};
    sink_.add = [this](const row& entry, bool) { found_.rows.push_back(entry); };
  }
  ~MultiGpuReduction() override {
    if (before_) {
      openers()[key()] = before_;
    } else {
      openers().erase(key());
    }
  }

  void run() { experiment_.run(request_, sink_); }
  /// The row of a method and so many GPUs.
  const row& row_of(const std::string& method, int64_t gpus) const {
    const row* found = nullptr;
    for (const row& entry : found_.rows) {
      if (entry.method == method && axis_number(entry.axes, "gpus") == gpus) found = &entry;
    }
    if (found == nullptr) throw std::runtime_error("There is no row of " + method + ".");
    return *found;
  }
  /// What the cases are called, where nothing is measured.
  std::vector<std::string> labels() {
    std::vector<std::string> all;
    sink_.recall = [&](const std::string& what) {
      all.push_back(what);
      return std::vector<row>();
    };
    run();
    return all;
  }

  const experiment& experiment_ = find_experiment("multi-gpu-reduction");
  experiment_request request_;
  experiment_sink sink_;
  document found_;

 private:
  static auto openers() -> decltype(side_openers<multi_gpu_reduction_device>()) {
    return side_openers<multi_gpu_reduction_device>();
  }
  static std::pair<std::string, device_kind> key() { return {"", device_kind::cuda}; }

  const side_opener<multi_gpu_reduction_device> before_;
};

TEST_F(MultiGpuReduction, OverSingleIsOfRoundsThatBelongTogether) {
  request_.axes.numbers["bytes"] = {1 << 20};
  run();
  ASSERT_EQ(found_.rows.size(), 6u) << "three methods on one GPU and on two";
  const row &all = row_of("gpusync", 2), &one = row_of(one_gpu_sum, 2);
  EXPECT_EQ(all.items, std::vector<std::string>{"Z16"});
  EXPECT_EQ(all.verified, true);
  EXPECT_NEAR(*value_of(all, "step_time"), 2 * 1.024, 1e-6);
  EXPECT_NEAR(*value_of(one, "step_time"), 2 * 1.024, 1e-6);
  EXPECT_NEAR(*value_of(all, "bandwidth"), 1024, 1e-3) << "of both parts";
  EXPECT_NEAR(*value_of(one, "bandwidth"), 512, 1e-3) << "of one";
  EXPECT_NEAR(*value_of(all, "over_single"), 1.5, 1e-6);
  EXPECT_EQ(value_of(one, "over_single"), std::nullopt);
  EXPECT_NEAR(*value_of(row_of("gpusync", 1), "over_single"), 1.5, 1e-6);
}

TEST_F(MultiGpuReduction, OverSingleCountsUnequalPartsAsTheyAre) {
  request_.axes.numbers["bytes"] = {16};
  request_.axes.numbers["gpus"] = {2};
  request_.axes.words["count"] = {"3n/4+1"};
  run();
  // Seven elements, of which the first GPU has three.
  EXPECT_NEAR(*value_of(row_of("gpusync", 2), "over_single"), 1.5 * 7 / 6, 1e-6);
}

TEST_F(MultiGpuReduction, WrongSumsFailAndHaveNoRate) {
  request_.axes.numbers["bytes"] = {1 << 20};
  request_.axes.numbers["gpus"] = {2};
  run();
  const row& spoiled = row_of("spoiled", 2);
  EXPECT_EQ(spoiled.status, row_status::failed);
  EXPECT_EQ(value_of(spoiled, "bandwidth"), std::nullopt);
  EXPECT_EQ(value_of(spoiled, "over_single"), std::nullopt);
}

TEST_F(MultiGpuReduction, WithoutOneGpuAloneThereIsNothingToCompareWith) {
  request_.axes.words["method"] = {"gpusync"};
  run();
  ASSERT_EQ(found_.rows.size(), 2u);
  EXPECT_NE(value_of(found_.rows[0], "bandwidth"), std::nullopt);
  EXPECT_EQ(value_of(found_.rows[0], "over_single"), std::nullopt);
}

TEST_F(MultiGpuReduction, MoreGpusThanThereAreAreSkippedInWords) {
  request_.axes.numbers["gpus"] = {3};
  run();
  ASSERT_EQ(found_.rows.size(), 3u);
  for (const row& entry : found_.rows) {
    EXPECT_EQ(entry.status, row_status::skipped);
    EXPECT_EQ(entry.reason, "3 GPUs were asked for, but only 2 here reach each other's memory.");
  }
}

TEST_F(MultiGpuReduction, EveryCaseHasALabelOfItsOwn) {
  EXPECT_EQ(labels(), (std::vector<std::string>{"1 GPU, 67108864 float of 256 MiB (n), cold, stream",
                                                "2 GPUs, 134217728 float of 256 MiB (n), cold, stream"}));
  request_.quick = false;
  EXPECT_EQ(labels().size(), 8u) << "four sizes on one GPU and on two";
  request_.axes.words = {{"type", {"float", "double"}},
                         {"count", {"n", "n-1", "3n/4+1"}},
                         {"input", {"cold", "l2"}},
                         {"passing", {"stream", "graph", "single"}}};
  const std::vector<std::string> all = labels();
  // Of four sizes only 1 MiB stays in this cache.
  EXPECT_EQ(all.size(), 2u * 3 * 3 * 2 * (4 + 1));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_TRUE(found_.rows.empty());
}

TEST_F(MultiGpuReduction, TheAnswerIsOfTheMostGpusAndTheLargestInput) {
  request_.axes.numbers["bytes"] = {1 << 10, 1 << 20};
  run();
  const std::vector<std::string> said = answers(found_);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with("Sum over 2 GPUs by gpusync: 1024 GB/s for 1 MiB on each, 1.50 of 2 x one GPU"))
      << said[0];
}

}  // namespace
}  // namespace gpusync::tool::multi_gpu_reduction_test
