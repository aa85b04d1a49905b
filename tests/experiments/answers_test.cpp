// What the recorded documents say in a sentence.
#include "experiments/answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "results/groups.hpp"
#include "results/json.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> recorded_documents() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(GPUSYNC_RECORDED_RESULTS)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  return paths;
}

TEST(Answers, ThereIsOneForEachExperimentOfEveryRecordedDocumentInTwentyFiveWords) {
  const auto paths = recorded_documents();
  ASSERT_GT(paths.size(), 20u);
  for (const fs::path& path : paths) {
    const document results = read_document(path);
    const auto is_ours = [](const std::string& name) {
      return std::ranges::any_of(all_experiments(), [&](const experiment* one) { return one->name == name; });
    };
    std::set<std::pair<std::string, std::string>> measured, answered;
    for (const row& entry : results.rows) {
      // What scripts write need have no answer, nor a program that only stands beside.
      if (is_ours(entry.experiment) && !is_published(entry) && entry.method != "mummer") {
        measured.emplace(entry.experiment, entry.device);
      }
    }
    const std::vector<found_answer> found = found_answers(results);
    for (const found_answer& one : found) {
      if (is_ours(one.experiment)) answered.emplace(one.experiment, one.device);
    }
    // `gpusync reproduce` has no time for all cases, and some answers need several.
    const bool is_cut_short = path.filename().string().starts_with("reproduce");
    if (is_cut_short) {
      EXPECT_GT(answered.size(), measured.size() * 3 / 4) << path;
      EXPECT_TRUE(std::ranges::includes(measured, answered)) << path;
    } else {
      EXPECT_EQ(answered, measured) << path;
    }
    for (const auto& [experiment, device, text] : found) {
      EXPECT_LE(std::ranges::count(text, ' ') + 1, 25) << text;
      EXPECT_TRUE(text.ends_with(").")) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
}

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
  document results = read_document(recorded_documents().front());
  for (row& entry : results.rows) entry.experiment = "unheard-of";
  for (row& entry : results.rows) entry.metrics.clear();
  EXPECT_TRUE(answers(results).empty());
}

}  // namespace
}  // namespace gpusync::tool
