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
    std::set<std::pair<std::string, std::string>> measured;
    for (const row& entry : results.rows) {
      if (!is_published(entry)) measured.emplace(entry.experiment, entry.device);
    }
    const std::vector<std::string> found = answers(results);
    EXPECT_EQ(found.size(), measured.size()) << path;
    for (const std::string& text : found) {
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

TEST(Answers, OfAnExperimentThatNobodyKnowsThereIsNone) {
  document results = read_document(recorded_documents().front());
  for (row& entry : results.rows) entry.experiment = "unheard-of";
  for (row& entry : results.rows) entry.metrics.clear();
  EXPECT_TRUE(answers(results).empty());
}

}  // namespace
}  // namespace gpusync::tool
