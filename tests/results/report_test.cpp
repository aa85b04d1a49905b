#include "report/report.hpp"

#include <gtest/gtest.h>

#include "report/html.hpp"
#include "results/json.hpp"
#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

TEST(report, text_from_a_document_cannot_become_html) {
  const std::string attack = "</script><img src=x onerror=alert(1)>\"'{{script}}";
  document results = h200_document({barrier_row(attack, 1), skipped_row(attack, attack)});
  results.rows[0].device = attack;
  results.rows[0].axes.emplace_back(attack, attack);
  results.rows[0].metrics[0].second.unit = attack;
  results.context["note"] = attack;
  results.context["started"] = attack;
  const std::string page = render_report({results});
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;img"), std::string::npos);
}

TEST(report, names_no_address) {
  const std::string page = render_report({read_document(GPUSYNC_SAMPLE)});
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
}

TEST(report, marks_a_document_that_was_cut_short) {
  document results = h200_document({barrier_row("cg", 1)});
  EXPECT_EQ(render_report({results}).find("INCOMPLETE"), std::string::npos);
  results.context["complete"] = false;
  EXPECT_NE(render_report({results}).find("INCOMPLETE"), std::string::npos);
}

TEST(report, holds_every_document_and_none) {
  const std::string page = render_report({h200_document({barrier_row("cg", 1)}), h200_document({})});
  EXPECT_NE(page.find("id=\"document-0\""), std::string::npos);
  EXPECT_NE(page.find("id=\"document-1\""), std::string::npos);
  EXPECT_NE(render_report({}).find("No documents"), std::string::npos);
}

TEST(html, templates_are_filled_in_one_pass) {
  EXPECT_EQ(fill_template("a {{x}} {{y}} {{", {{"x", "{{y}}"}, {"y", "2"}}), "a {{y}} 2 {{");
  EXPECT_THROW(fill_template("{{z}}", {}), std::out_of_range);
}

}  // namespace
}  // namespace gpusync::tool
