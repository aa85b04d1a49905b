// Every recorded document has its answers. It reads them all, which takes a minute under a sanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/answers.hpp"
#include "results/groups.hpp"
#include "results/json.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> recorded_documents() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(GPUSYNC_RECORDED_RESULTS)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".json") || name.ends_with(".json.gz")) paths.push_back(entry.path());
  }
  return paths;
}

TEST(RecordedAnswers, ThereIsOneForEachExperimentOfEveryRecordedDocumentInTwentyFiveWords) {
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

}  // namespace
}  // namespace gpusync::tool
