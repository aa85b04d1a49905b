// Tables of plans for reductions: read, written, refused.
#include <gpusync/reduce/tuning.hpp>

#include <gtest/gtest.h>

#include <sstream>

#include <gpusync/grid/tuning.hpp>

namespace gpusync::test {
namespace {

reduction_tuning read(const std::string& text) {
  std::istringstream stream(text);
  return reduction_tuning::read(stream, "a table");
}

std::string refusal(const std::string& text) {
  try {
    (void)read(text);
  } catch (const invalid_argument& refused) {
    return refused.what();
  }
  return "not refused";
}

const std::string head = "gpusync-tuning 1\ndevice Some GPU\n";
const std::string doubles = "reduce double any ticket-dealt 512 4 4\n";

TEST(ReductionTuning, WhatIsWrittenIsReadAgain) {
  reduction_tuning made = reduction_tuning::generic();
  made.device = "Some GPU";
  made.check();
  std::ostringstream text;
  made.write(text);
  const reduction_tuning again = read(text.str());
  EXPECT_EQ(again.device, made.device);
  ASSERT_EQ(again.float_rules.size(), made.float_rules.size());
  for (size_t i = 0; i < made.float_rules.size(); ++i) {
    EXPECT_EQ(again.float_rules[i].bytes, made.float_rules[i].bytes);
    EXPECT_TRUE(again.float_rules[i].plan == made.float_rules[i].plan) << i;
  }
  ASSERT_EQ(again.double_rules.size(), made.double_rules.size());
}

TEST(ReductionTuning, StandsInOneFileWithTheRulesOfBarriers) {
  std::ostringstream text;
  barrier_tuning::generic().write(text);
  reduction_tuning::generic().write_rules(text);
  std::istringstream for_barriers(text.str());
  EXPECT_EQ(barrier_tuning::read(for_barriers, "a table").rules.count, barrier_tuning::generic().rules.count);
  EXPECT_EQ(read(text.str()).double_rules.size(), reduction_tuning::generic().double_rules.size());
}

TEST(ReductionTuning, EveryRuleHoldsWhatItIsFor) {
  const reduction_tuning made = reduction_tuning::generic();
  for (const reduction_rules& rules : {made.float_rules, made.double_rules}) {
    for (const reduction_rule& rule : rules) EXPECT_LE(rule.bytes, rule.plan.capacity(reduction_tuning::most_tiles));
    EXPECT_EQ(rules.back().bytes, reduction_rule::any);
  }
}

TEST(ReductionTuning, RefusesWhatIsNoTable) {
  EXPECT_NE(refusal("").find("is empty"), std::string::npos);
  EXPECT_NE(refusal(head).find("here there is none"), std::string::npos);
  EXPECT_NE(refusal(head + "reduce float 2048 one-block 32 4\n" + doubles).find("that one is missing"),
            std::string::npos);
  EXPECT_NE(refusal(head + "reduce half any ticket 32 4\n").find("line 3: a line for reductions is"),
            std::string::npos);
  EXPECT_NE(refusal(head + "reduce float any tickets 32 4\n").find("FORM is one-block"), std::string::npos);
  EXPECT_NE(refusal(head + "reduce float any cluster-dealt 32 4 2\n").find("FORM is one-block"), std::string::npos);
  EXPECT_NE(refusal(head + "reduce float 4096 cluster 256 4 64\n").find("2, 4, 8 or 16"), std::string::npos);
  EXPECT_NE(refusal(head + "reduce float any ticket-dealt 32 4\n").find("COUNT"), std::string::npos);
  EXPECT_NE(refusal(head + "reduce float 4096 one-block 32 4\nreduce float any ticket-dealt 512 4 4\n" + doubles)
                .find("which holds 2048"),
            std::string::npos);
  EXPECT_NE(refusal(head +
                    "reduce float 2048 one-block 32 4\nreduce float 1024 one-block 32 4\n"
                    "reduce float any ticket-dealt 512 4 4\n" +
                    doubles)
                .find("1024 comes behind 2048"),
            std::string::npos);
  EXPECT_NE(refusal(head + "reduce float -1 one-block 32 4\n").find("line 3"), std::string::npos);
  EXPECT_NE(refusal(head + "sum float any\n").find("`reduce …`"), std::string::npos);
}

}  // namespace
}  // namespace gpusync::test
