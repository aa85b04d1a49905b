// What the experiments on applications draw from their measurements, with a workload whose times are known.
#include "experiments/feng_xiao_2010/application.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "harness/choices.hpp"
#include "results/cells.hpp"
#include "results/groups.hpp"
#include "results/verdict.hpp"
#include "support/known_clock.hpp"
#include "support/refusal.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

/// A launch takes 10 ms whatever the grid, a barrier as many ms as there are blocks; "slow" takes 20, and "middle" 5
/// for 4 to 30 blocks and 20 for others.
class known_workload : public workload {
 public:
  std::vector<step_method> methods() const override {
    return {
        {"relaunch", "", {"F1"}, method_kind::launch, true, false}, {"good", "", {}, method_kind::barrier, true, true},
        {"good-none", "", {}, method_kind::barrier, false, true},   {"slow", "", {}, method_kind::barrier, true, true},
        {"middle", "", {}, method_kind::barrier, true, true},       {"wrong", "", {}, method_kind::barrier, true, true},
        {"wrong-none", "", {}, method_kind::barrier, false, true}};
  }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    if (method.needs_co_residency && shape.blocks > 40) throw not_co_resident("Too many blocks.", shape.blocks, 40);
    class known_program : public run_program {
     public:
      known_program(double nanoseconds, uint64_t wrong) : nanoseconds_(nanoseconds), wrong_(wrong) {}
      double run_once() override {
        end_if(interrupted_);
        return nanoseconds_;
      }
      void end_when(std::function<bool()> interrupted) override { interrupted_ = std::move(interrupted); }
      verification verify() override { return {true, 100, wrong_, "known"}; }
      findings found() const override { return {{"score", 7}, {"query_end", std::nullopt}}; }

     private:
      double nanoseconds_;
      uint64_t wrong_;
      std::function<bool()> interrupted_;
    };
    const bool in_the_middle = method.name == "middle" && shape.blocks >= 4 && shape.blocks <= 30;
    const double time = method.name == "relaunch"                          ? 10e6
                        : in_the_middle                                    ? 5e6
                        : method.name == "slow" || method.name == "middle" ? 20e6
                                                                           : 1e6 * shape.blocks;
    return std::make_unique<known_program>(time, method.name.rfind("wrong", 0) == 0 ? 3 : 0);
  }
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return 40; }
};

struct outcome {
  std::vector<row> rows;
  std::vector<bool> claims;
};

outcome run_known(
    const std::string& axis = "", double work = 0.02, const std::function<bool()>& interrupted = [] { return false; }) {
  const known_clock clock(device_kind::cuda, 1980);
  application what;
  what.experiment = "known";
  what.axes = {{"size", int64_t{5}}};
  what.open = [] { return std::make_unique<known_workload>(); };
  what.work = work;
  what.rate = "rate";
  experiment_request request;
  request.device.id = "cuda:0";
  request.device.kind = device_kind::cuda;
  request.device.compute_units = 20;
  if (!axis.empty()) parse_axis(axis, application_axes(), request.axes);
  outcome all;
  const experiment_sink sink{[&](row entry, bool claims) {
                               all.rows.push_back(std::move(entry));
                               all.claims.push_back(claims);
                             },
                             [](double, const std::string&) {}, interrupted};
  run_application(what, request, sink, [](double fraction, const std::string&) {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
  });
  return all;
}

const row& find(const outcome& all, const std::string& method, int64_t blocks) {
  return *std::ranges::find_if(all.rows, [&](const row& entry) {
    return entry.method == method && axis_number(entry.axes, "blocks") == blocks;
  });
}

TEST(Application, TimesAreMediansWithRatiosAndImprovementsByRound) {
  const outcome all = run_known();
  const row& entry = find(all, "good", 8);
  EXPECT_EQ(entry.status, row_status::ok);
  EXPECT_DOUBLE_EQ(*entry.find_metric("run_time")->value, 8);
  EXPECT_GE(entry.find_metric("run_time")->n, 3u);
  EXPECT_DOUBLE_EQ(*entry.find_metric("run_time_over_relaunch")->value, 0.8);
  EXPECT_NEAR(*entry.find_metric("improvement_over_relaunch")->value, 20, 1e-9);
  EXPECT_NEAR(*entry.find_metric("rate")->value, 2.5, 1e-9);
  EXPECT_DOUBLE_EQ(*entry.find_metric("score")->value, 7);
  EXPECT_EQ(entry.find_metric("query_end")->value, std::nullopt);
  EXPECT_EQ(entry.clock_mhz, 1980.0);
}

TEST(Application, BlocksGoFromOneToAllThatRunAtOnce) {
  const outcome all = run_known();
  EXPECT_EQ(find(all, "good", 1).status, row_status::ok);
  EXPECT_EQ(find(all, "good", 30).status, row_status::ok);
  EXPECT_EQ(find(all, "good", 40).status, row_status::ok);
  EXPECT_EQ(blocks_up_to(2, 2, false), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(blocks_up_to(1056, 132, true), (std::vector<int64_t>{1, 132}));
  EXPECT_EQ(blocks_up_to(1056, 132, false).back(), 1056);
}

TEST(Application, MoreBlocksThanRunAtOnceAreSkippedInWords) {
  const outcome all = run_known("blocks=50");
  EXPECT_EQ(find(all, "good", 50).status, row_status::skipped);
  EXPECT_EQ(find(all, "good", 50).reason, "Too many blocks.");
  EXPECT_EQ(find(all, "relaunch", 50).status, row_status::ok);
}

TEST(Application, WrongResultsFailTheRunUnlessTheMethodClaimsNothing) {
  const outcome all = run_known("blocks=4");
  for (size_t i = 0; i < all.rows.size(); ++i) {
    const bool wrong = all.rows[i].method.rfind("wrong", 0) == 0;
    EXPECT_EQ(all.rows[i].status, wrong ? row_status::failed : row_status::ok) << all.rows[i].method;
    EXPECT_EQ(all.claims[i], all.rows[i].method != "wrong-none");
  }
}

TEST(Application, CrossingsAreThoseOfTheCurves) {
  const outcome all = run_known();
  const auto fit = [&](const std::string& method) {
    return std::ranges::find_if(all.rows, [&](const row& entry) {
      return entry.method == method && std::ranges::any_of(entry.axes, [](const auto& a) { return a.first == "fit"; });
    });
  };
  ASSERT_NE(fit("good"), all.rows.end());
  EXPECT_NEAR(*fit("good")->find_metric("faster_until")->value, 10, 1e-9);
  EXPECT_NEAR(*fit("good")->find_metric("faster_from")->value, 1, 1e-9);
  EXPECT_EQ(fit("good")->verification->rfind("faster at 1 to 8, as fast at 10, slower at 13 to 40 blocks", 0), 0u)
      << *fit("good")->verification;
  EXPECT_NEAR(*fit("middle")->find_metric("faster_from")->value, 2 + 2 * 10.0 / 15, 1e-9);
  EXPECT_NEAR(*fit("middle")->find_metric("faster_until")->value, 30 + 10 * 5.0 / 15, 1e-9);
  EXPECT_EQ(fit("slow")->find_metric("faster_until")->value, std::nullopt);
  EXPECT_EQ(fit("slow")->find_metric("faster_from")->value, std::nullopt);
  EXPECT_EQ(fit("slow")->verification->rfind("no value, for it is faster nowhere: slower at 1 to 40 blocks", 0), 0u)
      << *fit("slow")->verification;
  EXPECT_EQ(cells_of(*fit("slow"), nullptr).remark, *fit("slow")->verification) << "an empty cell says why";
  EXPECT_NE(fit("wrong-none"), all.rows.end()) << "a barrier that orders nothing has a curve";
  EXPECT_EQ(fit("wrong"), all.rows.end()) << "a broken one has none";
}

TEST(Application, WhereThereIsNothingToComputeNoMethodIsTheCheapest) {
  outcome all = run_known("blocks=1,2,4", 0);
  ASSERT_FALSE(all.rows.empty());
  for (const row& entry : all.rows) {
    EXPECT_EQ(entry.metrics.front().first, "empty_run_time") << entry.method;
    EXPECT_EQ(entry.find_metric("run_time_over_relaunch"), nullptr);
    EXPECT_EQ(entry.find_metric("improvement_over_relaunch"), nullptr);
    EXPECT_EQ(entry.find_metric("faster_until"), nullptr);
  }
  document results;
  results.rows = std::move(all.rows);
  EXPECT_TRUE(verdicts(results).empty());
  EXPECT_TRUE(main_verdicts(results).empty());
}

TEST(Application, ARunThatIsInterruptedIsNoFailure) {
  int asked = 0;
  const outcome all = run_known("blocks=4", 0.02, [&] { return ++asked > 20; });
  ASSERT_FALSE(all.rows.empty());
  for (const row& entry : all.rows) {
    if (entry.verified == false) continue;
    EXPECT_NE(entry.status, row_status::failed) << entry.method << ": " << entry.reason.value_or("");
  }
}

TEST(Application, MemoryIsRefusedWithItsNumbers) {
  experiment_request request;
  request.device.name = "X";
  const auto refusal = [&](const room_needed& needed) {
    return test::refusal<usage_error>([&] { require_memory(needed, request); });
  };
  constexpr uint64_t mib = uint64_t{1} << 20;
  EXPECT_EQ(refusal({"It", "use less", 3 * mib, 3 * mib, 2 * mib, 2 * mib, 1}), "");
  EXPECT_EQ(refusal({"It", "use less", 3 * mib, 0, 2 * mib, 0, 1}), "") << "nothing is known";
  EXPECT_EQ(refusal({"It", "use less", 3 * mib + 1, 3 * mib, 0, 0, 1}),
            "It takes 4 MiB of the memory of X, which has 3 MiB: use less.");
  EXPECT_EQ(refusal({"It", "use less", 3 * mib, 30 * mib, 3 * mib, 2 * mib, 1}),
            "It takes 3 MiB in one buffer on X, which has at most 2 MiB: use less.");
  const std::string huge = refusal({"It", "use less", 0, 0, 0, 0, uint64_t{1} << 60});
  EXPECT_EQ(huge.rfind("It takes 1099511627776 MiB of the host's memory, which has no more than ", 0), 0u) << huge;
}

TEST(Application, UnknownWordsAreNamed) {
  experiment_request request;
  request.device.id = "host";
  request.axes.words["form"] = {"registers"};
  try {
    (void)chosen_words(request, "form", {"memory"}, {"memory"});
    FAIL();
  } catch (const usage_error& wrong) {
    EXPECT_STREQ(wrong.what(), "Axis form does not take 'registers' on host: it takes memory.");
  }
}

}  // namespace
}  // namespace gpusync::tool
