#include <gpusync/grid/tuning.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

namespace gpusync {
namespace {

using grid::counter_plan;
using grid::counter_rule;
using grid::counter_rules;

constexpr uint32_t any = counter_rules::any;
constexpr uint32_t unit = counter_rule::unit;

barrier_tuning read(const std::string& text) {
  std::istringstream stream(text);
  return barrier_tuning::read(stream, "my.table");
}

/// What read() says of a text that it refuses; empty if it takes it.
std::string complaint(const std::string& text) {
  try {
    read(text);
  } catch (const invalid_argument& wrong) {
    return wrong.what();
  }
  return "";
}

std::string written(const barrier_tuning& tuning) {
  std::ostringstream text;
  tuning.write(text);
  return text.str();
}

bool same(const counter_rule& a, const counter_rule& b) {
  return a.blocks_per_sm == b.blocks_per_sm && a.threads == b.threads && a.plan == b.plan;
}

bool same(const barrier_tuning& a, const barrier_tuning& b) {
  return a.device == b.device && a.rules.count == b.rules.count &&
         std::equal(a.rules.rules, a.rules.rules + a.rules.count, b.rules.rules,
                    [](const counter_rule& one, const counter_rule& other) { return same(one, other); });
}

/// Every valid choice of counters, copies, partitions and warps.
std::vector<counter_plan> all_plans() {
  std::vector<counter_plan> plans;
  using numbers = std::initializer_list<uint16_t>;
  for (const uint16_t counters : numbers{1, 2, 4, 8}) {
    for (const uint16_t copies : numbers{1, 2, 4, 8}) {
      for (const uint16_t partitions : numbers{1, 2}) {
        for (const uint16_t second : numbers{0, 1}) {
          const counter_plan plan{counters, copies, partitions, second, 200};
          if (grid::valid(plan)) plans.push_back(plan);
        }
      }
    }
  }
  return plans;
}

counter_plan any_plan() {
  counter_plan plan = *rc::gen::elementOf(all_plans());
  plan.poll_backoff = *rc::gen::inRange<uint32_t>(0, 100001);
  return plan;
}

uint32_t any_limit(uint32_t most) {
  return *rc::gen::oneOf(rc::gen::inRange<uint32_t>(1, most + 1), rc::gen::just(any));
}

barrier_tuning any_tuning(uint32_t most_quarters, uint32_t most_threads) {
  barrier_tuning made;
  made.device = *rc::gen::elementOf(std::vector<std::string>{"NVIDIA H200", "x", "a  device (v2), 100%"});
  made.rules.count = *rc::gen::inRange<uint32_t>(1, counter_rules::most + 1);
  for (uint32_t i = 0; i < made.rules.count; ++i) {
    made.rules.rules[i] = {any_limit(most_quarters), any_limit(most_threads), any_plan()};
  }
  return made;
}

void expect_good_table(const barrier_tuning& tuning) {
  ASSERT_GT(tuning.rules.count, 0u);
  ASSERT_LE(tuning.rules.count, counter_rules::most);
  for (uint32_t i = 0; i < tuning.rules.count; ++i) EXPECT_TRUE(grid::valid(tuning.rules.rules[i].plan)) << i;
  const counter_rule& last = tuning.rules.rules[tuning.rules.count - 1];
  EXPECT_EQ(last.blocks_per_sm, any);
  EXPECT_EQ(last.threads, any);
}

TEST(BarrierTuning, ReadsCommentsBlankLinesAnyAndQuarters) {
  const barrier_tuning tuning = read(
      "# before the header\n\n  gpusync-tuning 1  # version\r\ndevice  Some GPU \t# a name\n"
      "rule 0.25 32  1 1 2 0 200\n\trule any any 4 2 1 1 0 # the rest");
  EXPECT_EQ(tuning.device, "Some GPU");
  ASSERT_EQ(tuning.rules.count, 2u);
  EXPECT_TRUE(same(tuning.rules.rules[0], {1, 32, {1, 1, 2, 0, 200}}));
  EXPECT_TRUE(same(tuning.rules.rules[1], {any, any, {4, 2, 1, 1, 0}}));
}

RC_GTEST_PROP(BarrierTuning, IsReadAsItWasWritten, ())
{
  const barrier_tuning tuning = any_tuning(64 * unit, 1024);
  RC_ASSERT(same(read(written(tuning)), tuning));
}

RC_GTEST_PROP(BarrierTuning, HasNoLimitsThatAreReadButNotWrittenExactly, ())
{
  const barrier_tuning tuning = any_tuning(1000000, 1000000);
  RC_ASSERT(same(read(written(tuning)), tuning));
}

TEST(BarrierTuning, RefusesMalformedTablesNamingTheSourceAndTheLine) {
  const std::string head = "gpusync-tuning 1\n";
  for (const std::string line :
       {"gpusync-tuning", "gpusync-tuning 2", "gpusync-tuning 0", "gpusync-tuning -1", "gpusync-tuning one",
        "gpusync-tuning 1.5", "gpusync-tuning 1 and more", "tuning 1", "device H200", "rule any any 1 1 1 0 0"}) {
    const std::string sentence = complaint("# first\n" + line + "\nrule any any 1 1 1 0 0\n");
    EXPECT_NE(sentence.find("my.table, line 2: "), std::string::npos) << line << ": " << sentence;
    EXPECT_NE(sentence.find("gpusync-tuning 1"), std::string::npos) << line << ": " << sentence;
  }
  for (const std::string line :
       {"rules any any 1 1 1 0 0", "Rule any any 1 1 1 0 0", "gpusync-tuning 1", "colour red"}) {
    const std::string sentence = complaint(head + "device x\n" + line + "\n");
    EXPECT_NE(sentence.find("my.table, line 3: "), std::string::npos) << line << ": " << sentence;
    EXPECT_NE(sentence.find("`device NAME` or `rule"), std::string::npos) << line << ": " << sentence;
  }
  for (const std::string line : {"rule",
                                 "rule any",
                                 "rule any any",
                                 "rule any any 1 1 1 0",
                                 "rule x any 1 1 1 0 0",
                                 "rule any x 1 1 1 0 0",
                                 "rule any any any 1 1 0 0",
                                 "rule any any 1 1 1 0 any",
                                 "rule 0.3 any 1 1 1 0 0",
                                 "rule 0 any 1 1 1 0 0",
                                 "rule any 0 1 1 1 0 0",
                                 "rule any 32.5 1 1 1 0 0",
                                 "rule -1 any 1 1 1 0 0",
                                 "rule any -32 1 1 1 0 0",
                                 "rule 1e9 any 1 1 1 0 0",
                                 "rule any 1e9 1 1 1 0 0",
                                 "rule nan any 1 1 1 0 0",
                                 "rule inf any 1 1 1 0 0",
                                 "rule 1x any 1 1 1 0 0",
                                 "rule any any 1.5 1 1 0 0",
                                 "rule any any 1 1 1 0 0 0",
                                 "rule any any 1 1 1 0 0 junk",
                                 "rule any any 1 1 1 0 0junk",
                                 "rule any any 1 1 1 0 0.5",
                                 "rule any any 70000 1 1 0 0",
                                 "rule any any 1 1 1 0 99999999999"}) {
    const std::string sentence = complaint(head + line + "\n");
    EXPECT_NE(sentence.find("my.table, line 2: "), std::string::npos) << line << ": " << sentence;
    EXPECT_NE(sentence.find("seven numbers"), std::string::npos) << line << ": " << sentence;
  }
  for (const std::string plan : {"4 4 1 0 0", "8 2 1 0 0", "3 1 1 0 0", "0 1 1 0 0", "16 1 1 0 0", "1 3 1 0 0",
                                 "1 0 1 0 0", "1 1 3 0 0", "1 1 0 0 0", "1 1 1 2 0", "1 1 1 0 100001"}) {
    const std::string sentence = complaint(head + "\nrule any any " + plan + "\n");
    EXPECT_NE(sentence.find("my.table, line 3: "), std::string::npos) << plan << ": " << sentence;
    EXPECT_NE(sentence.find("1, 2, 4 or 8"), std::string::npos) << plan << ": " << sentence;
  }
}

TEST(BarrierTuning, RefusesNegativeNumbersEvenThoseThatWrapIntoBounds) {
  for (const std::string plan : {"-1 1 1 0 0", "-65535 1 1 0 0", "1 -65534 1 0 0", "1 1 -65535 0 0", "1 1 1 -65535 0",
                                 "1 1 1 0 -1", "1 1 1 0 -4294967096"}) {
    const std::string sentence = complaint("gpusync-tuning 1\nrule any any " + plan + "\n");
    EXPECT_NE(sentence.find("my.table, line 2: "), std::string::npos) << plan << ": " << sentence;
  }
}

TEST(BarrierTuning, RefusesTablesThatAreEmptyOrHaveNoOrTooManyRules) {
  for (const std::string text : {"", "\n\n", "# only a comment\n"}) {
    EXPECT_NE(complaint(text).find("my.table is empty"), std::string::npos) << text;
  }
  EXPECT_NE(complaint("gpusync-tuning 1\ndevice x\n").find("my.table has no rules"), std::string::npos);
  std::string text = "gpusync-tuning 1\n";
  for (uint32_t i = 0; i < counter_rules::most; ++i) text += "rule any any 1 1 1 0 0\n";
  EXPECT_EQ(read(text).rules.count, counter_rules::most);
  EXPECT_NE(complaint(text + "rule any any 1 1 1 0 0\n").find("my.table, line 18: a table has at most 16 rules"),
            std::string::npos);
}

TEST(BarrierTuning, RefusesAStreamThatCannotBeRead) {
  std::istringstream stream("gpusync-tuning 1\nrule any any 1 1 1 0 0\n");
  stream.setstate(std::ios::failbit);
  try {
    barrier_tuning::read(stream, "my.table");
    FAIL() << "it was not refused";
  } catch (const invalid_argument& wrong) {
    EXPECT_STREQ(wrong.what(), "my.table could not be read.");
  }
}

TEST(BarrierTuning, CheckRefusesRulesThatNoTextCouldHave) {
  const auto wrong_with = [](const barrier_tuning& tuning) -> std::string {
    try {
      tuning.check();
    } catch (const invalid_argument& wrong) {
      return wrong.what();
    }
    return "";
  };
  barrier_tuning tuning = barrier_tuning::generic();
  EXPECT_EQ(wrong_with(tuning), "");
  tuning.rules.rules[1].plan.copies = 3;
  EXPECT_NE(wrong_with(tuning).find("Rule 2 "), std::string::npos) << wrong_with(tuning);
  EXPECT_NE(wrong_with(tuning).find("3 copies"), std::string::npos) << wrong_with(tuning);
  tuning.rules.count = 1;
  EXPECT_EQ(wrong_with(tuning), "") << "rules beyond the count do not matter";
  for (const uint32_t count : {0u, counter_rules::most + 1}) {
    tuning.rules.count = count;
    EXPECT_NE(wrong_with(tuning).find("this one has " + std::to_string(count)), std::string::npos);
  }
}

RC_GTEST_PROP(BarrierTuning, AnyTextIsReadOrRefusedInWords, (const std::string& noise))
{
  const std::string good = written(barrier_tuning::generic());
  const auto where = *rc::gen::inRange<size_t>(0, good.size() + 1);
  std::string text = good;
  text.insert(where, noise);
  std::istringstream stream(text);
  try {
    const barrier_tuning tuning = barrier_tuning::read(stream, "my.table");
    RC_ASSERT(tuning.rules.count >= 1 && tuning.rules.count <= counter_rules::most);
    for (uint32_t i = 0; i < tuning.rules.count; ++i) RC_ASSERT(grid::valid(tuning.rules.rules[i].plan));
  } catch (const invalid_argument& wrong) {
    RC_ASSERT(std::string(wrong.what()).find("my.table") == 0u);
  }
}

TEST(BarrierTuning, ShipsTablesForTheH100AndTheH200ThatFitEveryGrid) {
  for (const char* device : {"NVIDIA H100 80GB HBM3", "NVIDIA H200"}) {
    const barrier_tuning tuning = barrier_tuning::shipped_for(device);
    EXPECT_EQ(tuning.device, device);
    expect_good_table(tuning);
  }
}

TEST(BarrierTuning, ShippedTablesAreConstants) {
  static_assert(grid::tuned::nvidia_h100_80gb_hbm3.rules.choose(132, 256, 132) == counter_plan{1, 1, 2, 0, 225});
  static_assert(grid::tuned::nvidia_h200.rules.choose(132, 256, 132) == counter_plan{1, 1, 2, 1, 175});
  static_assert(grid::tuned::all_valid());
  for (const grid::tuned_counters* one : grid::tuned::all) {
    EXPECT_TRUE(same(barrier_tuning::shipped_for(one->device), {one->device, one->rules})) << one->device;
  }
}

TEST(BarrierTuning, HeadersAreNamedAfterTheirDevice) {
  barrier_tuning tuning = barrier_tuning::generic();
  for (const auto& [device, name] :
       std::vector<std::pair<std::string, std::string>>{{"NVIDIA H100 80GB HBM3", "nvidia_h100_80gb_hbm3"},
                                                        {"  A \"B\" (c)", "a_b_c_"},
                                                        {"3D", "device_3d"},
                                                        {"", "device_"}}) {
    tuning.device = device;
    EXPECT_EQ(tuning.header_name(), name);
  }
  tuning.device = "A \"B\" \\c";
  std::ostringstream text;
  tuning.write_header(text);
  EXPECT_NE(text.str().find("    \"A \\\"B\\\" \\\\c\",\n    {\n        3,\n"), std::string::npos) << text.str();
}

TEST(BarrierTuning, DevicesThatNobodyHasTunedGetTheGenericTable) {
  for (const std::string device : {"", "NVIDIA H200 NVL", "NVIDIA H100 PCIe", "nvidia h200", "any"}) {
    EXPECT_TRUE(same(barrier_tuning::shipped_for(device), barrier_tuning::generic())) << device;
  }
  expect_good_table(barrier_tuning::generic());
}

TEST(CounterRules, TheFirstThatFitsIsTaken) {
  const counter_plan a{1, 1, 2, 0, 1}, b{1, 1, 2, 0, 2}, c{1, 1, 2, 0, 3}, d{1, 1, 2, 0, 4};
  counter_rules rules;
  rules.count = 4;
  rules.rules[0] = {1, 32, a};          // a block on every fourth SM
  rules.rules[1] = {unit, 256, b};      // on every SM
  rules.rules[2] = {any, 64, c};        // any number of small blocks
  rules.rules[3] = {2 * unit, 512, d};  // the last: for all others, whatever its limits
  EXPECT_EQ(rules.choose(33, 32, 132), a);
  EXPECT_EQ(rules.choose(34, 32, 132), b) << "too many blocks for the first";
  EXPECT_EQ(rules.choose(33, 33, 132), b) << "too many threads for the first";
  EXPECT_EQ(rules.choose(132, 256, 132), b);
  EXPECT_EQ(rules.choose(133, 64, 132), c);
  EXPECT_EQ(rules.choose(32767, 1, 132), c);
  EXPECT_EQ(rules.choose(133, 65, 132), d);
  EXPECT_EQ(rules.choose(32767, 1024, 132), d);
  EXPECT_EQ(rules.choose(1, 1024, 132), d);
}

TEST(CounterRules, AreUsableInConstantExpressions) {
  constexpr counter_rules rules{1, {{any, any, {8, 1, 2, 0, 0}}}};
  static_assert(rules.choose(1, 1, 1) == counter_plan{8, 1, 2, 0, 0});
  static_assert(grid::fit(rules.choose(4, 64, 1), 4, 64, 32) == counter_plan{4, 1, 2, 0, 0});
}

RC_GTEST_PROP(CounterRules, SomeRuleAlwaysFitsAndNoneBeforeItDoes, ())
{
  barrier_tuning tuning = any_tuning(8 * unit, 1024);
  for (uint32_t i = 0; i < tuning.rules.count; ++i) tuning.rules.rules[i].plan.poll_backoff = i;
  const auto members = *rc::gen::inRange<uint32_t>(1, 2000);
  const auto threads = *rc::gen::inRange<uint32_t>(1, 1025);
  const auto sm_count = *rc::gen::inRange<uint32_t>(1, 200);
  const uint32_t chosen = tuning.rules.choose(members, threads, sm_count).poll_backoff;
  const auto fits = [&](const counter_rule& rule) {
    const bool few = rule.blocks_per_sm == any || uint64_t{members} * unit <= uint64_t{rule.blocks_per_sm} * sm_count;
    return few && (rule.threads == any || threads <= rule.threads);
  };
  for (uint32_t i = 0; i < chosen; ++i) RC_ASSERT(!fits(tuning.rules.rules[i]));
  RC_ASSERT(chosen + 1 == tuning.rules.count || fits(tuning.rules.rules[chosen]));
}

/// Calls `check(plan, members, threads, warp_size)` for every plan on every grid worth trying.
template <class Check>
void for_all_grids(Check check) {
  for (const counter_plan& plan : all_plans()) {
    for (uint32_t members = 1; members <= 70; ++members) {
      for (const uint32_t threads : {1u, 2u, 3u, 31u, 32u, 33u, 40u, 64u, 1024u}) {
        for (const uint32_t warp_size : {1u, 32u}) {
          SCOPED_TRACE(testing::Message() << plan.sub_counters << " x " << plan.copies << ", " << plan.partitions
                                          << " partitions, second warp " << plan.second_warp << ", " << members
                                          << " members of " << threads << " threads in warps of " << warp_size);
          check(plan, members, threads, warp_size);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

/// The lanes that can add or poll at once.
uint32_t lanes_of(uint32_t threads, uint32_t warp_size) {
  return warp_size == 1 ? threads : std::min(threads, warp_size);
}

TEST(CounterPlan, AFittedPlanHasNoMoreCountersThanMembersNorLanesThanThreads) {
  for_all_grids([](const counter_plan& plan, uint32_t members, uint32_t threads, uint32_t warp_size) {
    const counter_plan fitted = grid::fit(plan, members, threads, warp_size);
    const uint32_t lanes = lanes_of(threads, warp_size);
    ASSERT_LE(fitted.sub_counters, members);
    ASSERT_LE(fitted.sub_counters, lanes);
    ASSERT_LE(uint32_t{fitted.partitions} * fitted.copies, lanes);
    const uint32_t first_adder = fitted.second_warp != 0 ? warp_size : 0;
    ASSERT_LE(first_adder + uint32_t{fitted.partitions} * fitted.copies, threads);
  });
}

TEST(CounterPlan, AFittedPlanIsValidAndNotLargerAndFitsAsItIs) {
  for_all_grids([](const counter_plan& plan, uint32_t members, uint32_t threads, uint32_t warp_size) {
    const counter_plan fitted = grid::fit(plan, members, threads, warp_size);
    ASSERT_TRUE(grid::valid(fitted)) << "powers of two stay powers of two";
    ASSERT_LE(fitted.sub_counters, plan.sub_counters);
    ASSERT_LE(fitted.copies, plan.copies);
    ASSERT_LE(fitted.partitions, plan.partitions);
    ASSERT_LE(fitted.second_warp, plan.second_warp);
    ASSERT_EQ(fitted.poll_backoff, plan.poll_backoff);
    ASSERT_EQ(grid::fit(fitted, members, threads, warp_size), fitted);
  });
}

TEST(CounterPlan, APlanThatFitsStaysAsItIs) {
  for_all_grids([](const counter_plan& plan, uint32_t members, uint32_t threads, uint32_t warp_size) {
    const uint32_t lanes = lanes_of(threads, warp_size), adders = uint32_t{plan.partitions} * plan.copies;
    if (plan.sub_counters > std::min(members, lanes) || adders > lanes) return;
    if (plan.second_warp != 0 && warp_size + adders > threads) return;
    ASSERT_EQ(grid::fit(plan, members, threads, warp_size), plan);
  });
}

}  // namespace
}  // namespace gpusync
