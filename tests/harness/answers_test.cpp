// What documents say in a sentence.
#include "harness/answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "results/json.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> answers_of(const char* path) {
  return answers(read_document(fs::path(GPUSYNC_RECORDED_RESULTS) / path));
}

TEST(Answers, SayWhatTheRowsSay) {
  const auto begins = [](const char* path, const std::string& text) {
    const std::vector<std::string> found = answers_of(path);
    ASSERT_FALSE(found.empty()) << path;
    EXPECT_TRUE(found.front().starts_with(text)) << found.front();
  };
  begins("nvidia-h200/message-floor.json",
         "A message takes 0.533 us from SM to SM by release-acquire, 0.654 us between");
  begins("nvidia-h200/rmw-faults.json", "Survivors ended every call within 100 % of the proven passes, in ");
  begins("nvidia-h200/store-atomicity.json", "No store torn in ");
  begins("nvidia-h200/barrier-stress.json", "No mismatch: ");
}

/// Idle steps of plain graphs in a clean process, and in one in which an uploaded graph waits.
std::string answer_of_graph_states(double clean, double uploaded) {
  document results;
  results.context["devices"] = {{{"id", "cuda:0"}, {"name", "NVIDIA H200"}}};
  for (const auto& [history, time] : {std::pair<std::string, double>{"clean", clean}, {"graph-uploaded", uploaded}}) {
    row entry;
    entry.experiment = "graph-states";
    entry.device = "cuda:0";
    entry.method = "graph";
    entry.kind = method_kind::graph;
    entry.axes = {{"history", history}, {"shape", "132x256"}, {"stores", int64_t{0}}};
    entry.metrics = {{"step_time", plain_metric(time, "us", 1)}};
    results.rows.push_back(std::move(entry));
  }
  return answers(results).front();
}

TEST(Answers, OfGraphStatesSayWhatToDoWithAGraph) {
  EXPECT_EQ(answer_of_graph_states(0.546, 0.724),
            "Launch every graph that you upload: one that waits makes all nodes take 0.724 us instead of 0.546 (NVIDIA "
            "H200).");
  EXPECT_EQ(answer_of_graph_states(0.546, 0.547),
            "Uploading a graph costs other graphs nothing: 0.546 us a node, 0.547 us after (NVIDIA H200).");
}

/// A document of an H200 with these rows.
std::string answer_of(std::vector<row> rows) {
  document results;
  results.context["devices"] = {{{"id", "cuda:0"}, {"name", "NVIDIA H200"}}};
  results.rows = std::move(rows);
  const std::vector<std::string> found = answers(results);
  return found.empty() ? "" : found.front();
}

row row_of(const char* experiment, const std::string& method, axis_values axes,
           const std::vector<std::pair<std::string, double>>& figures) {
  row entry;
  entry.experiment = experiment;
  entry.device = "cuda:0";
  entry.method = method;
  entry.kind = method_kind::launch;
  entry.axes = std::move(axes);
  for (const auto& [name, value] : figures) entry.metrics.emplace_back(name, plain_metric(value, "us", 1));
  return entry;
}

/// Launches by clock spins of a unit that is long enough, and of one that is not.
std::string answer_of_launches(double cooperative) {
  std::vector<row> rows;
  for (const auto& [method, overhead] : {std::pair<std::string, double>{"traditional", 1.40},
                                         {"cooperative", cooperative},
                                         {"graph", 0.6},
                                         {"graph-pdl", 0.243}}) {
    for (const double unit : {1.0, 5.0}) {
      rows.push_back(row_of("launch-overhead", method, {{"measure", "fusion"}, {"unit", "clock"}},
                            {{"launch_overhead", unit < 5 ? 3.0 : overhead}, {"unit_time", unit}, {"least_unit", 5}}));
    }
    rows.push_back(row_of("launch-overhead", method, {{"measure", "fusion"}, {"unit", "nanosleep"}},
                          {{"launch_overhead", 1.02}, {"unit_time", 5}, {"least_unit", 5}}));
  }
  return answer_of(std::move(rows));
}

TEST(Answers, OfLaunchesRestOnUnitsThatAreLongEnough) {
  EXPECT_EQ(answer_of_launches(1.41),
            "A launch costs 1.40 us, cooperative or not; in a graph 0.600, with programmatic launch 0.243 (NVIDIA "
            "H200).");
  EXPECT_EQ(answer_of_launches(1.71),
            "A launch costs 1.40 us, a cooperative one 1.71; in a graph 0.600, with programmatic launch 0.243 (NVIDIA "
            "H200).");
}

TEST(Answers, OfWarpBarriersSayWhichToTrust) {
  const auto held = [](const char* method, double part) {
    return row_of("warp-timers", method, {}, {{"margin", 300}, {"runs_held", part}});
  };
  EXPECT_EQ(answer_of({held("tile", 1), held("shuffle", 1)}),
            "Trust barriers of a warp in divergent code: all 2 kinds held every lane (NVIDIA H200).");
  EXPECT_EQ(answer_of({held("tile", 1), held("shuffle", 0.9)}),
            "Do not trust shuffle in divergent code: lanes passed before all had come (NVIDIA H200).");
}

TEST(Answers, OfPartsOfAGroupNameThoseThatHang) {
  const auto part = [](const char* method, const char* rest, double deadlock) {
    return row_of("partial-sync", method, {{"subset", "half"}, {"rest", rest}}, {{"deadlock", deadlock}});
  };
  EXPECT_EQ(answer_of({part("syncthreads", "leaves", 0), part("syncthreads", "stays", 1), part("cg", "leaves", 1),
                       part("grid-barrier", "leaves", 1), part("grid-barrier-part", "leaves", 0)}),
            "Never let part of a group call cg and grid-barrier: deadlock; 2 other barriers let it pass when the rest "
            "leaves (NVIDIA H200).");
}

TEST(Answers, OfAnExperimentThatNobodyKnowsThereIsNone) {
  document results = read_document(fs::path(GPUSYNC_RECORDED_RESULTS) / "nvidia-h200/message-floor.json");
  for (row& entry : results.rows) entry.experiment = "unheard-of";
  for (row& entry : results.rows) entry.metrics.clear();
  EXPECT_TRUE(answers(results).empty());
}

}  // namespace
}  // namespace gpusync::tool
