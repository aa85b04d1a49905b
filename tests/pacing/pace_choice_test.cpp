// The automatic choice, on loops that only pretend to run: times with known truths, noise and drift.
#include "pacing/pace_choice.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include <gpusync/core/error.hpp>

#include "measure/interruption.hpp"

namespace gpusync::tool {
namespace {

/// What a variant would take without noise, in percent of the plain loop.
struct truth {
  const char* name;
  uint32_t every;
  paced_role role;
  double percent;
};

/// As many variants as a loop has.
std::vector<truth> usual(double control = 100, double barriers = 102) {
  return {{"none", 1, paced_role::plain, 100},
          {"control-1", 1, paced_role::control, control},
          {"control-8", 8, paced_role::control, control},
          {"block-1", 1, paced_role::paced, barriers + 4},
          {"block-8", 8, paced_role::paced, barriers},
          {"warps8-1", 1, paced_role::paced, barriers + 2},
          {"warps8-8", 8, paced_role::paced, barriers + 1},
          {"lead1-1", 1, paced_role::lead, barriers + 3},
          {"lead1-8", 8, paced_role::lead, barriers + 1},
          {"lead4-8", 8, paced_role::lead, barriers + 1},
          {"counted1-1", 1, paced_role::counted, 103},
          {"counted1-8", 8, paced_role::counted, 103},
          {"counted4-8", 8, paced_role::counted, 103}};
}

/// Contenders of a machine whose clock drifts, with noise of their own in percent; now and then a run is disturbed.
class pretended_loop {
 public:
  pretended_loop(const std::vector<truth>& all, double noise, uint32_t seed) : dice_(seed), spread_(0, noise / 100) {
    for (const truth& each : all) {
      contenders_.push_back({each.name, each.every, each.role, [this, percent = each.percent] {
                               ++runs_;
                               const double drift = 1 + 0.0002 * runs_;
                               const double disturbed = dice_() % 50 == 0 ? 1.2 : 1;
                               return percent * 1e4 * drift * disturbed * (1 + spread_(dice_));
                             }});
    }
  }
  std::vector<pace_contender>& contenders() { return contenders_; }
  int runs() const { return runs_; }

 private:
  std::vector<pace_contender> contenders_;
  std::mt19937 dice_;
  std::normal_distribution<double> spread_;
  int runs_ = 0;
};

size_t place_of(const std::vector<truth>& all, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(all, name, &truth::name) - all.begin());
}

truth chosen_of(const std::vector<truth>& all, double noise, uint32_t seed) {
  pretended_loop loop(all, noise, seed);
  return all[choose_pace(loop.contenders(), {}).choice];
}

/// The fastest of what keeps nobody in step.
double fastest_base_of(const std::vector<truth>& all) {
  double least = 100;
  for (const truth& each : all) {
    if (each.role == paced_role::control) least = std::min(least, each.percent);
  }
  return least;
}

// Any truths: what is chosen is at most 1 % slower than the faster of none and the controls. Noise of 0.6 % is
// about the most that the paired runs of a GPU show.
RC_GTEST_PROP(PaceChoice, IsNeverMuchSlowerThanTheFasterOfNoneAndTheControls, ())
{
  std::vector<truth> all = usual();
  for (truth& each : all) {
    if (each.role != paced_role::plain) each.percent = *rc::gen::inRange(700, 1300) / 10.0;
  }
  const double noise = *rc::gen::inRange(0, 7) / 10.0;
  const truth chosen = chosen_of(all, noise, *rc::gen::arbitrary<uint32_t>());
  RC_ASSERT(chosen.percent <= 1.01 * fastest_base_of(all));
}

// The hardest case: every barrier is a little slower than the controls, so that chance alone could take one.
TEST(PaceChoice, TakesALosingBarrierInAtMostOneOfTwenty) {
  int taken = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::vector<truth> all = usual();
    for (truth& each : all) {
      if (is_barrier(each.role)) each.percent = 100.1;
    }
    taken += is_barrier(chosen_of(all, 1, seed).role) ? 1 : 0;
  }
  EXPECT_LE(taken, 20);
}

// Noise of 0.5 % is the most that the paired runs of a GPU show where L1 does not thrash.
TEST(PaceChoice, FindsAGainOfThreePercentInTheNoise) {
  int found = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<truth> all = usual();
    all[place_of(all, "block-8")].percent = 97;
    found += chosen_of(all, 0.5, seed).name == std::string("block-8") ? 1 : 0;
  }
  EXPECT_GE(found, 198);
}

TEST(PaceChoice, FindsAGainAtTheThresholdMostly) {
  int found = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<truth> all = usual();
    all[place_of(all, "warps8-1")].percent = 98.8;
    found += chosen_of(all, 0.3, seed).name == std::string("warps8-1") ? 1 : 0;
  }
  EXPECT_GE(found, 190);
}

// 15 % of the time without barriers, all of it the compiler's: the control is taken, which waits for nobody.
TEST(PaceChoice, ACompilersGainIsNotTheBarriers) {
  int barriers = 0, fences = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<truth> all = usual(85, 85.5);
    const truth chosen = chosen_of(all, 0.5, seed);
    barriers += is_barrier(chosen.role) ? 1 : 0;
    fences += chosen.role == paced_role::control ? 1 : 0;
  }
  EXPECT_EQ(barriers, 0);
  EXPECT_EQ(fences, 200);
}

// What a lead gains must be a gain on counting without waiting; what counts alone is no offer, however fast.
TEST(PaceChoice, ALeadsCountingIsTheCompilersToo) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::vector<truth> all = usual();
    all[place_of(all, "lead1-8")].percent = 90;
    all[place_of(all, "counted1-8")].percent = 89.5;
    const truth chosen = chosen_of(all, 0.5, seed);
    EXPECT_FALSE(is_barrier(chosen.role)) << chosen.name;
    EXPECT_FALSE(chosen.role == paced_role::counted);
    all[place_of(all, "counted1-8")].percent = 100;
    EXPECT_STREQ(chosen_of(all, 0.5, seed).name, "lead1-8");
  }
}

// A gain that is no lead's is found beside a faster lead whose gain is the compiler's.
TEST(PaceChoice, TakesTheFastestOfThoseThatPay) {
  std::vector<truth> all = usual();
  all[place_of(all, "lead1-8")].percent = 90;
  all[place_of(all, "counted1-8")].percent = 89;
  all[place_of(all, "block-8")].percent = 93;
  EXPECT_STREQ(chosen_of(all, 0.3, 1).name, "block-8");
}

TEST(PaceChoice, CostsABoundedNumberOfRuns) {
  pretended_loop loop(usual(), 0.5, 1);
  const pace_choice made = choose_pace(loop.contenders(), {});
  EXPECT_EQ(made.runs, static_cast<uint64_t>(loop.runs()));
  const pace_choice_options usual_ones;
  const size_t last = 1 + 2 + 3 + 2 * 3;  // none, two controls, three barriers with at most two more controls each
  EXPECT_LE(made.runs, (usual_ones.look_rounds + 1) * 13 + (usual_ones.rounds + 1) * last);
  EXPECT_EQ(made.why.rounds, usual_ones.rounds);
  // Where every barrier is hopeless the last rounds are of none and controls alone.
  pretended_loop bad(usual(100, 130), 0.5, 1);
  const pace_choice without = choose_pace(bad.contenders(), {});
  EXPECT_FALSE(without.why.best);
  EXPECT_LT(without.runs, made.runs);
}

TEST(PaceChoice, AlonePlainLoopIsTaken) {
  pretended_loop loop({{"none", 1, paced_role::plain, 100}}, 0.5, 1);
  EXPECT_EQ(choose_pace(loop.contenders(), {}).choice, 0u);
}

TEST(PaceChoice, FewerRoundsThanCarryAVerdictTakeNoBarrier) {
  std::vector<truth> all = usual();
  all[place_of(all, "block-8")].percent = 50;
  pretended_loop loop(all, 0, 1);
  pace_choice_options few;
  few.rounds = 4;
  EXPECT_FALSE(is_barrier(all[choose_pace(loop.contenders(), few).choice].role));
}

TEST(PaceChoice, WhatFailsCannotBeChosenAndIsSaid) {
  std::vector<truth> all = usual();
  const size_t block = place_of(all, "block-8");
  all[block].percent = 50;
  all[place_of(all, "warps8-8")].percent = 90;
  for (const int fails_at : {1, 3, 12}) {
    pretended_loop loop(all, 0.3, 1);
    int runs = 0;
    loop.contenders()[block].run = [&, was = loop.contenders()[block].run] {
      if (++runs == fails_at) throw error("a wrong word");
      return was();
    };
    const pace_choice made = choose_pace(loop.contenders(), {});
    EXPECT_STREQ(all[made.choice].name, "warps8-8");
    EXPECT_TRUE(made.failure);
  }
  pretended_loop loop(all, 0.3, 1);
  loop.contenders()[0].run = []() -> double { throw error("the plain loop fails"); };
  EXPECT_THROW((void)choose_pace(loop.contenders(), {}), error);
}

TEST(PaceChoice, EndsWhenTheUserWants) {
  pretended_loop loop(usual(), 0.3, 1);
  pace_choice_options options;
  options.interrupted = [&] { return loop.runs() > 60; };
  EXPECT_THROW((void)choose_pace(loop.contenders(), options), run_interrupted);
  EXPECT_LE(loop.runs(), 62);
}

TEST(PaceJudgement, CallsAGainWhatIsOneAndTakesWhatMayBe) {
  const gain sure{1.2, interval{0.8, 1.5}}, small{0.7, interval{0.5, 0.9}}, perhaps{0.8, interval{0.3, 1.2}},
      noisy{5, interval{-1, 9}}, loss{-2, interval{-3, -1}}, unknown{5, std::nullopt};
  EXPECT_TRUE(is_gain(sure) && is_worth_taking(sure));
  EXPECT_FALSE(is_gain(small) || is_worth_taking(small)) << "for certain less than a gain";
  EXPECT_TRUE(!is_gain(perhaps) && is_worth_taking(perhaps));
  EXPECT_FALSE(is_gain(noisy) || is_worth_taking(noisy));
  EXPECT_TRUE(is_loss(loss) && !is_loss(noisy));
  EXPECT_FALSE(is_gain(unknown) || is_worth_taking(unknown));
}

}  // namespace
}  // namespace gpusync::tool
