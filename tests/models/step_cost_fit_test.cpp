#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <gpusync/advice/advice.hpp>

#include "models/step_cost_rows.hpp"
#include "results/document.hpp"
#include "results/metrics.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace step_cost_fits {

using advice::term;
using advice::way;

constexpr advice::device_room room{100, 2048, 32};

advice::way_costs true_costs(way which) {
  advice::way_costs costs;
  costs.which = which;
  const auto set = [&costs](term one, double us) { costs.us[static_cast<size_t>(one)] = us; };
  set(term::round_trip, 1.2);
  set(term::further_blocks, 0.15);
  set(term::block_threads, 0.2);
  set(term::occupied, 0.25);
  set(term::worked, 0.15);
  set(term::stored, 0.05);
  set(term::kept, 0.03);
  set(term::begin, 7);
  return costs;
}

advice::situation drawn(std::mt19937_64& numbers) {
  const auto part = [&] { return static_cast<double>(numbers() >> 11) * 0x1p-53; };
  advice::situation where;
  where.threads = 32u << static_cast<uint32_t>(part() * 5);
  where.blocks = 1 + static_cast<uint32_t>(part() * 800);
  where.step_us = part() < 0.3 ? 0 : 10 * part();
  where.skew_us = part() < 0.5 ? 0 : where.step_us * part();
  where.stored_bytes = 4 * std::floor(1 + part() * where.threads);
  where.kept_bytes = part() < 0.5 ? 0 : std::floor(part() * 16384);
  where.steps = 8 + static_cast<uint64_t>(part() * 500);
  if (part() < 0.5) where.waits_for = advice::dependence::neighbours;
  return where;
}

/// So many situations, whose times scatter by `noise` about the model's.
std::vector<step_observation> observed(const advice::way_costs& costs, size_t count, double noise, uint64_t seed = 1) {
  std::mt19937_64 numbers(seed);
  std::normal_distribution<double> scatter(0, noise);
  std::vector<step_observation> all;
  for (size_t i = 0; i < count; ++i) {
    const advice::situation where = drawn(numbers);
    all.push_back({where, costs.which, predict(where, costs, room).us_per_step * std::exp(scatter(numbers))});
  }
  return all;
}

/// The greatest relative error of what is predicted for other situations.
double worst_error(const advice::way_costs& fitted, const advice::way_costs& truth) {
  double worst = 0;
  for (const step_observation& one : observed(truth, 200, 0, 2)) {
    worst = std::max(worst, std::abs(predict(one.where, fitted, room).us_per_step / one.us_per_step - 1));
  }
  return worst;
}

TEST(StepCostFit, FindsTheCostsThatTimesWereMadeOf) {
  const advice::way_costs truth = true_costs(way::graph);
  const advice::device_costs found = fit_step_costs("a GPU", room, observed(truth, 100, 0));
  ASSERT_EQ(found.ways.size(), 1u);
  EXPECT_EQ(found.ways.front().points, 100u);
  for (size_t i = 0; i < advice::term_count; ++i) {
    EXPECT_NEAR(found.ways.front().us[i], truth.us[i], 1e-3) << name_of(static_cast<term>(i));
  }
  EXPECT_EQ(found.ways.front().spread, 0.02) << "what times differ by at least";
}

TEST(StepCostFit, NoiseAndADisturbedPointMoveLittle) {
  const advice::way_costs truth = true_costs(way::grid_barrier);
  std::vector<step_observation> points = observed(truth, 200, 0.03);
  for (size_t i = 0; i < 10; ++i) points[i * 19].us_per_step *= 20;
  const advice::way_costs found = fit_step_costs("a GPU", room, points).ways.at(0);
  EXPECT_LT(worst_error(found, truth), 0.08);
  EXPECT_GT(found.spread, 0.03);
  EXPECT_LT(found.spread, 0.12) << "nine of ten points are not disturbed";
}

/// Nine of ten: of what a fit knows, more lie within what it misses there. Sixteen points carry eight terms here.
TEST(StepCostFit, TheSpreadHoldsForSituationsThatItDoesNotKnow) {
  const advice::way_costs truth = true_costs(way::grid_barrier);
  double held = 0;
  constexpr uint64_t fits = 40;
  for (uint64_t seed = 1; seed <= fits; ++seed) {
    const advice::way_costs found = fit_step_costs("a GPU", room, observed(truth, 16, 0.1, seed)).ways.at(0);
    const std::vector<step_observation> others = observed(truth, 100, 0.1, 1000 + seed);
    held += static_cast<double>(std::ranges::count_if(
                others,
                [&](const step_observation& one) {
                  return std::abs(std::log(predict(one.where, found, room).us_per_step / one.us_per_step)) <=
                         std::log1p(found.spread);
                })) /
            static_cast<double>(others.size() * fits);
  }
  EXPECT_NEAR(held, 0.9, 0.04);
}

/// Held out, the only situations without work are predicted to take nothing.
TEST(StepCostFit, TheSpreadOfAFewPointsIsANumberAndNotSmall) {
  advice::situation idle, works;
  works.step_us = 5;
  for (const size_t idle_ones : {1u, 3u}) {
    std::vector<step_observation> points;
    for (size_t i = 0; i < 21; ++i) {
      const bool is_idle = i % 10 == 0 && i / 10 < idle_ones;
      points.push_back({is_idle ? idle : works, way::grid_barrier, is_idle ? 1.3 : 4.9});
    }
    const double spread = fit_step_costs("a GPU", room, points).ways.at(0).spread;
    EXPECT_TRUE(std::isfinite(spread));
    EXPECT_LE(spread, 9.001);
    if (idle_ones == 3) EXPECT_GT(spread, 0.5) << "three of twenty-one are predicted to take nothing";
  }
}

TEST(StepCostFit, FindsHowOftenTheHostCanLaunch) {
  advice::way_costs truth = true_costs(way::relaunch);
  truth.host_us = 3.5;
  const advice::way_costs found = fit_step_costs("a GPU", room, observed(truth, 120, 0.01)).ways.at(0);
  EXPECT_NEAR(found.host_us, 3.5, 0.35);
  EXPECT_LT(worst_error(found, truth), 0.1);
}

TEST(StepCostFit, AGraphHasNoHostToWaitFor) {
  advice::way_costs truth = true_costs(way::graph);
  EXPECT_EQ(fit_step_costs("a GPU", room, observed(truth, 60, 0.01)).ways.at(0).host_us, 0);
}

TEST(StepCostFit, NoCoefficientIsBelowNothing) {
  advice::way_costs truth = true_costs(way::graph);
  std::vector<step_observation> points = observed(truth, 60, 0);
  for (step_observation& one : points) one.us_per_step *= one.where.stored_bytes > 1000 ? 0.8 : 1;  // stores that help?
  const advice::way_costs found = fit_step_costs("a GPU", room, points).ways.at(0);
  for (const double each : found.us) EXPECT_GE(each, 0);
}

TEST(StepCostFit, WhatWasNeverSeenHasNoCostAndTooFewPointsNoFit) {
  std::vector<step_observation> points = observed(true_costs(way::graph), 60, 0);
  for (step_observation& one : points) {
    one.where.steps = 1'000'000'000;
    one.where.kept_bytes = 0;
    one.us_per_step = predict(one.where, true_costs(way::graph), room).us_per_step;
  }
  const advice::way_costs found = fit_step_costs("a GPU", room, points).ways.at(0);
  EXPECT_EQ(found.us[static_cast<size_t>(term::begin)], 0);
  EXPECT_EQ(found.us[static_cast<size_t>(term::kept)], 0);
  points.resize(fewest_observations - 1);
  EXPECT_TRUE(fit_step_costs("a GPU", room, points).ways.empty());
}

TEST(StepCostRows, ASituationGoesThroughAxesAndBack) {
  std::mt19937_64 numbers(3);
  for (int i = 0; i < 100; ++i) {
    advice::situation where = drawn(numbers);
    where.step_us = std::round(where.step_us * 1000) / 1000;
    where.skew_us = std::min(where.step_us, std::round(where.skew_us * 1000) / 1000);
    where.skew = where.skew_us > 0 && i % 2 == 0 ? advice::skew_form::exponential : advice::skew_form::uniform;
    if (i % 3 == 0) where.waits_for = advice::dependence::neighbours, where.neighbours = 2u << i % 2;
    where.resident_blocks = static_cast<uint64_t>(i);
    const axis_values axes = axes_of(where);
    const std::optional<advice::situation> again = situation_of(axes);
    ASSERT_TRUE(again);
    EXPECT_EQ(axes_of(*again), axes);
    EXPECT_NEAR(again->step_us, where.step_us, 1e-9);
    EXPECT_EQ(again->waits_for, where.waits_for);
  }
}

TEST(StepCostRows, AxesThatAreNoSituationAreNone) {
  advice::situation where;
  axis_values axes = axes_of(where);
  EXPECT_TRUE(situation_of(axes));
  for (size_t i = 0; i < axes.size(); ++i) {
    axis_values without = axes;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(situation_of(without)) << axes[i].first;
  }
  const auto with = [&](const char* name, axis_value value) {
    axis_values other = axes;
    std::ranges::find(other, name, [](const auto& axis) { return axis.first; })->second = std::move(value);
    return situation_of(other);
  };
  for (const int64_t blocks : {int64_t{0}, int64_t{-1}, (int64_t{1} << 32) + 132}) EXPECT_FALSE(with("blocks", blocks));
  EXPECT_FALSE(with("threads", (int64_t{1} << 32) + 256));
  EXPECT_FALSE(with("waits_for", "3"));
  EXPECT_FALSE(with("waits_for", "some"));
  EXPECT_FALSE(with("skew", "wild"));
  EXPECT_TRUE(with("skew", "exponential"));
}

/// A document with these times as rows of step-costs.
document document_of(const std::vector<step_observation>& points) {
  document made;
  row told;
  told.experiment = step_costs_experiment;
  told.device = "cuda:0";
  told.method = room_method;
  told.metrics = room_metrics(room);
  made.rows.push_back(told);
  for (const step_observation& one : points) {
    row& entry = made.rows.emplace_back();
    entry.experiment = step_costs_experiment;
    entry.device = "cuda:0";
    entry.method = name_of(one.which);
    entry.axes = axes_of(one.where);
    entry.verified = true;
    entry.metrics = {{step_time_metric, plain_metric(one.us_per_step, "us", 7)}};
  }
  return made;
}

TEST(StepCostRows, ADocumentGivesTheCostsOfItsCheckedRows) {
  const advice::way_costs truth = true_costs(way::graph);
  document results = document_of(observed(truth, 80, 0));
  row wrong = results.rows.back();
  wrong.verified = false;
  for (auto& [metric_name, figure] : wrong.metrics) figure.value = 1e6;
  results.rows.insert(results.rows.end(), 40, wrong);
  const advice::device_costs found = costs_in(results, "", "costs.json");
  ASSERT_EQ(found.ways.size(), 1u);
  EXPECT_EQ(found.room.sms, 100u);
  EXPECT_EQ(found.ways.front().points, 80u);
  EXPECT_LT(worst_error(found.ways.front(), truth), 0.01);
}

TEST(StepCostRows, RowsOfExchangesAndOfSeveralGpusThatCannotBeAreNone) {
  row exchange, across;
  exchange.experiment = "halo-exchange";
  exchange.method = name_of(way::halo);
  exchange.axes = {{"shape", "132x256"},
                   {"neighbours", int64_t{2}},
                   {"bytes", int64_t{64}},
                   {"work", "uniform-900"},
                   {"overlap", "no"}};
  across.experiment = "multi-gpu-barrier";
  across.method = name_of(way::gpus_barrier);
  across.axes = {{"shape", "132x256"}, {"gpus", int64_t{2}}, {"data", "none"}};
  const auto count = [](row entry, size_t axis, std::optional<axis_value> value) {
    entry.device = "cuda:0";
    entry.verified = true;
    entry.metrics = {{step_time_metric, plain_metric(0.5, "us", 7)}};
    if (value) entry.axes[axis].second = *value;
    return observations_of({entry}, "cuda:0").size();
  };
  EXPECT_EQ(count(exchange, 0, {}), 1u);
  EXPECT_EQ(count(across, 0, {}), 1u);
  for (const char* shape : {"132x0", "0x256", "132x2048", "132"}) {
    EXPECT_EQ(count(exchange, 0, shape), 0u) << shape;
    EXPECT_EQ(count(across, 0, shape), 0u) << shape;
  }
  EXPECT_EQ(count(exchange, 1, (int64_t{1} << 32) + 2), 0u);
  EXPECT_EQ(count(exchange, 1, int64_t{3}), 0u);
  EXPECT_EQ(count(exchange, 2, int64_t{-1}), 0u);
  EXPECT_EQ(count(exchange, 3, "wild-900"), 0u);
  EXPECT_EQ(count(exchange, 3, "uniform--900"), 0u);
  EXPECT_EQ(count(across, 1, int64_t{0}), 0u);
  EXPECT_EQ(count(across, 1, (int64_t{1} << 32) + 2), 0u);
}

TEST(StepCostRows, HaloExchangesCountForTheNeighboursThatStepCostsHaveNot) {
  advice::situation pairs;
  pairs.waits_for = advice::dependence::neighbours;
  pairs.neighbours = 2;
  document results = document_of({{pairs, way::halo, 1}});
  for (const int64_t neighbours : {2, 8}) {
    row& entry = results.rows.emplace_back();
    entry.experiment = "halo-exchange";
    entry.device = "cuda:0";
    entry.method = name_of(way::halo);
    entry.axes = {{"shape", "132x256"},
                  {"neighbours", neighbours},
                  {"bytes", int64_t{1024}},
                  {"work", "none"},
                  {"overlap", "no"}};
    entry.verified = true;
    entry.metrics = {{step_time_metric, plain_metric(0.5, "us", 7)}};
  }
  const auto neighbours_of = [](const std::vector<step_observation>& all) {
    std::multiset<uint32_t> found;
    for (const step_observation& one : all) found.insert(one.where.neighbours);
    return found;
  };
  EXPECT_EQ(neighbours_of(observations_of(results.rows, "cuda:0")), (std::multiset<uint32_t>{2, 8}));
  std::erase_if(results.rows, [](const row& entry) { return entry.experiment == step_costs_experiment; });
  EXPECT_EQ(neighbours_of(observations_of(results.rows, "cuda:0")), (std::multiset<uint32_t>{2, 8}))
      << "alone they count for all";
}

TEST(StepCostRows, ADocumentWithoutCostsIsRefusedByName) {
  for (const document& results : {document{}, document_of({}), document_of(observed(true_costs(way::graph), 2, 0))}) {
    try {
      (void)costs_in(results, "", "costs.json");
      FAIL() << "there are no costs";
    } catch (const usage_error& wrong) {
      EXPECT_NE(std::string(wrong.what()).find("costs.json"), std::string::npos) << wrong.what();
      EXPECT_NE(std::string(wrong.what()).find("gpusync run step-costs"), std::string::npos) << wrong.what();
    }
  }
  const document results = document_of(observed(true_costs(way::graph), 20, 0));
  EXPECT_THROW((void)costs_in(results, "cuda:1", "costs.json"), usage_error);
}

}  // namespace step_cost_fits
}  // namespace gpusync::tool
