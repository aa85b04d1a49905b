// The statements of Zhang and others as predicates on rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "experiments/zhang_2020/observation_rules.hpp"
#include "harness/answers.hpp"
#include "harness/experiment.hpp"
#include "harness/published.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {
namespace {

row row_of(const std::string& experiment, const std::string& method, const axis_values& axes, const std::string& name,
           double value) {
  row entry;
  entry.experiment = experiment;
  entry.device = "cuda:0";
  entry.method = method;
  entry.axes = axes;
  entry.metrics = {{name, plain_metric(value, "1", 1)}};
  return entry;
}

observation_finding find(const std::string& id, const std::vector<row>& rows) {
  const auto found = std::ranges::find_if(observations(), [&](const observation& each) { return each.id == id; });
  if (found == observations().end()) throw std::logic_error("no statement " + id);
  return judge(*found, rows);
}

observation_finding::state state_of(const std::string& id, const std::vector<row>& rows) {
  return find(id, rows).what;
}

constexpr auto holds = observation_finding::holds, fails = observation_finding::fails,
               not_measured = observation_finding::not_measured;

TEST(Observations, SayWhatLacksWhereNothingWasMeasured) {
  std::set<std::string> ids;
  for (const observation& each : observations()) {
    EXPECT_TRUE(ids.insert(each.id).second) << each.id;
    const observation_finding found = judge(each, {});
    EXPECT_EQ(found.what, not_measured) << each.id;
    EXPECT_FALSE(found.evidence.empty()) << each.id;
  }
  EXPECT_EQ(ids.size(), 13u);
}

TEST(Observations, TakeNothingThatWasPrinted) {
  std::vector<row> rows;
  for (const char* experiment : {"reduction", "warp-reduction", "block-sync", "grid-sync", "launch-overhead"}) {
    for (const row& entry : published_rows(paper::zhang_2020, experiment)) rows.push_back(entry);
  }
  for (const observation& each : observations()) EXPECT_EQ(judge(each, rows).what, not_measured) << each.id;
}

TEST(Observations, AWarpBarrierThatLetsOneLanePassIsEnough) {
  std::vector<row> rows{row_of("warp-timers", "tile", {}, "runs_held", 1),
                        row_of("warp-timers", "none", {}, "runs_held", 0)};
  rows[1].kind = method_kind::floor;
  EXPECT_EQ(state_of("warp-on-pascal", rows), fails);
  rows.push_back(row_of("warp-timers", "coalesced", {}, "runs_held", 0.99));
  const observation_finding found = find("warp-on-pascal", rows);
  EXPECT_EQ(found.what, holds);
  EXPECT_EQ(found.evidence, "1 of 2 let lanes pass before all had come: coalesced.");
}

TEST(Observations, ShufflesAreComparedWithTheBestSumThroughSharedMemory) {
  std::vector<row> rows{row_of("warp-reduction", "shuffle-tile", {}, "latency", 201),
                        row_of("warp-reduction", "tile", {}, "latency", 238)};
  EXPECT_EQ(state_of("warp-shuffle", rows), holds);
  rows.push_back(row_of("warp-reduction", "coalesced", {}, "latency", 190));
  EXPECT_EQ(state_of("warp-shuffle", rows), fails);
  rows.back().status = row_status::failed;
  EXPECT_EQ(state_of("warp-shuffle", rows), holds);
}

TEST(Observations, ImplicitAndExplicitSumsAreComparedByTheRatesOfColdInputs) {
  const axis_values cold{{"input", std::string("cold")}};
  std::vector<row> rows{row_of("reduction", "implicit", cold, "bandwidth", 4'500),
                        row_of("reduction", "grid-cg", cold, "bandwidth", 4'400)};
  EXPECT_EQ(state_of("implicit-one-gpu", rows), holds);
  rows.push_back(row_of("reduction", "grid-cg", {{"input", std::string("l2")}}, "bandwidth", 6'000));
  EXPECT_EQ(state_of("implicit-one-gpu", rows), holds) << "from a cache";
  rows[1].metrics[0].second.value = 4'600;
  EXPECT_EQ(state_of("implicit-one-gpu", rows), fails);
}

TEST(Observations, BlockBarriersHangOnTheWarps) {
  const auto at = [](int64_t threads, double cycles) {
    return row_of("block-sync", "syncthreads", {{"threads", threads}}, "latency", cycles);
  };
  EXPECT_EQ(state_of("block-warps", {at(32, 14)}), not_measured) << "one size says nothing";
  EXPECT_EQ(state_of("block-warps", {at(32, 14), at(1024, 76)}), holds);
  EXPECT_EQ(state_of("block-warps", {at(32, 14), at(1024, 14)}), fails);
}

row step(int64_t blocks, int64_t threads, double us, int64_t stores = 0) {
  return row_of("grid-sync", "cg", {{"blocks_per_sm", blocks}, {"threads", threads}, {"stores", stores}}, "step_time",
                us);
}

TEST(Observations, TheLargerEffectOfTwoIsTheMainOne) {
  EXPECT_EQ(state_of("grid-blocks", {step(1, 32, 0.96), step(1, 1024, 0.99), step(8, 32, 2.2)}), holds);
  EXPECT_EQ(state_of("grid-blocks", {step(1, 32, 1), step(1, 1024, 3), step(8, 32, 2.2)}), fails);
  EXPECT_EQ(state_of("grid-blocks", {step(1, 32, 1), step(8, 1024, 3)}), not_measured) << "both differ";
}

TEST(Observations, AGridBarrierIsAcceptableWithinTheLaunchsOverheadAndThePapersDifference) {
  const auto launch = [](int64_t unit, double us) {
    return row_of("launch-overhead", "traditional", {{"unit", std::string("clock")}, {"unit_us", unit}},
                  "launch_overhead", us);
  };
  std::vector<row> rows{step(1, 32, 1), step(2, 1024, 3.8), step(8, 32, 9), launch(1, 0.1)};
  EXPECT_EQ(state_of("grid-acceptable", rows), not_measured) << "a unit of 1 us is not believed";
  rows.push_back(launch(10, 1.4));
  EXPECT_EQ(state_of("grid-acceptable", rows), holds);
  rows.push_back(step(2, 256, 4));
  EXPECT_EQ(state_of("grid-acceptable", rows), fails);
}

TEST(Observations, DeadlocksAreFoundThoughTheirRowsFail) {
  const axis_values leaves{{"subset", std::string("half")}, {"rest", std::string("leaves")}};
  std::vector<row> rows{row_of("partial-sync", "cg", leaves, "deadlock", 0)};
  EXPECT_EQ(state_of("grid-part", rows), fails);
  rows.push_back(row_of("partial-sync", "cg", leaves, "deadlock", 1));
  rows.back().status = row_status::failed;
  EXPECT_EQ(state_of("grid-part", rows), holds);
}

TEST(Observations, FewStepsAreComparedAsLaunchesOfTheirOwn) {
  const auto launch = [](const char* method, int64_t barriers, double us) {
    return row_of("grid-sync", method, {{"launched", std::string("stream")}, {"barriers", barriers}}, "launch_time",
                  us);
  };
  std::vector<row> rows{launch("cg", 1, 4), launch("cg", 8, 11), launch("no-barrier", 1, 1.5)};
  rows.back().kind = method_kind::floor;
  EXPECT_EQ(state_of("implicit-few-steps", rows), holds);
  rows[0].metrics[0].second.value = 2.5;
  EXPECT_EQ(state_of("implicit-few-steps", rows), fails);
}

/// In a run of many experiments: by the rows of the device that are there, nothing is measured for it.
TEST(Observations, AreJudgedByTheRowsOfTheRun) {
  std::vector<row> rows{
      row_of("grid-sync", "cg", {{"launched", std::string("stream")}, {"barriers", int64_t{1}}}, "launch_time", 4.0)};
  rows.push_back(rows.front());
  rows.back().axes.back().second = int64_t{8};
  rows.back().metrics[0].second.value = 11;
  rows.push_back(rows.front());
  rows.back().method = "no-barrier";
  rows.back().kind = method_kind::floor;
  rows.back().metrics[0].second.value = 1.5;
  for (row& each : rows) each.device = "cuda:1";
  const auto verdict = [&](const char* device) {
    experiment_request request;
    request.device.kind = device_kind::cuda;
    request.device.id = device;
    request.device.name = "A GPU";
    std::optional<double> held;
    size_t judged = 0;
    experiment_sink sink;
    sink.interrupted = [] { return false; };
    sink.progress = [](double, const std::string&) {};
    sink.so_far = &rows;
    sink.add = [&](const row& each, bool) {
      judged += each.status == row_status::ok;
      if (each.method == "implicit-few-steps") held = value_of(each, "holds");
    };
    find_experiment("observations").run(request, sink);
    return std::pair(judged, held);
  };
  EXPECT_EQ(verdict("cuda:1"), std::pair(size_t{1}, std::optional(1.0)));
  EXPECT_EQ(verdict("cuda:0"), std::pair(size_t{0}, std::optional<double>()));
}

TEST(Observations, AreAnsweredInASentence) {
  document results;
  const auto add = [&](const char* id, std::optional<double> value) {
    row entry = row_of("observations", id, {{"of", std::string("NVIDIA H200")}}, "holds", value.value_or(0));
    entry.device = "host";
    if (!value) {
      entry.metrics.clear();
      entry.status = row_status::skipped;
      entry.reason = "Not measured.";
    }
    results.rows.push_back(entry);
  };
  add("block-warps", 1);
  add("grid-part", 1);
  add("warp-on-pascal", 0);
  add("multi-grid-part", std::nullopt);
  const std::vector<std::string> found = answers(results);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found.front().starts_with(
      "2 of 3 observations of 2020 hold on NVIDIA H200, warp-on-pascal does not; 1 not measured (host"))
      << found.front();
}

}  // namespace
}  // namespace gpusync::tool
