#include "cli/time_plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace gpusync::tool {
namespace {

planned_sweep sweep_of(size_t cases, double longest) {
  planned_sweep sweep{{}, longest};
  for (size_t i = 0; i < cases; ++i) sweep.cases.push_back("case " + std::to_string(i));
  return sweep;
}

/// What comes of a plan whose cases take a part of what they may at most.
struct course {
  std::vector<std::vector<size_t>> measured;  ///< cases of each job
  std::vector<bool> quick;
  double took = 0;
  std::vector<size_t> unreached;
  size_t left_out = 0;
};
course followed(const std::vector<planned_job>& jobs, double seconds, double part, bool only_quick = false) {
  course found;
  double now = 100;
  time_plan plan(jobs, seconds, [&] { return now; });
  for (size_t i = 0; i < jobs.size(); ++i) {
    found.quick.push_back(plan.begin(i, only_quick));
    const planned_sweep& sweep = found.quick.back() ? jobs[i].quick : jobs[i].full;
    found.measured.emplace_back();
    for (size_t c = 0; c < sweep.cases.size(); ++c) {
      if (plan.leaves_out(sweep.cases[c])) continue;
      now += sweep.longest * part;
      found.measured.back().push_back(c);
    }
  }
  plan.end();
  found.took = now - 100;
  found.unreached = plan.unreached();
  found.left_out = plan.left_out();
  EXPECT_DOUBLE_EQ(plan.gone(), found.took);
  return found;
}

TEST(TimePlan, MeasuresEverythingWhereThereIsTime) {
  const std::vector<planned_job> jobs(3, {sweep_of(5, 2), sweep_of(2, 1)});
  const course all = followed(jobs, 100, 1);
  for (const auto& measured : all.measured) EXPECT_EQ(measured, (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(all.quick, std::vector<bool>(3, false));
  EXPECT_EQ(all.left_out, 0u);
  EXPECT_TRUE(all.unreached.empty());
  EXPECT_EQ(followed(jobs, 100, 1, true).quick, std::vector<bool>(3, true)) << "if asked for";
}

TEST(TimePlan, TakesCasesFromAllOverASweepThatIsTooLong) {
  const course all = followed({{sweep_of(101, 1), sweep_of(2, 1)}}, 11, 0.5);
  ASSERT_GE(all.measured[0].size(), 5u);
  EXPECT_EQ(all.measured[0].front(), 0u);
  EXPECT_EQ(all.measured[0].back(), 100u);
  for (size_t i = 1; i < all.measured[0].size(); ++i) EXPECT_LE(all.measured[0][i] - all.measured[0][i - 1], 12u);
  EXPECT_LE(all.took, 11);
}

TEST(TimePlan, TakesTheQuickSweepWhereTheFullOneIsTooLong) {
  const course all = followed({{sweep_of(50, 9), sweep_of(3, 2)}, {sweep_of(6, 1), sweep_of(2, 1)}}, 20, 0.5);
  EXPECT_EQ(all.quick, (std::vector<bool>{true, false}));
  EXPECT_EQ(all.measured[0], (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(all.measured[1].size(), 6u);
}

TEST(TimePlan, SaysWhomItDidNotReach) {
  const course all = followed(std::vector<planned_job>(10, {sweep_of(4, 4), sweep_of(4, 4)}), 12, 1);
  EXPECT_FALSE(all.unreached.empty());
  for (const size_t job : all.unreached) EXPECT_TRUE(all.measured[job].empty());
  EXPECT_LE(all.took, 12 + 4);
}

TEST(TimePlan, AJobWhoseCasesTakeTooLongTakesNothingFromOthers) {
  double now = 0;
  time_plan plan(std::vector<planned_job>(4, {sweep_of(8, 2), sweep_of(8, 2)}), 40, [&] { return now; });
  (void)plan.begin(0, true);
  size_t measured = 0;
  for (const std::string& what : sweep_of(8, 2).cases) {
    if (plan.leaves_out(what)) continue;
    now += 8;  // four times what was said
    ++measured;
  }
  EXPECT_EQ(measured, 1u);
  EXPECT_FALSE(plan.begin(1, true) && plan.leaves_out("case 7"));
}

TEST(TimePlan, CasesThatWereMeasuredBeforeCostNothing) {
  double now = 0;
  time_plan plan({{sweep_of(6, 1), sweep_of(6, 1)}}, 100, [&] { return now; });
  EXPECT_FALSE(plan.begin(0, false));
  EXPECT_FALSE(plan.leaves_out("case 4")) << "the four before are not asked for";
  now += 1;
  plan.end();
  EXPECT_EQ(plan.measured(), 1u);
  EXPECT_TRUE(plan.unreached().empty());
}

RC_GTEST_PROP(TimePlan, KeepsToItsTime, ())
{
  const auto number = [](int from, int to) { return static_cast<double>(*rc::gen::inRange(from, to)) / 10; };
  std::vector<planned_job> jobs;
  double longest = 0;
  for (int i = *rc::gen::inRange(1, 30); i > 0; --i) {
    const double full = number(5, 90), quick = full / number(10, 50);
    longest = std::max(longest, full);
    jobs.push_back(
        {sweep_of(*rc::gen::inRange<size_t>(0, 60), full), sweep_of(*rc::gen::inRange<size_t>(0, 6), quick)});
  }
  const double seconds = number(10, 3000);
  const course all = followed(jobs, seconds, number(1, 10), *rc::gen::arbitrary<bool>());
  RC_ASSERT(all.took <= seconds + longest);
  for (const size_t job : all.unreached) RC_ASSERT(all.measured[job].empty());
}

}  // namespace
}  // namespace gpusync::tool
