#include "results/document_comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "results/comparison_table.hpp"
#include "results/metrics.hpp"
#include "results/row_index.hpp"
#include "results/text.hpp"
#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

using generator = std::mt19937_64;

/// A machine whose runs differ by a part `run_to_run`, and the rounds of a run by `rounds`.
struct noisy_machine {
  double run_to_run = 0.005;
  double rounds = 0.01;
  size_t round_count = 15;
  bool keeps_rounds = true;
  size_t groups = 1;
  double group_to_group = 0;  ///< what all methods that are measured in the same seconds share
};

std::string method_of_index(size_t i) {
  return "method-" + std::to_string(i);
}

/// A run of methods of 1 us, 2 us, …; times[i] is by what the time of method i is multiplied.
document run_on(const noisy_machine& machine, const std::vector<double>& factors, generator& random) {
  std::normal_distribution<> normal;
  std::vector<row> rows;
  const size_t in_group = (factors.size() + machine.groups - 1) / machine.groups;
  double shared = 1;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (i % in_group == 0) shared = std::exp(machine.group_to_group * normal(random));
    const double time =
        static_cast<double>(i + 1) * factors[i] * shared * std::exp(machine.run_to_run * normal(random));
    std::vector<double> rounds;
    for (size_t k = 0; k < machine.round_count; ++k) {
      rounds.push_back(time * std::exp(machine.rounds * normal(random)));
    }
    row entry = barrier_row(method_of_index(i), time, 0.01, static_cast<int64_t>(1 + i / in_group));
    entry.metrics.front().second = median_metric(rounds, 1, "us", machine.keeps_rounds);
    rows.push_back(std::move(entry));
  }
  return h200_document(std::move(rows));
}

document_comparison compare_one(const document& before, const document& after, const comparison_rule& rule = {}) {
  return compare_documents({{&before, &after}}, rule);
}

/// Pairs of runs; method `slowed` takes 5 % more after.
document_comparison compare_runs_of(const noisy_machine& machine, size_t methods, size_t pairs, int slowed,
                                    generator& random, std::vector<document>& kept) {
  kept.clear();
  kept.reserve(2 * pairs);
  std::vector<std::pair<const document*, const document*>> list;
  for (size_t i = 0; i < pairs; ++i) {
    std::vector<double> factors(methods, 1);
    const document* before = &kept.emplace_back(run_on(machine, factors, random));
    if (slowed >= 0) factors[static_cast<size_t>(slowed)] = 1.05;
    list.emplace_back(before, &kept.emplace_back(run_on(machine, factors, random)));
  }
  return compare_documents(list);
}

bool says_faster_or_slower(const document_comparison& found) {
  return std::ranges::any_of(found.changes, [](const row_change& change) {
    return change.what == difference::faster || change.what == difference::slower;
  });
}

TEST(CompareDocuments, OfOneProgramRarelyFindADifferenceAnywhere) {
  generator random(1);
  std::vector<document> kept;
  struct setting {
    noisy_machine machine;
    size_t methods, pairs;
  };
  const std::vector<setting> settings{{{0.005, 0.01, 15}, 30, 1},
                                      {{0.03, 0.01, 15}, 30, 1},
                                      {{0.1, 0.05, 15}, 30, 1},
                                      {{0.03, 0.01, 15}, 8, 1},
                                      {{0.03, 0.01, 15, false}, 30, 1},
                                      {{0.03, 0.01, 15}, 30, 3},
                                      {{0.1, 0.05, 7}, 10, 3},
                                      {{0.03, 0.01, 15}, 3, 5},
                                      {{0.01, 0.01, 15, true, 5, 0.1}, 30, 1},
                                      {{0.01, 0.01, 15, true, 3, 0.05}, 30, 1},
                                      {{0.01, 0.01, 15, true, 4, 0.1}, 30, 3}};
  for (const setting& one : settings) {
    constexpr int trials = 200;
    int wrong = 0;
    for (int i = 0; i < trials; ++i) {
      wrong += says_faster_or_slower(compare_runs_of(one.machine, one.methods, one.pairs, -1, random, kept)) ? 1 : 0;
    }
    EXPECT_LE(wrong, 0.05 * trials + 3.3 * std::sqrt(0.05 * 0.95 * trials))
        << one.machine.run_to_run << ", " << one.methods << " methods, " << one.machine.groups << " groups, "
        << one.pairs << " pairs";
  }
}

TEST(CompareDocuments, FindsFivePercentWhereRunsDifferByLittle) {
  generator random(2);
  std::vector<document> kept;
  constexpr int trials = 100;
  int found = 0;
  for (int i = 0; i < trials; ++i) {
    const auto one = compare_runs_of({0.003, 0.005, 15}, 30, 1, 7, random, kept);
    found += one.changes[7].what == difference::slower ? 1 : 0;
    EXPECT_EQ(has_regressed(one), one.changes[7].what == difference::slower);
  }
  EXPECT_GE(found, 0.97 * trials);
}

TEST(CompareDocuments, FindsFivePercentWhereRunsDifferByAPercentIfThereAreEightPairs) {
  generator random(3);
  std::vector<document> kept;
  constexpr int trials = 100;
  int found = 0;
  for (int i = 0; i < trials; ++i) {
    found += compare_runs_of({0.01, 0.01, 15}, 30, 8, 7, random, kept).changes[7].what == difference::slower ? 1 : 0;
  }
  EXPECT_GE(found, 0.9 * trials);
}

TEST(CompareDocuments, TellsByHowMuchRunsDiffer) {
  generator random(4);
  std::vector<document> kept;
  const auto found = compare_runs_of({0.03, 0.001, 15}, 200, 1, -1, random, kept);
  ASSERT_TRUE(found.run_to_run);
  EXPECT_NEAR(*found.run_to_run, 0.03, 0.01);
}

TEST(CompareDocuments, OfOneDocumentWithItselfNothingChanged) {
  generator random(5);
  const document same = run_on({}, {1, 1, 1, 1, 1, 1, 1}, random);
  for (const row_change& change : compare_one(same, same).changes) {
    EXPECT_DOUBLE_EQ(*change.ratio, 1);
    EXPECT_NE(change.what, difference::slower);
    EXPECT_NE(change.what, difference::faster);
  }
}

TEST(CompareDocuments, OneRowWithoutRoundsSaysNothing) {
  const document before = h200_document({barrier_row("cg", 1)}), after = h200_document({barrier_row("cg", 3)});
  const auto found = compare_one(before, after);
  EXPECT_EQ(found.changes.front().what, difference::unclear);
  EXPECT_NE(found.changes.front().reason, "");
}

TEST(CompareDocuments, RightResultsThatWentWrongAreARegression) {
  const document before = h200_document({barrier_row("cg", 1)}), after = h200_document({wrong_row("cg", 0.5)});
  EXPECT_TRUE(compare_one(before, after).changes.front().broke);
  EXPECT_TRUE(has_regressed(compare_one(before, after)));
  EXPECT_TRUE(compare_one(after, before).changes.front().mended);
  EXPECT_FALSE(has_regressed(compare_one(after, before)));
}

TEST(CompareDocuments, RowsAreTheSameByExperimentDeviceAxesAndMethod) {
  const document before = h200_document({barrier_row("cg", 1), barrier_row("graph", 1)});
  const document after = h200_document({barrier_row("cg", 1, 0.01, 264), barrier_row("graph", 1)});
  const auto found = compare_one(before, after);
  ASSERT_EQ(found.changes.size(), 1u);
  EXPECT_EQ(found.changes.front().before->method, "graph");
  ASSERT_EQ(found.only_before.size(), 1u);
  EXPECT_EQ(found.only_before.front()->method, "cg");
  EXPECT_EQ(found.only_after.size(), 1u);
}

TEST(CompareDocuments, FiguresThatAreNoTimesAreNotJudged) {
  row counted = barrier_row("cg", 100);
  counted.metrics.front().second.unit = "1";
  const document one = h200_document({counted});
  EXPECT_EQ(compare_one(one, one).changes.front().reason, "no time");
}

TEST(CompareDocuments, ATimeThatIsNotAboveTheNoiseIsNotJudged) {
  row lost = barrier_row("cg", 1);
  lost.metrics.front().second.value.reset();
  const document before = h200_document({barrier_row("cg", 1)}), after = h200_document({lost});
  EXPECT_EQ(compare_one(before, after).changes.front().reason, "not above the noise");
}

/// A row that was skipped because its time could not be told from nothing.
row lost_row(const std::string& method) {
  row entry = barrier_row(method, 1);
  metric& time = entry.metrics.front().second;
  time.value = time.median = std::nullopt;
  entry.status = row_status::skipped;
  entry.reason = "Not above the noise: longer runs did not take longer for certain.";
  return entry;
}

TEST(CompareDocuments, ARowThatIsSkippedForTheNoiseHasNotBrokenNorIsItMended) {
  const document before = h200_document({barrier_row("cg", 1)}), after = h200_document({lost_row("cg")});
  for (const auto& found : {compare_one(before, after), compare_one(after, before)}) {
    const row_change& change = found.changes.front();
    EXPECT_FALSE(change.broke);
    EXPECT_FALSE(change.mended);
    EXPECT_TRUE(change.in_noise);
    EXPECT_EQ(change.what, difference::unclear);
    EXPECT_EQ(change.reason, "not above the noise");
    EXPECT_FALSE(has_regressed(found));
    EXPECT_TRUE(has_compared(found));
    EXPECT_EQ(to_json(found, {})["rows"][0]["verdict"], "unclear");
    EXPECT_NE(to_table(found, before, false).find("unclear"), std::string::npos);
    EXPECT_EQ(in_words(found), "Unclear: not above the noise; measure again on an idle machine.");
  }
  const document refused = h200_document({skipped_row("cg", "2000 blocks cannot all run at once")});
  EXPECT_TRUE(compare_one(before, refused).changes.front().broke);
  EXPECT_TRUE(compare_one(refused, before).changes.front().mended);
  const document wrong = h200_document({wrong_row("cg", 1)});
  EXPECT_TRUE(compare_one(after, wrong).changes.front().broke);
}

TEST(CompareDocuments, WhatBrokeInAnyPairHasBrokenWhateverTheirOrder) {
  const document good = h200_document({barrier_row("cg", 1)}), wrong = h200_document({wrong_row("cg", 1)});
  const document lost = h200_document({lost_row("cg")}), other = h200_document({barrier_row("graph", 1)});
  row nothing = barrier_row("cg", 1);
  nothing.metrics.front().second.value.reset();
  const document empty = h200_document({nothing});
  const std::pair breaks{&good, &wrong};
  for (const std::pair<const document*, const document*>& harmless : {std::pair{&good, &good},
                                                                      {&good, &lost},
                                                                      {&lost, &good},
                                                                      {&good, &empty},
                                                                      {&wrong, &wrong},
                                                                      {&good, &other},
                                                                      {&other, &good},
                                                                      {&other, &other}}) {
    for (const auto& found : {compare_documents({harmless, breaks}), compare_documents({breaks, harmless})}) {
      const auto change =
          std::ranges::find(found.changes, "cg", [](const row_change& one) { return one.before->method; });
      ASSERT_NE(change, found.changes.end());
      EXPECT_TRUE(change->broke);
      EXPECT_EQ(change->reason, "after: failed: 12 of 100 values are wrong");
      EXPECT_TRUE(has_regressed(found));
      EXPECT_TRUE(in_words(found).starts_with("Worse: 1 row broke (cg)")) << in_words(found);
    }
    EXPECT_FALSE(has_regressed(compare_documents({harmless})));
  }
}

TEST(CompareDocuments, WhatHasNoTimesIsComparedByWhetherItIsRight) {
  row counted = barrier_row("cg", 100);
  counted.metrics.front().second.unit = "1";
  row wrong = counted;
  wrong.status = row_status::failed;
  wrong.verified = false;
  wrong.reason = "2 stale words";
  const document good = h200_document({counted}), bad = h200_document({wrong});
  EXPECT_TRUE(has_compared(compare_one(good, good)));
  EXPECT_EQ(in_words(compare_one(good, good)), "1 row right before and after; none has a time.");
  EXPECT_TRUE(has_regressed(compare_one(good, bad)));
  EXPECT_EQ(in_words(compare_one(good, bad)), "Worse: 1 row broke (cg).");
  EXPECT_EQ(in_words(compare_one(bad, good)), "Better: 1 row mended.");
  EXPECT_FALSE(has_compared(compare_one(bad, bad)));
  EXPECT_EQ(in_words(compare_one(bad, bad)), "Nothing was compared: no row that both have was right, or had a time.");
}

TEST(CompareDocuments, ARunIsTheSameUnderAnyNameAndAnotherIsNot) {
  generator random(8);
  document one = run_on({}, {1, 1, 1}, random);
  one.context["started"] = "2026-01-02T03:04:05Z";
  document copy = one;
  EXPECT_TRUE(is_same_run(one, copy));
  copy.rows[1].metrics.front().second.samples.reset();  // written without them
  EXPECT_TRUE(is_same_run(one, copy));
  copy.context["started"] = "2026-01-02T03:04:06Z";
  EXPECT_FALSE(is_same_run(one, copy));
  copy = one;
  copy.rows[2].metrics.front().second.samples->back() += 1e-6;
  EXPECT_FALSE(is_same_run(one, copy));
  EXPECT_FALSE(is_same_run(h200_document({}), h200_document({})));
}

TEST(CompareDocuments, OnePairOfRunsOnADisturbedMachineTellsNothing) {
  generator random(7);
  noisy_machine quiet{0.001, 0.001};
  document before = run_on(quiet, std::vector<double>(10, 1), random);
  document after = run_on(quiet, std::vector<double>(10, 1.5), random);
  EXPECT_TRUE(has_regressed(compare_one(before, after)));
  after.context["devices"][0]["state_after"] = {{"other_processes", {"4711: something else"}}};
  EXPECT_FALSE(has_regressed(compare_one(before, after)));
  EXPECT_EQ(compare_one(before, after).changes.front().reason, "other processes used the device");
  after.context["devices"][0] = {
      {"id", "cuda:0"}, {"state_before", {{"graph_step_us", 0.546}}}, {"state_after", {{"graph_step_us", 0.551}}}};
  EXPECT_TRUE(has_regressed(compare_one(before, after)));
  after.context["devices"][0]["state_after"]["graph_step_us"] = 0.724;
  EXPECT_EQ(compare_one(before, after).changes.front().reason,
            "an idle step of a kept graph took 0.546 us before the run and 0.724 us after it");
  after.context["devices"][0] = {{"id", "cuda:0"}, {"kind", "host"}};
  after.context["host"] = {{"other_load", 0.04}};
  EXPECT_TRUE(has_regressed(compare_one(before, after)));
  before.context["devices"][0]["kind"] = "host";
  EXPECT_EQ(compare_one(before, after).changes.front().reason, "one pair of runs on processors tells nothing");
  EXPECT_TRUE(has_regressed(compare_documents({{&before, &after}, {&before, &after}, {&before, &after}})));
  after.context["host"] = {{"other_load", 0.4}};
  EXPECT_EQ(compare_one(before, after).changes.front().reason, "other programs had 40 % of the processors");
  EXPECT_EQ(compare_one(before, after).changes.front().what, difference::unclear);
}

TEST(ComparisonTable, SaysTheWorstFirstAndEveryRow) {
  generator random(6);
  std::vector<document> kept;
  const auto found = compare_runs_of({0.001, 0.002, 15}, 10, 1, 3, random, kept);
  EXPECT_TRUE(in_words(found).starts_with("Slower: 1 of 10 rows (worst: method-3, +")) << in_words(found);
  EXPECT_NE(in_words(found).find("; runs differ by "), std::string::npos) << in_words(found);
  const std::string table = to_table(found, kept.front(), false);
  for (size_t i = 0; i < 10; ++i) EXPECT_NE(table.find(method_of_index(i)), std::string::npos);
  EXPECT_NE(table.find("barrier-cost on NVIDIA H200, 1 block of 256 threads"), std::string::npos);
  EXPECT_EQ(table.find('\033'), std::string::npos);
}

TEST(ComparisonTable, SaysTheFindingFirstInTwentyFiveWordsAndWhyNothingIsFound) {
  generator random(9);
  std::vector<document> kept;
  auto found = compare_runs_of({0.001, 0.002, 15}, 10, 1, 3, random, kept);
  std::swap(kept[0], kept[1]);
  EXPECT_TRUE(in_words(compare_one(kept[0], kept[1])).starts_with("Faster: 1 of 10 rows (most: method-3, -"));
  kept[1].context["host"] = {{"other_load", 0.51}};
  kept[1].context["devices"][0]["kind"] = "host";
  kept[0].context["devices"][0]["kind"] = "host";
  EXPECT_EQ(in_words(compare_one(kept[0], kept[1])),
            "Unclear: other programs had 51 % of the processors; give several pairs.");
  kept[1].context = kept[0].context;
  for (const char* before : {"0.546", "0.724"}) {
    kept[1].context["devices"][0] = {{"id", "cuda:0"},
                                     {"state_before", {{"graph_step_us", std::stod(before)}}},
                                     {"state_after", {{"graph_step_us", 0.6}}}};
    const std::string text = in_words(compare_one(kept[0], kept[1]));
    EXPECT_LE(words_in(text), most_words) << text;
    EXPECT_TRUE(text.starts_with("Unclear: an idle step of a kept graph took ")) << text;
  }
  // All at once.
  std::vector<row> befores, afters;
  for (size_t i = 0; i < 40; ++i) {
    row one = run_on({0.001, 0.002, 15}, {1}, random).rows.front();
    one.method = "a-method-of-a-long-name-" + std::to_string(i);
    befores.push_back(one);
    if (i % 4 == 1)
      one.metrics.front().second = run_on({0.001, 0.002, 15}, {1.3}, random).rows.front().metrics.front().second;
    if (i % 4 == 2)
      one.metrics.front().second = run_on({0.001, 0.002, 15}, {0.7}, random).rows.front().metrics.front().second;
    if (i % 4 == 3) (i % 8 == 3 ? one : befores.back()) = wrong_row(one.method, 1);
    one.axes = befores.back().axes;
    afters.push_back(one);
  }
  const std::string all = in_words(compare_one(h200_document(befores), h200_document(afters)));
  EXPECT_LE(words_in(all), most_words) << all;
  EXPECT_TRUE(all.starts_with("Worse: 5 rows broke (first: a-method-of-a-long-name-3)")) << all;
  EXPECT_NE(all.find("5 mended"), std::string::npos) << all;
}

}  // namespace
}  // namespace gpusync::tool
