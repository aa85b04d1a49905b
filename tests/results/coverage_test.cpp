#include "harness/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace gpusync::tool {
namespace {

/// An item whose claims are these.
std::string item(const std::string& id, const std::string& claims = "") {
  return R"({"id": ")" + id + R"(", "paper": "p", "title": "t")" + (claims.empty() ? "" : ", " + claims) + "}";
}

const std::string done = R"("status": "done", "by": ["x"], "devices": ["host"], "note": null)";

std::string refusal(const std::string& claims) {
  try {
    (void)build_coverage("[" + item("F1", claims) + "]");
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
  const coverage_list coverage = build_coverage("[" + item("F1") + "," + item("F2", done) + "]");
  EXPECT_EQ(to_json(coverage).dump(),
            R"({"items":[{"id":"F1","title":"t","status":"missing","by":[],"devices":[],"note":null},)"
            R"({"id":"F2","title":"t","status":"done","by":["x"],"devices":["host"],"note":null}]})");
}

TEST(coverage, claims_that_make_no_sense_are_refused) {
  EXPECT_EQ(refusal(done), "");
  EXPECT_EQ(refusal(""), "");
  EXPECT_NE(refusal(R"("status": "almost", "by": ["x"], "devices": ["host"], "note": null)"), "");
  EXPECT_NE(refusal(R"("status": "done", "by": [], "devices": ["host"], "note": null)"), "");
  EXPECT_NE(refusal(R"("status": "done", "by": ["x"], "devices": [], "note": null)"), "");
  EXPECT_NE(refusal(R"("status": "done", "by": ["x"], "devices": ["tpu"], "note": null)"), "");
  EXPECT_NE(refusal(R"("status": "partial", "by": ["x"], "devices": ["host"], "note": null)"), "");
  EXPECT_NE(refusal(R"("status": "done")"), "");
  EXPECT_THROW(build_coverage("["), std::logic_error);
  EXPECT_THROW(build_coverage("[" + item("F1", done) + "," + item("F1", done) + "]"), std::logic_error);
}

TEST(coverage, the_table_counts_each_status) {
  const std::string table = to_table(build_coverage("[" + item("F1") + "," + item("F2") + "]"), false);
  EXPECT_TRUE(table.ends_with("2 items: 0 done, 0 partial, 2 missing\n")) << table;
  EXPECT_EQ(table.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace gpusync::tool
