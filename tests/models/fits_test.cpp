// Fits are made from rows, so that a recorded document gives the same ones again.
#include "models/fits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "results/groups.hpp"
#include "results/json.hpp"

namespace gpusync::tool {
namespace {

bool has_axis(const row& entry, const char* name) {
  return std::ranges::find(entry.axes, name, [](const auto& axis) { return axis.first; }) != entry.axes.end();
}

document recorded(const char* name) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return read_document((root / "results" / "nvidia-h200" / name).string());
}

/// Every row as text.
std::vector<std::string> lines_of(const document& results) {
  std::vector<std::string> lines;
  const json written = to_json(results);
  for (const json& entry : written.at("rows")) lines.push_back(entry.dump());
  return lines;
}

class Refitted : public testing::TestWithParam<const char*> {};

TEST_P(Refitted, ARecordedDocumentHasTheSameFitsInTheSamePlaces) {
  const document before = recorded(GetParam());
  const auto fits = std::ranges::count_if(before.rows, [](const row& entry) { return has_axis(entry, "fit"); });
  ASSERT_GT(fits, 3);
  const std::vector<std::string> then = lines_of(before), now = lines_of(refitted(before));
  ASSERT_EQ(then.size(), now.size());
  for (size_t i = 0; i < then.size(); ++i) EXPECT_EQ(then[i], now[i]);
}

INSTANTIATE_TEST_SUITE_P(Documents, Refitted,
                         testing::Values("opencl-barriers.json", "opencl-iterations.json", "opencl-memory.json",
                                         "cost-decomposition.json"));

/// Documents of before the ranges of blocks were what they are now.
class FittedAnew : public testing::TestWithParam<const char*> {};

TEST_P(FittedAnew, ARecordedDocumentHasFitsOfTheSameMethodsInTheSamePlaces) {
  const document before = recorded(GetParam()), now = refitted(before);
  ASSERT_EQ(before.rows.size(), now.rows.size());
  size_t ranges = 0;
  for (size_t i = 0; i < now.rows.size(); ++i) {
    EXPECT_EQ(now.rows[i].method, before.rows[i].method);
    EXPECT_EQ(now.rows[i].axes, before.rows[i].axes);
    EXPECT_EQ(now.rows[i].items, before.rows[i].items);
    ranges += value_of(now.rows[i], "faster_from") ? 1 : 0;
  }
  EXPECT_GT(ranges, 3u);
  EXPECT_EQ(lines_of(refitted(now)), lines_of(now));
}

INSTANTIATE_TEST_SUITE_P(Documents, FittedAnew, testing::Values("smith-waterman.json", "bitonic-sort.json"));

TEST(Fits, RowsThatNoModelIsAboutHaveNone) {
  EXPECT_TRUE(fits_of({}).empty());
  const document other = recorded("grid-barriers.json");
  EXPECT_TRUE(fits_of(other.rows).empty());
  EXPECT_EQ(lines_of(refitted(other)), lines_of(other));
}

TEST(Fits, AreMadeOfChangedRowsAnew) {
  document results = recorded("opencl-memory.json");
  for (row& entry : results.rows) {
    if (metric* memory = entry.metrics.empty() || has_axis(entry, "fit") ? nullptr : &entry.metrics.front().second) {
      if (memory->value) *memory->value *= 2;
    }
  }
  const document again = refitted(results);
  for (size_t i = 0; i < again.rows.size(); ++i) {
    if (!has_axis(again.rows[i], "fit")) continue;
    EXPECT_NEAR(*value_of(again.rows[i], "memory_per_group"), 2 * *value_of(results.rows[i], "memory_per_group"), 1e-9);
  }
}

}  // namespace
}  // namespace gpusync::tool
