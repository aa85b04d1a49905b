// The thesis's own figures, and what is derived from figures, its or ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "experiments/shen_2013/thesis_comparison.hpp"
#include "harness/published.hpp"
#include "models/fits.hpp"
#include "models/line_rows.hpp"
#include "models/opencl_places.hpp"
#include "results/first_version.hpp"
#include "results/groups.hpp"
#include "results/verdict.hpp"
#include "workloads/thesis_average/thesis_expectation.hpp"

namespace gpusync::tool {
namespace {

const row& find(const std::vector<row>& rows, const std::string& method, const std::string& axis, int64_t at) {
  for (const row& entry : rows) {
    if (entry.method == method && axis_number(entry.axes, axis) == at) return entry;
  }
  throw std::logic_error("no row of " + method);
}

TEST(Shen2013, PublishedFiguresAreThoseOfTheAppendices) {
  const auto barriers = published_rows(paper::shen_2013, "opencl-barriers");
  EXPECT_EQ(barriers.size(), 24u);
  EXPECT_DOUBLE_EQ(*value_of(find(barriers, "published-decentralized", "groups", 1), "device_time"), 13.666);
  EXPECT_DOUBLE_EQ(*value_of(find(barriers, "published-centralized", "groups", 70), "device_time"), 32.0);
  EXPECT_DOUBLE_EQ(*value_of(find(barriers, "published-launch-wait", "groups", 40), "device_time"), 8.998);
  const auto iterations = published_rows(paper::shen_2013, "opencl-iterations");
  EXPECT_EQ(iterations.size(), 21u);
  EXPECT_EQ(*value_of(find(iterations, "published-launch-wait", "iterations", 3000), "total_time"), 999.043);
  EXPECT_EQ(*value_of(find(iterations, "published-centralized", "iterations", 500), "total_time"), 18.402);
  EXPECT_EQ(*value_of(find(iterations, "published-decentralized", "iterations", 2500), "total_time"), 28.174);
  EXPECT_EQ(axis_number(iterations.front().axes, "groups"), 70);
  const auto memory = published_rows(paper::shen_2013, "opencl-memory");
  EXPECT_EQ(memory.size(), 21u);
  EXPECT_EQ(*value_of(find(memory, "published-decentralized", "groups", 70), "device_memory"), 52.06);
  EXPECT_EQ(*value_of(find(memory, "published-centralized", "groups", 10), "device_memory"), 5.63);
}

TEST(Shen2013, PublishedRowsSayThatTheyWerePrintedAndNeverWin) {
  for (const char* experiment : {"opencl-barriers", "opencl-iterations", "opencl-memory"}) {
    for (const row& entry : published_rows(paper::shen_2013, experiment)) {
      EXPECT_TRUE(is_published(entry));
      EXPECT_EQ(entry.device, "published: Mobility Radeon HD 5870");
      EXPECT_FALSE(entry.verified);
      EXPECT_FALSE(is_contender(entry));
      EXPECT_EQ(entry.verification->rfind("not checked: ", 0), 0u) << *entry.verification;
    }
  }
  EXPECT_TRUE(published_rows(paper::shen_2013, "barrier-cost").empty());
}

TEST(Shen2013, PublishedFiguresThatDoNotFitTogetherAreRefused) {
  EXPECT_THROW(published_rows("{", "x"), std::logic_error);
  EXPECT_THROW(
      published_rows(R"({"device": "d", "title": "t", "tables": [{"experiment": "x", "item": "S6", "at": [1, 2],
      "axis": "groups", "fixed": {}, "metric": "m", "unit": "ns", "runs": null, "note": "n", "source": "s",
      "series": [{"method": "a", "printed": "A", "values": [1]}]}]})",
                     "x"),
      std::logic_error);
}

/// Measured rows with the figures `of(x)`.
template <class Figure>
std::vector<row> rows_of(const std::string& method, const std::vector<int64_t>& xs, Figure&& of) {
  std::vector<row> rows;
  for (const int64_t x : xs) {
    row entry;
    entry.experiment = "opencl-iterations";
    entry.device = "opencl:0";
    entry.axes = {{"groups", int64_t{70}}, {"iterations", x}};
    entry.method = method;
    entry.metrics = {{"total_time", {}}};
    entry.metrics[0].second.value = of(x);
    entry.metrics[0].second.unit = "ms";
    entry.verified = true;
    derive_method(entry);
    rows.push_back(entry);
  }
  return rows;
}

TEST(Shen2013, AFitFindsTheLineOfVerifiedRowsOnly) {
  auto rows = rows_of("centralized-acquire-release", {1, 10, 100, 5000},
                      [](int64_t n) { return 2.0 + 0.5 * static_cast<double>(n); });
  rows[2].metrics[0].second.value = 1e6;
  rows[2].verified = false;
  rows[2].status = row_status::failed;
  const auto all = series_of(rows, "iterations", "total_time", fit_weights::relative);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].points.size(), 3u);
  const row fit = line_row(all[0], {"iterations", "a line", "step_time", "us", "ms", 1e3});
  EXPECT_NEAR(*value_of(fit, "step_time"), 500, 1e-6);
  EXPECT_NEAR(*value_of(fit, "intercept"), 2, 1e-9);
  EXPECT_NEAR(*value_of(fit, "r_squared"), 1, 1e-9);
  EXPECT_EQ(*value_of(fit, "at_largest"), 2502);
  EXPECT_EQ(axis_number(fit.axes, "groups"), 70);
  EXPECT_FALSE(axis_number(fit.axes, "iterations"));
}

TEST(Shen2013, OnePointIsNoLineAndSaysSo) {
  const auto rows = rows_of("launch-wait", {10}, [](int64_t) { return 1.0; });
  const auto all = series_of(rows, "iterations", "total_time", fit_weights::even);
  const row fit = line_row(all.at(0), {"iterations", "a line", "step_time", "us", "ms", 1e3});
  EXPECT_EQ(fit.status, row_status::skipped);
  EXPECT_EQ(*fit.reason, "A line needs two different numbers of iterations; one was measured.");
}

TEST(Shen2013, PublishedFitsAreWhatTheTablesGive) {
  const auto fits = [](const char* experiment, const char* axis, const char* metric) {
    std::map<std::string, line_fit> lines;
    for (const auto& series :
         series_of(published_rows(paper::shen_2013, experiment), axis, metric, fit_weights::even)) {
      lines[thesis_method_of(series.like)] = *fit_line(series.points);
    }
    return lines;
  };
  // Equation 3: 258 ns for each work-group's atomic operation. Equation 4: none.
  auto barriers = fits("opencl-barriers", "groups", "device_time");
  EXPECT_NEAR(barriers["centralized"].slope, 0.2584, 1e-4);
  EXPECT_NEAR(barriers["centralized"].r_squared, 0.9914, 1e-4);
  EXPECT_NEAR(barriers["decentralized"].slope, 0.0152, 1e-4);
  // Equations 5 and 6.
  auto iterations = fits("opencl-iterations", "iterations", "total_time");
  EXPECT_NEAR(iterations["launch-wait"].slope, 0.33085, 1e-5);
  EXPECT_NEAR(iterations["centralized"].slope, 0.017924, 1e-6);
  EXPECT_NEAR(iterations["decentralized"].slope, 0.0088906, 1e-7);
  auto memory = fits("opencl-memory", "groups", "device_memory");
  EXPECT_NEAR(memory["launch-wait"].slope, 0.5, 1e-12);
}

TEST(Shen2013, TheThesissBarriersOvertakeItsHostAtOnce) {
  const auto all =
      series_of(published_rows(paper::shen_2013, "opencl-iterations"), "iterations", "total_time", fit_weights::even);
  const auto curve = [&](const std::string& method) {
    return curve_of(*std::ranges::find(all, method, [](const method_series& series) { return series.like.method; }));
  };
  EXPECT_EQ(stays_below_from(curve("published-decentralized"), curve("published-launch-wait")), 10);
  EXPECT_NEAR(*stays_below_from(curve("published-centralized"), curve("published-launch-wait")), 11.67, 0.01);
}

TEST(Shen2013, PlacesAreGivenToAllThreeMethodsOrToNone) {
  std::vector<row> fits;
  const auto value = [](const row& entry) { return value_of(entry, "total_time"); };
  for (const auto& [method, time] : std::initializer_list<std::pair<const char*, double>>{
           {"launch-wait", 3}, {"tree-2-acquire-release", 0.5}, {"decentralized-acquire-release", 1}}) {
    fits.push_back(rows_of(method, {1}, [time = time](int64_t) { return time; })[0]);
  }
  add_thesis_places(fits, value);
  for (const row& entry : fits) EXPECT_FALSE(value_of(entry, "place")) << entry.method;
  fits.push_back(rows_of("centralized-acquire-release", {1}, [](int64_t) { return 2.0; })[0]);
  add_thesis_places(fits, value);
  EXPECT_EQ(value_of(fits[0], "place"), 3);
  EXPECT_FALSE(value_of(fits[1], "place"));
  EXPECT_EQ(value_of(fits[2], "place"), 1);
  EXPECT_EQ(value_of(fits[3], "place"), 2);
}

TEST(Shen2013, TheVerdictHasThenAndNowAndWhereABarrierBeginsToPay) {
  document results;
  const auto add = [&](const char* device, const char* method, double time, std::optional<bool> verified) {
    row entry;
    entry.experiment = "opencl-iterations";
    entry.device = device;
    entry.axes = {{"groups", int64_t{70}}, {"items", int64_t{64}}};
    entry.method = method;
    entry.metrics = {{"step_time", {}}};
    entry.metrics[0].second.value = time;
    entry.metrics[0].second.unit = "us";
    entry.metrics[0].second.n = 10;
    entry.metrics[0].second.stddev = time / 100;
    entry.axes.emplace_back("fit", "line");
    entry.verified = verified;
    derive_method(entry);
    results.rows.push_back(entry);
  };
  add("opencl:0", "launch-wait", 10, true);
  add("opencl:0", "centralized-acquire-release", 2, true);
  results.rows.back().metrics.push_back({"wins_from", {}});
  results.rows.back().metrics.back().second.value = 3;
  add("opencl:0", "tree-2-acquire-release", 4, true);
  add("published: Old", "published-launch-wait", 331, std::nullopt);
  add("published: Old", "published-centralized", 17.9, std::nullopt);
  const auto found = verdicts(results);
  ASSERT_EQ(found.size(), 1u) << "what was published is not judged";
  EXPECT_EQ(
      found[0].text,
      "Use centralized-acquire-release: 2.00 us a step, 5.0x faster than launching and waiting on the host (opencl:0, "
      "70 work-groups of 64 work-items, fit line).");
  EXPECT_EQ(
      found[0].behind,
      "centralized-acquire-release takes 2.00 us a step; tree-2-acquire-release takes 4.00 us (2.0x); "
      "centralized-acquire-release takes less than launching and waiting on the "
      "host from 3 steps on; then, on Old: centralized 17.9 us, launch-wait 331 us; now: centralized-acquire-release "
      "2.00 us, launch-wait 10.0 us.");
}

TEST(ThesisExpectation, IsTheSameInWhateverOrderItIsAskedFor) {
  thesis_expectation rising(5, 3, true), falling(5, 3, true);
  const auto two = rising.after(2).traces;
  const auto nine = rising.after(9).traces;
  EXPECT_EQ(falling.after(9).traces, nine);
  EXPECT_EQ(falling.after(2).traces, two);
  EXPECT_NE(two, nine);
  EXPECT_EQ(rising.after(1).traces_before_last, std::vector<uint32_t>(15, 0));
}

TEST(ThesisExpectation, HangsOnOtherGroups) {
  thesis_expectation crossing(4, 2, true), alone(4, 2, false);
  EXPECT_EQ(crossing.after(1).values, alone.after(1).values);
  for (size_t i = 0; i < 8; ++i) EXPECT_NE(crossing.after(1).traces[i], alone.after(1).traces[i]) << i;
  for (size_t i = 0; i < 8; ++i) EXPECT_NE(crossing.after(2).values[i], alone.after(2).values[i]) << i;
}

}  // namespace
}  // namespace gpusync::tool
