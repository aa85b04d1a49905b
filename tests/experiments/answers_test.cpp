// What the recorded documents say in a sentence.
#include "experiments/answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "results/groups.hpp"
#include "results/json.hpp"

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

TEST(Answers, OfAnExperimentThatNobodyKnowsThereIsNone) {
  document results = read_document(recorded_documents().front());
  for (row& entry : results.rows) entry.experiment = "unheard-of";
  for (row& entry : results.rows) entry.metrics.clear();
  EXPECT_TRUE(answers(results).empty());
}

}  // namespace
}  // namespace gpusync::tool
