// Experiment pace-choice by devices made up: what is chosen, and what fresh rounds say of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "experiments/pacing/pace_choice_cases.hpp"
#include "harness/experiment.hpp"
#include "results/groups.hpp"

namespace gpusync::tool::made_up_choices {
namespace {

/// A loop whose variants take such times.
class made_up_loop : public paced_program {
 public:
  made_up_loop(std::map<std::string, double> times, uint64_t wrong) : times_(std::move(times)), wrong_(wrong) {}

  std::vector<paced_variant> variants() const override {
    return {{"none", "none", 1, paced_role::plain},           {"control-4", "control", 4, paced_role::control},
            {"block-4", "block", 4, paced_role::paced},       {"lead1-4", "lead", 4, paced_role::lead},
            {"block-1000", "block", 1000, paced_role::paced}, {"fence-4", "fence", 4, paced_role::effect},
            {"tiled", "another cure", 1, paced_role::rival}};
  }
  std::vector<paced_variant> clocked() const override { return {}; }
  uint64_t trips() const override { return 100; }
  uint64_t bytes() const override { return 1'000'000; }
  paced_resources resources(const paced_variant& which) override {
    return {32, 0, which.name == "lead1-4" ? 7 : 8, 4};  // it takes a block off the multiprocessor
  }
  double run(const paced_variant& which) override {
    ++runs_;
    ran_[which.name] += 1;
    return times_.at(which.name) * (1 + 0.001 * (runs_ % 7));
  }
  paced_clocks run_clocked(const paced_variant&) override { return {}; }
  verification verify(const paced_variant& which, bool) const override {
    const auto found = ran_.find(which.name);
    const uint64_t runs = found == ran_.end() ? 0 : found->second;
    return {true, 100 * runs, which.name == "control-4" ? wrong_ : 0, "made up"};
  }

 private:
  const std::map<std::string, double> times_;
  const uint64_t wrong_;
  std::map<std::string, uint64_t> ran_;
  int runs_ = 0;
};

struct made_up_device : paced_device {
  std::map<std::string, double> times;
  uint64_t wrong = 0;

  std::vector<paced_variant> variants() const override { return made_up_loop(times, wrong).variants(); }
  std::unique_ptr<paced_program> program(const paced_problem&) override {
    return std::make_unique<made_up_loop>(times, wrong);
  }
};

// Nothing else has such sides on OpenCL devices.
register_side<paced_device> made_up(const char* name, const std::map<std::string, double>& times, uint64_t wrong = 0) {
  return {device_kind::opencl,
          [=](const device_description&) {
            auto device = std::make_unique<made_up_device>();
            device->times = times;
            device->wrong = wrong;
            return device;
          },
          name};
}
const register_side<paced_device> sides[] = {
    made_up("transpose", {{"none", 1e6}, {"control-4", 1.01e6}, {"block-4", 0.9e6}}),
    made_up("sparse-product warp", {{"none", 1e6}, {"control-4", 0.8e6}, {"block-4", 0.82e6}}),
    made_up("sparse-product thread", {{"none", 1e6}, {"control-4", 1e6}, {"block-4", 0.9e6}}, 3)};

std::vector<row> measured(const std::vector<std::string>& workloads,
                          std::function<std::optional<std::vector<row>>(const std::string&)> recall = nullptr) {
  experiment_request request;
  request.device.id = "opencl:0";
  request.device.kind = device_kind::opencl;
  request.quick = true;
  request.axes.words["workload"] = workloads;
  std::vector<row> rows;
  experiment_sink sink;
  sink.add = [&](row entry, bool claims) {
    EXPECT_TRUE(claims);
    rows.push_back(std::move(entry));
  };
  sink.progress = [](double fraction, const std::string&) {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
  };
  sink.interrupted = [] { return false; };
  sink.recall = std::move(recall);
  find_experiment("pace-choice").run(request, sink);
  return rows;
}

double value(const row& entry, const char* metric) {
  return value_of(entry, metric).value_or(-1);
}

TEST(PaceChoices, AGainIsFoundAndACompilersIsNone) {
  const std::vector<row> rows = measured({"sparse-product warp", "transpose"});
  ASSERT_EQ(rows.size(), 3u);
  const row &compilers = rows[0], &gains = rows[1], &all = rows[2];
  EXPECT_EQ(gains.method, "block-4");
  EXPECT_NEAR(value(gains, "over_base"), 0.9, 0.005);
  EXPECT_NEAR(value(gains, "best_gain"), 10, 0.5);
  EXPECT_EQ(value(gains, "took_barrier"), 1);
  EXPECT_EQ(value(gains, "real_gain"), 1);
  EXPECT_EQ(value(gains, "compilers_gain"), 0);
  EXPECT_EQ(value(gains, "regret"), 0);
  EXPECT_EQ(gains.verified, std::optional<bool>(true));
  EXPECT_EQ(gains.verification->rfind("block-4: 0.90", 0), 0u) << *gains.verification;
  EXPECT_NE(gains.verification->find("faster than none"), std::string::npos) << *gains.verification;
  EXPECT_EQ(compilers.method, "control-4");
  EXPECT_EQ(value(compilers, "over_base"), 1);
  EXPECT_NEAR(value(compilers, "best_gain"), -2.5, 0.5);
  EXPECT_NEAR(value(compilers, "best_gain_on_none"), 18, 0.5);
  EXPECT_EQ(value(compilers, "took_barrier"), 0);
  EXPECT_EQ(value(compilers, "real_gain"), 0);
  EXPECT_EQ(value(compilers, "compilers_gain"), 1);
  EXPECT_EQ(all.method, "all-loops");
  EXPECT_EQ(value(all, "loops"), 2);
  EXPECT_EQ(value(all, "worst_over_base"), 1);
  EXPECT_EQ(value(all, "slower_loops"), 0);
  EXPECT_EQ(value(all, "real_gains"), 1);
  EXPECT_EQ(value(all, "real_gains_found"), 1);
  EXPECT_EQ(value(all, "compilers_gains"), 1);
  EXPECT_EQ(value(all, "compilers_gains_taken"), 0);
  EXPECT_EQ(value(all, "runs"), value(gains, "runs") + value(compilers, "runs"));
}

TEST(PaceChoices, LoopsOfARunThatWasCutShortCountToo) {
  const row before = measured({"transpose"}).front();
  const std::vector<row> rows =
      measured({"sparse-product warp", "transpose"}, [&](const std::string& what) -> std::optional<std::vector<row>> {
        if (what.rfind("transpose", 0) != 0) return std::nullopt;
        return std::vector<row>{before};
      });
  ASSERT_EQ(rows.size(), 2u) << "whoever recalls a loop hands it over";
  EXPECT_EQ(value(rows[1], "loops"), 2);
  EXPECT_EQ(value(rows[1], "real_gains_found"), 1);
}

TEST(PaceChoices, AWrongWordInAnyRunFailsTheLoop) {
  const std::vector<row> rows = measured({"sparse-product thread"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, row_status::failed);
  EXPECT_EQ(rows[0].verified, std::optional<bool>(false));
  EXPECT_EQ(rows[1].status, row_status::skipped) << "nothing was measured";
}

// The table itself.
TEST(PaceChoices, AtLeastSixtyDifferentLoopsAreTried) {
  device_description h200;
  h200.kind = device_kind::cuda;
  h200.compute_units = 132;
  std::vector<std::string> seen;
  for (const auto& one : pace_choice_experiment::loop_cases(device_kind::cuda)) {
    const paced_problem problem = one.problem(h200);
    seen.push_back(std::string(one.workload) + ' ' + std::to_string(problem.shape.blocks) + 'x' +
                   std::to_string(problem.shape.threads) + ' ' + std::to_string(problem.elements) + ' ' +
                   std::to_string(problem.length) + ' ' + std::to_string(problem.percent) + ' ' +
                   std::to_string(problem.band) + ' ' + std::to_string(problem.small_l1));
    EXPECT_LE(problem.shape.threads, 1024u);
  }
  EXPECT_GE(seen.size(), 60u);
  std::ranges::sort(seen);
  EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end()) << *std::ranges::adjacent_find(seen);
}

}  // namespace
}  // namespace gpusync::tool::made_up_choices
