#include "experiments/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace gpusync::tool {
namespace {

constexpr const char* items = R"([{"id": "F1", "paper": "p", "title": "t"}, {"id": "F2", "paper": "p", "title": "u"}])";

std::string refusal(const std::string& claims) {
  try {
    (void)build_coverage(items, claims);
    return "";
  } catch (const std::logic_error& error) {
    return error.what();
  }
}

TEST(coverage, has_every_item_of_the_five_papers_in_order) {
  std::map<char, int> counts;
  for (const covered_item& item : build_coverage().items) {
    EXPECT_EQ(item.id, item.id[0] + std::to_string(++counts[item.id[0]]));
    EXPECT_FALSE(item.title.empty());
    EXPECT_FALSE(item.paper.empty());
  }
  EXPECT_EQ(counts, (std::map<char, int>{{'F', 20}, {'L', 18}, {'Z', 24}, {'H', 9}, {'S', 10}}));
}

TEST(coverage, an_item_without_claim_is_missing) {
  const coverage_list coverage =
      build_coverage(items, R"([{"item": "F2", "status": "done", "by": ["x"], "devices": ["host"], "note": null}])");
  EXPECT_EQ(to_json(coverage).dump(),
            R"({"items":[{"id":"F1","title":"t","status":"missing","by":[],"devices":[],"note":null},)"
            R"({"id":"F2","title":"u","status":"done","by":["x"],"devices":["host"],"note":null}]})");
}

TEST(coverage, claims_that_do_not_fit_are_refused) {
  EXPECT_NE(refusal(R"([{"item": "F9", "status": "done", "by": ["x"], "devices": ["host"], "note": null}])"), "");
  EXPECT_NE(refusal(R"([{"item": "F1", "status": "almost", "by": ["x"], "devices": ["host"], "note": null}])"), "");
  EXPECT_NE(refusal(R"([{"item": "F1", "status": "done", "by": [], "devices": ["host"], "note": null}])"), "");
  EXPECT_NE(refusal(R"([{"item": "F1", "status": "done", "by": ["x"], "devices": ["tpu"], "note": null}])"), "");
  EXPECT_NE(refusal(R"([{"item": "F1", "status": "partial", "by": ["x"], "devices": ["host"], "note": null}])"), "");
  EXPECT_NE(refusal(R"([{"item": "F1"}])"), "");
  EXPECT_NE(refusal(R"([)"), "");
  const std::string claim = R"({"item": "F1", "status": "done", "by": ["x"], "devices": ["host"], "note": null})";
  EXPECT_NE(refusal("[" + claim + "," + claim + "]"), "");
  EXPECT_EQ(refusal("[" + claim + "]"), "");
}

TEST(coverage, the_table_counts_each_status) {
  const std::string table = to_table(build_coverage(items, "[]"), false);
  EXPECT_TRUE(table.ends_with("2 items: 0 done, 0 partial, 2 missing\n")) << table;
  EXPECT_EQ(table.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace gpusync::tool
