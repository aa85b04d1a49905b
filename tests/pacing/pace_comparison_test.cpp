// Trials, comparison and verdict, on a kernel that only pretends to run.
#include "pacing/pace_comparison.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "measure/stuck_launch.hpp"
#include "pacing/pace_rows.hpp"
#include "pacing/pace_verdict.hpp"

namespace gpusync::tool {
namespace {

/// What a variant pretends.
struct pretence {
  double microseconds = 1000;
  double noise = 0.002;  ///< of its own, as a part; what drifts is in all
  residency room{8, 0, -1, 32, 0};
  int wrong_from = 1 << 30;  ///< the run from which on its results are wrong
  int stuck_from = 1 << 30, fails_from = 1 << 30;
};

class pretended_kernel : public paced_kernel {
 public:
  explicit pretended_kernel(std::vector<pretence> all) : all_(std::move(all)), runs_(all_.size()) {}
  ~pretended_kernel() override { stuck_devices().clear(); }

  residency room_of(size_t variant) override { return all_[variant].room; }
  paced_run run(size_t variant, double limit_s) override {
    const pretence& one = all_[variant];
    const int run = ++runs_[variant];
    ++clock_;
    if (run >= one.stuck_from) throw stuck_launch("cuda:9", "A launch has not ended in " + std::to_string(limit_s));
    if (run >= one.fails_from) throw runtime_failure("an illegal address", 700);
    const double drift = 1 + 0.003 * clock_;  // of the machine, which becomes slower
    const double own = one.noise * ((run * 7919 + static_cast<int>(variant) * 31) % 11 - 5) / 5;
    paced_run done{one.microseconds * 1e3 * drift * (1 + own), 0, 0, ""};
    if (has_reference_) {
      done.compared = 100;
      if (run >= one.wrong_from) done = {done.nanoseconds, 100, 3, "argument 2, element 7"};
    }
    return done;
  }
  void keep_as_reference() override { has_reference_ = true; }

 private:
  std::vector<pretence> all_;
  std::vector<int> runs_;
  int clock_ = 0;
  bool has_reference_ = false;
};

const std::vector<pace_variant> variants = pace_variants(true, {4}, 256);
constexpr size_t none = 0, fence = 1, warp = 2, block = 3, fence4 = 4, warp4 = 5, block4 = 6;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const pace_variant& each : variants) all.push_back(each.name);
  return all;
}

std::map<std::string, trial_outcome> all_right() {
  std::map<std::string, trial_outcome> trials;
  for (const std::string& name : names()) trials[name] = {trial_end::right, ""};
  return trials;
}

/// Those pretences that differ from the usual.
std::vector<kernel_variant> compared(const std::map<size_t, pretence>& other,
                                     const std::map<std::string, trial_outcome>& trials = all_right()) {
  std::vector<pretence> all(variants.size());
  for (const auto& [variant, how] : other) all[variant] = how;
  pretended_kernel kernel(all);
  pace_comparison_options options;
  options.quick = true;
  return compare_paced(kernel, variants, trials, options);
}

pretence taking(double microseconds) {
  pretence one;
  one.microseconds = microseconds;
  return one;
}

TEST(PaceVerdict, AGainOfTheBarrierIsTheBarriers) {
  const pace_verdict v = judge_paced(compared({{block, taking(950)}, {block4, taking(880)}}));
  EXPECT_EQ(v.finding, pace_finding::barrier_gains);
  EXPECT_EQ(v.best, "block/4");
  EXPECT_NEAR(v.total.percent, 12, 0.5);
  EXPECT_NEAR(v.compilers.percent + v.barriers.percent, v.total.percent, 0.1);
  EXPECT_NEAR(v.barriers.percent, 12, 0.5);
  ASSERT_TRUE(v.barriers.between);
  EXPECT_TRUE(v.barriers.between->contains(v.barriers.percent));
  EXPECT_EQ(v.rounds, 11u);
  EXPECT_EQ(v.sentence.rfind("Yes, block/4: of the 1", 0), 0u) << v.sentence;
}

TEST(PaceVerdict, AGainThatAControlHasIsTheCompilers) {
  for (const size_t control : {fence, warp, fence4, warp4}) {
    const pace_verdict v = judge_paced(compared({{control, taking(800)}, {block, taking(820)}}));
    EXPECT_EQ(v.finding, pace_finding::compiler_gains) << v.sentence;
    EXPECT_EQ(v.base, variants[control].name);
    EXPECT_NEAR(v.total.percent, 18, 0.5);
    EXPECT_NEAR(v.compilers.percent, 20, 0.5);
    EXPECT_NEAR(v.barriers.percent, -2, 0.5);
    EXPECT_EQ(v.sentence.rfind("No: ", 0), 0u) << v.sentence;
  }
}

TEST(PaceVerdict, AGainIsSharedBetweenCompilerAndBarrier) {
  const pace_verdict v = judge_paced(compared({{fence, taking(900)}, {block, taking(800)}}));
  EXPECT_EQ(v.finding, pace_finding::barrier_gains);
  EXPECT_NEAR(v.total.percent, 20, 0.5);
  EXPECT_NEAR(v.compilers.percent, 10, 0.5);
  EXPECT_NEAR(v.barriers.percent, 10, 0.5);
}

TEST(PaceVerdict, LossesSmallGainsAndNoiseAreNoGain) {
  EXPECT_EQ(judge_paced(compared({{block, taking(1160)}, {block4, taking(1040)}})).finding, pace_finding::loses);
  // Also beside a control that gains: what is slower than nothing is a loss.
  const pace_verdict beside =
      judge_paced(compared({{warp, taking(970)}, {block, taking(1160)}, {block4, taking(1040)}}));
  EXPECT_EQ(beside.finding, pace_finding::loses);
  EXPECT_NE(beside.sentence.find("warp-sync alone"), std::string::npos) << beside.sentence;
  EXPECT_EQ(judge_paced(compared({{block, taking(994)}})).finding, pace_finding::no_gain);
  pretence noisy = taking(985);
  noisy.noise = 0.2;
  EXPECT_EQ(judge_paced(compared({{block, noisy}, {block4, taking(1500)}})).finding, pace_finding::no_gain);
  EXPECT_EQ(judge_paced(compared({})).finding, pace_finding::no_gain);
}

TEST(PaceVerdict, OfNothingButNoiseItFindsAGainInAtMostOneOfTwenty) {
  int found = 0;
  uint32_t state = 1;
  const auto next = [&state] {  // small steps suffice: uniform, symmetric
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / (1 << 24);
  };
  for (int run = 0; run < 300; ++run) {
    std::vector<kernel_variant> all(variants.size());
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].what = variants[i];
      all[i].found = kernel_variant::state::measured;
      for (int round = 0; round < 11; ++round) all[i].nanoseconds.push_back(1e6 * (1 + 0.2 * next()));
    }
    found += judge_paced(all).finding == pace_finding::barrier_gains ? 1 : 0;
  }
  EXPECT_LE(found, 15);
}

TEST(PaceVerdict, FewRoundsSayNothing) {
  std::vector<kernel_variant> all = compared({{block, taking(500)}});
  for (kernel_variant& each : all) each.nanoseconds.resize(3);
  EXPECT_EQ(judge_paced(all).finding, pace_finding::too_few);
}

TEST(PaceVerdict, OccupancyIsNoGainOfTheBarrier) {
  pretence other = taking(500);
  other.room.blocks_per_sm = 7;
  const std::vector<kernel_variant> all = compared({{block, other}});
  EXPECT_EQ(all[block].found, kernel_variant::state::other_room);
  EXPECT_NE(all[block].reason.find("7 blocks"), std::string::npos) << all[block].reason;
  EXPECT_EQ(judge_paced(all).best, "block/4");
  // With the control in the same room it is the compiler's, and the barrier is compared with that.
  pretence control = taking(490);
  control.room.blocks_per_sm = 7;
  const pace_verdict v = judge_paced(compared({{block, other}, {warp, control}}));
  EXPECT_EQ(v.finding, pace_finding::compiler_gains);
  EXPECT_EQ(v.base, "warp-sync");
  pretence shared = taking(500);
  shared.room.static_shared = 12;
  EXPECT_EQ(compared({{block, shared}})[block].found, kernel_variant::state::other_room);
}

TEST(PaceComparison, AWrongResultInAnyRunRefusesTheMarks) {
  pretence wrong = taking(500);
  wrong.wrong_from = 7;
  const std::vector<kernel_variant> all = compared({{block, wrong}});
  EXPECT_EQ(all[block].found, kernel_variant::state::refused);
  EXPECT_TRUE(all[block].nanoseconds.empty());
  EXPECT_NE(all[block].reason.find("argument 2, element 7"), std::string::npos);
  EXPECT_EQ(all[block4].found, kernel_variant::state::measured);
  EXPECT_GT(all[block4].bytes_compared, 1000u);
  const pace_verdict v = judge_paced(all);
  EXPECT_EQ(v.finding, pace_finding::marked_wrongly);
  EXPECT_EQ(v.sentence.rfind("Marked wrongly, refused: block. Its arrays differ", 0), 0u) << v.sentence;
}

TEST(PaceComparison, AKernelThatDiffersFromRunToRunCannotBeChecked) {
  pretence wrong;
  wrong.wrong_from = 4;
  try {
    (void)compared({{none, wrong}});
    FAIL();
  } catch (const error& told) {
    EXPECT_NE(std::string(told.what()).find("even without barriers"), std::string::npos) << told.what();
  }
}

TEST(PaceComparison, WhatFailsOrNeverEndsLaterIsSaid) {
  pretence fails;
  fails.fails_from = 3;
  const std::vector<kernel_variant> all = compared({{block, fails}});
  EXPECT_EQ(all[block].found, kernel_variant::state::refused);
  EXPECT_NE(all[block].reason.find("an illegal address"), std::string::npos);
  EXPECT_NE(judge_paced(all).finding, pace_finding::marked_wrongly);
  pretence stuck;
  stuck.stuck_from = 3;
  try {
    (void)compared({{block4, stuck}});
    FAIL();
  } catch (const error& told) {
    EXPECT_EQ(std::string(told.what()).rfind("block/4 ended once", 0), 0u) << told.what();
  }
}

TEST(PaceComparison, RefusedTrialsAreNotMeasured) {
  auto trials = all_right();
  trials["block"] = {trial_end::stuck, "3 s"};
  trials.erase("block/4");
  const std::vector<kernel_variant> all = compared({}, trials);
  EXPECT_NE(all[block].reason.find("never ended (3 s)"), std::string::npos) << all[block].reason;
  EXPECT_NE(all[block4].reason.find("not tried"), std::string::npos);
  EXPECT_EQ(judge_paced(all).finding, pace_finding::marked_wrongly);
  for (const row& entry : rows_of({{"f.cu", "k", {}, {}, {}, 64}, "", {}, {}}, {}, "cuda:0", all)) {
    const bool is_measured = entry.method != "block" && entry.method != "block/4";
    EXPECT_EQ(entry.status, is_measured               ? row_status::ok
                            : entry.method == "block" ? row_status::failed
                                                      : row_status::skipped);
    EXPECT_EQ(entry.reason.has_value(), !is_measured);
    EXPECT_EQ(entry.find_metric("kernel_time") != nullptr, is_measured);
  }
}

TEST(PaceRows, TheVerdictIsMachineReadable) {
  const json good = in_json(judge_paced(compared({{block, taking(900)}})), {"x may help"});
  EXPECT_EQ(good["finding"], "barrier-gains");
  EXPECT_NEAR(good["barriers_share"]["percent"].get<double>(), 10, 0.5);
  EXPECT_EQ(good["barriers_share"]["interval"].size(), 2u);
  EXPECT_EQ(good["other_cures"][0], "x may help");
  auto trials = all_right();
  trials["block"] = {trial_end::mismatch, "argument 1, element 0"};
  const json wrong = in_json(judge_paced(compared({}, trials)), {});
  EXPECT_EQ(wrong["finding"], "marked-wrongly");
  EXPECT_TRUE(wrong["total"].is_null() && wrong["best"].is_null());
}

/// The other process, without the process.
struct pretended_trials {
  std::vector<pretence> all{std::vector<pretence>(variants.size())};
  std::vector<std::string> dies_at;  ///< variants at which the process ends without a word
  int started = 0;

  child_outcome operator()(const std::vector<std::string>& wanted) {
    ++started;
    pretended_kernel kernel(all);
    std::vector<size_t> numbers;
    bool dies = false;
    for (size_t i = 0; i < variants.size(); ++i) {
      const std::string name = variants[i].name;
      dies = dies || std::ranges::find(dies_at, name) != dies_at.end();
      if (std::ranges::find(wanted, name) == wanted.end()) {
        dies = std::ranges::find(dies_at, name) != dies_at.end() ? false : dies;
        continue;
      }
      if (dies) break;
      numbers.push_back(i);
    }
    std::ostringstream out;
    out << "a driver says something\ttoo\n";
    (void)run_trial(kernel, names(), numbers, 60, out);
    return {true, false, dies ? 9 : 0, out.str()};
  }
};

TEST(PaceTrial, EveryVariantHasItsOutcomeWhateverTheOthersDo) {
  pretended_trials process;
  process.all[fence].wrong_from = 1;
  process.all[block].stuck_from = 1;
  process.all[fence4].fails_from = 1;
  const auto found = try_variants(names(), std::ref(process));
  ASSERT_EQ(found.size(), variants.size());
  EXPECT_EQ(found.at("none").end, trial_end::right);
  EXPECT_EQ(found.at("compiler-fence").end, trial_end::mismatch);
  EXPECT_EQ(found.at("compiler-fence").words, "argument 2, element 7");
  EXPECT_EQ(found.at("warp-sync").end, trial_end::right);
  EXPECT_EQ(found.at("block").end, trial_end::stuck);
  EXPECT_EQ(found.at("compiler-fence/4").end, trial_end::failed);
  EXPECT_EQ(found.at("compiler-fence/4").words, "an illegal address");
  EXPECT_EQ(found.at("block/4").end, trial_end::right);
  EXPECT_EQ(process.started, 3);
}

TEST(PaceTrial, AProcessThatDiesIsTheVariantsEnd) {
  pretended_trials process;
  process.dies_at = {"block", "block/4"};
  const auto found = try_variants(names(), std::ref(process));
  ASSERT_EQ(found.size(), variants.size());
  EXPECT_EQ(found.at("block").end, trial_end::failed);
  EXPECT_EQ(found.at("block").words, "its process ended with exit code 9");
  EXPECT_EQ(found.at("block/4").end, trial_end::failed);
  EXPECT_EQ(found.at("warp-sync/4").end, trial_end::right);
}

TEST(PaceTrial, WithoutARightKernelNothingElseIsTried) {
  for (const int run : {1, 2}) {
    pretended_trials process;
    process.all[none].stuck_from = run;
    const auto found = try_variants(names(), std::ref(process));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.at("none").end, trial_end::stuck);
  }
  pretended_trials random;
  random.all[none].wrong_from = 2;
  EXPECT_EQ(try_variants(names(), std::ref(random)).at("none").end, trial_end::mismatch);
  const auto none_at_all = try_variants(names(), [](const auto&) {
    return child_outcome{true, false, 1, "gpusync: The arrays need 5 MiB.\n"};
  });
  EXPECT_EQ(none_at_all.at("none").words, "The arrays need 5 MiB.");
  const auto killed = try_variants(names(), [](const auto&) { return child_outcome{}; });
  EXPECT_EQ(killed.at("none").end, trial_end::stuck);
}

TEST(PaceCures, AreHintsOnlyWhereTheTextSaysIt) {
  source_kernel kernel;
  EXPECT_TRUE(other_cures(kernel, 0, 0).empty());
  EXPECT_TRUE(other_cures(kernel, 3, 1).empty());
  EXPECT_NE(other_cures(kernel, 3, 0).at(0).find("may"), std::string::npos);
  kernel.strided = {"a[x * n]"};
  EXPECT_NE(other_cures(kernel, 3, 0).at(0).find("a[x * n]"), std::string::npos);
  EXPECT_NE(other_cures(kernel, 3, 0).at(0).find("may"), std::string::npos);
  kernel.uses_shared = true;
  EXPECT_NE(other_cures(kernel, 3, 0).at(0).find("32 bits"), std::string::npos);
}

}  // namespace
}  // namespace gpusync::tool
