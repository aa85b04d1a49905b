#include "results/document_comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "results/comparison_table.hpp"
#include "results/metrics.hpp"
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
  EXPECT_TRUE(in_words(found).starts_with("1 of 10 rows are slower (worst: method-3, +")) << in_words(found);
  const std::string table = to_table(found, kept.front(), false);
  for (size_t i = 0; i < 10; ++i) EXPECT_NE(table.find(method_of_index(i)), std::string::npos);
  EXPECT_NE(table.find("barrier-cost on NVIDIA H200, 1 block of 256 threads"), std::string::npos);
  EXPECT_EQ(table.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace gpusync::tool
