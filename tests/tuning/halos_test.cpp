#include "tuning/halos.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <sstream>

#include "support/refusal.hpp"

namespace gpusync::tool {
namespace {

std::string refusal(const std::string& text) {
  std::istringstream from(text);
  return test::refusal([&] { (void)halo_rule::read(from, "table"); });
}

TEST(HaloRule, IsReadAsItWasWritten) {
  std::ostringstream text;
  text << "gpusync-tuning 1\ndevice some GPU\nrule any any 1 1 1 0 0\n";
  halo_rule{1000, 3, 250}.write_rule(text);
  std::istringstream from(text.str());
  const halo_rule found = halo_rule::read(from, "table");
  EXPECT_EQ(found.most_polled_bytes, 1000u);
  EXPECT_EQ(found.most_words_a_thread, 3u);
  EXPECT_EQ(found.poll_backoff, 250u);
}

TEST(HaloRule, IsRefusedIfItIsNone) {
  EXPECT_NE(refusal("gpusync-tuning 1\n").find("has no line `halo"), std::string::npos);
  EXPECT_NE(refusal("gpusync-tuning 1\nhalo 1 2\n").find("line 2"), std::string::npos);
  EXPECT_NE(refusal("gpusync-tuning 1\nhalo -1 2 3\n").find("line 2"), std::string::npos);
  EXPECT_NE(refusal("gpusync-tuning 1\nhalo 1 2 3 4\n").find("line 2"), std::string::npos);
  EXPECT_NE(refusal("gpusync-tuning 1\nhalo 1 2 10001\n").find("at most 10000"), std::string::npos);
  EXPECT_NE(refusal("gpusync-tuning 1\nhalo 1 2 3\nhalo 1 2 3\n").find("line 3"), std::string::npos);
}

TEST(HaloRule, TakesWordsUpToItsLimits) {
  const halo_rule rule{132 * 2 * 256 * 8, 2, 0};
  EXPECT_EQ(rule.choose(132, 2, 256, 4, 256), halo_form::words);
  EXPECT_EQ(rule.choose(133, 2, 256, 4, 256), halo_form::flags) << "more blocks poll more";
  EXPECT_EQ(rule.choose(132, 2, 256, 8, 256), halo_form::flags) << "words of 8 bytes are polled as 16";
  EXPECT_EQ(rule.choose(66, 2, 512, 4, 256), halo_form::words);
  EXPECT_EQ(rule.choose(66, 2, 512, 4, 255), halo_form::flags) << "three words a thread";
}

TEST(HaloRule, ManySlotsArePolledLaterAndFewALittle) {
  const halo_rule rule{0, 1, 200};
  EXPECT_EQ(rule.backoff_of(halo_form::words, 1, 132 * 256), 66u);
  EXPECT_EQ(rule.backoff_of(halo_form::words, 3, 264 * 512), 66u);
  EXPECT_EQ(rule.backoff_of(halo_form::words, 2, 1056 * 256), 0u) << "at once in a large grid";
  EXPECT_EQ(rule.backoff_of(halo_form::flags, 2, 132 * 256), 0u) << "flags at once";
  EXPECT_EQ(rule.backoff_of(halo_form::flags, 8, 132 * 256), 400u);
  EXPECT_EQ((halo_rule{0, 1, 0}.backoff_of(halo_form::words, 2, 1)), 0u);
  EXPECT_EQ(rule.backoff_of(halo_form::words, 4, 132 * 256), 200u);
  EXPECT_EQ(rule.backoff_of(halo_form::words, 6, 1056 * 256), 200u);
  EXPECT_EQ(rule.backoff_of(halo_form::words, 8, 132 * 256), 400u);
  EXPECT_EQ(rule.backoff_of(halo_form::words, 26, 1056 * 256), 400u);
}

TEST(TunedHalos, TheRuleFollowsWhatWasMeasured) {
  // Of one slot and blocks of 32 threads: blocks x words x 8 bytes are polled, words / 32 by a thread.
  const std::vector<tuned_halo> found = {{4, 1, 32, 32, 0.5, 1.0},
                                         {16, 1, 32, 32, 0.8, 1.1},
                                         {64, 1, 32, 32, 2.0, 1.2},
                                         {1, 1, 128, 32, 1.6, 1.1},
                                         {1, 1, 64, 32, 0.6, 1.0}};
  const halo_rule rule = rule_for(found, 300);
  EXPECT_EQ(rule.most_polled_bytes, 4096u);
  EXPECT_EQ(rule.most_words_a_thread, 2u);
  EXPECT_EQ(rule.poll_backoff, 300u);
  EXPECT_DOUBLE_EQ(worst_of(rule, found), 1);
  const std::string lines = halo_lines(rule, found);
  EXPECT_NE(lines.find("\nhalo 4096 2 300\n"), std::string::npos);
}

TEST(TunedHalos, WordsAreNeverTakenWhereFlagsAreAlwaysBetter) {
  const std::vector<tuned_halo> found = {{1, 1, 32, 32, 2, 1}, {2, 1, 32, 32, 3, 1}};
  EXPECT_DOUBLE_EQ(worst_of(rule_for(found, 0), found), 1);
}

RC_GTEST_PROP(TunedHalos, NoOtherRuleIsLessWrong, ())
{
  std::vector<tuned_halo> found;
  const auto count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) {
    found.push_back({*rc::gen::inRange<uint32_t>(1, 6), 1, *rc::gen::inRange<uint32_t>(1, 4), 1,
                     static_cast<double>(*rc::gen::inRange(1, 9)), static_cast<double>(*rc::gen::inRange(1, 9))});
  }
  const double worst = worst_of(rule_for(found, 0), found);
  for (uint64_t polled = 0; polled < 25; ++polled) {
    for (uint32_t words = 1; words < 5; ++words) RC_ASSERT(worst <= worst_of({polled * 8, words, 0}, found));
  }
}

}  // namespace
}  // namespace gpusync::tool
