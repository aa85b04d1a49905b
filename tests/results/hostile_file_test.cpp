// Whatever a file holds, reading it ends in a document or in one sentence.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "results/json.hpp"
#include "sample_rows.hpp"
#include "support/refusal.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

/// The message with which `text` is refused; empty if it is read.
std::string text_refusal(const std::string& text) {
  return test::refusal<usage_error>([&] { (void)parse_document(text, "r.json"); });
}

std::string with_row(const std::string& change) {
  json value = to_json(h200_document({barrier_row("cg", 1), barrier_row("graph", 2)}));
  value.at("rows").at(1).merge_patch(json::parse(change));
  return value.dump();
}

TEST(hostile_file, a_document_cut_off_at_any_byte_is_refused) {
  document results = h200_document({barrier_row("cg", 1), wrong_row("lock-based-none", 0.5)});
  results.rows[0].metrics[0].second.samples = {1.0, 2.5};
  results.rows[0].method = "ü\"";
  std::string text = to_json_text(results);
  text.pop_back();
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_NE(text_refusal(text.substr(0, length)), "") << "cut after " << length << " bytes";
  }
  EXPECT_EQ(text_refusal(text), "");
}

TEST(hostile_file, a_document_with_any_one_byte_changed_is_read_or_refused) {
  const std::string text = to_json(h200_document({barrier_row("cg", 1)})).dump();
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {'\0', '"', '{', ']', '9', '-', '\xff', '\\'}) {
      std::string changed = text;
      changed[at] = byte;
      (void)text_refusal(changed);
    }
  }
}

TEST(hostile_file, messages_name_the_culprit_and_what_is_allowed) {
  EXPECT_EQ(text_refusal(" \n"), "'r.json' is empty; expected a result document (schema \"gpusync-results/2\")");
  EXPECT_EQ(text_refusal("{\"schema\":\n \"gpu"),
            "'r.json' is truncated: its JSON ends unfinished at line 2, column 6 (byte 16); expected a "
            "result document");
  EXPECT_EQ(text_refusal("\x89PNG"),
            "'r.json' is not JSON: it cannot be read beyond line 1, column 1 (byte 0); expected a result document");
  EXPECT_EQ(text_refusal("[1]"),
            "'r.json' is not a gpusync result document: it is an array, not an object; expected "
            "\"schema\": \"gpusync-results/2\"");
  EXPECT_EQ(text_refusal("{}"),
            "'r.json' is not a gpusync result document: it has no key \"schema\"; expected \"schema\": "
            "\"gpusync-results/2\"");
  EXPECT_EQ(text_refusal(R"({"schema": "gpusync-results/3"})"),
            "'r.json' has the schema \"gpusync-results/3\"; this version of gpusync reads \"gpusync-results/2\" and "
            "\"gpusync-results/1\"");
  EXPECT_EQ(text_refusal(R"({"schema": "gpusync-results/1"})"),
            "'r.json': rows is missing; it must be an array of rows");
}

TEST(hostile_file, wrong_types_name_the_row_and_the_key) {
  EXPECT_EQ(text_refusal(with_row(R"({"metrics": {"step_time": {"value": "0.98"}}})")),
            "'r.json': rows[1].metrics.step_time.value is a string; it must be a number or null");
  EXPECT_EQ(text_refusal(with_row(R"({"metrics": {"step_time": {"n": -1}}})")),
            "'r.json': rows[1].metrics.step_time.n is the number -1; it must be an integer from 0 on");
  EXPECT_EQ(text_refusal(with_row(R"({"axes": {"blocks": 1.5}})")),
            "'r.json': rows[1].axes.blocks is the number 1.5; it must be an integer of 64 bits or a string");
  EXPECT_EQ(text_refusal(with_row(R"({"axes": {"blocks": 18446744073709551615}})")),
            "'r.json': rows[1].axes.blocks is the number 18446744073709551615; it must be an integer of 64 "
            "bits or a "
            "string");
  EXPECT_EQ(text_refusal(with_row(R"({"method": null})")), "'r.json': rows[1].method is missing; it must be a string");
  EXPECT_EQ(text_refusal(with_row(R"({"verified": "yes"})")),
            "'r.json': rows[1].verified is a string; it must be true, false or null");
  EXPECT_EQ(text_refusal(with_row(R"({"status": "fine"})")),
            R"('r.json': rows[1].status is "fine"; it must be "ok", "failed" or "skipped")");
  EXPECT_EQ(text_refusal(with_row(R"({"items": ["F1", 2]})")),
            "'r.json': rows[1].items[1] is the number 2; it must be a string");
  EXPECT_EQ(text_refusal(R"({"schema": "gpusync-results/1", "context": [], "rows": []})"),
            "'r.json': context is an array; it must be an object");
}

TEST(hostile_file, names_cannot_steer_a_terminal) {
  const std::string message = text_refusal(with_row(R"({"axes": {"\u001b[31m\u009b": 1.5}})"));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(message.find("\u009b"), std::string::npos);
}

TEST(hostile_file, deep_nesting_and_huge_numbers_are_refused) {
  const std::string deep(1000000, '[');
  EXPECT_NE(text_refusal(deep), "");
  EXPECT_NE(text_refusal(R"({"schema": "gpusync-results/1", "context": {"x": )" + deep + std::string(1000000, ']') +
                         R"(}, "rows": []})")
                .find("nested"),
            std::string::npos);
  EXPECT_NE(text_refusal(R"({"schema": "gpusync-results/1", "context": {"x": 1e999}, "rows": []})"), "");
}

TEST(hostile_file, what_stands_twice_or_behind_a_zero_byte_is_refused) {
  const std::string whole = to_json_text(h200_document({barrier_row("cg", 1)}));
  EXPECT_EQ(text_refusal(whole), "");
  EXPECT_NE(text_refusal(whole + std::string(1, '\0') + "more").find("is not JSON"), std::string::npos);
  const std::string body = whole.substr(whole.find('{') + 1);
  EXPECT_NE(text_refusal(R"({"schema": "gpusync-results/9",)" + body).find("the key \"schema\" twice"),
            std::string::npos);
  EXPECT_NE(text_refusal(R"({"rows": [],)" + body).find("the key \"rows\" twice"), std::string::npos);
}

TEST(hostile_file, what_nobody_reads_costs_nothing_and_no_object_is_wide_without_end) {
  const std::string whole = to_json_text(h200_document({barrier_row("cg", 1)}));
  const std::string body = whole.substr(whole.find('{') + 1);
  EXPECT_EQ(text_refusal(R"({"theirs": {"rows": [1, {"schema": 2}], "deep": [[{}]]}, "more": null,)" + body), "");
  EXPECT_EQ(parse_document(R"({"theirs": {"rows": [1]},)" + body, "r.json").rows.size(), 1);
  std::string nested = R"({"theirs": )";
  for (int i = 0; i < 100; ++i) nested += '[';
  EXPECT_NE(text_refusal(nested).find("nested"), std::string::npos);
  std::string wide;
  for (int i = 0; i < 1001; ++i) wide += R"("a)" + std::to_string(i) + R"(": 1,)";
  wide.back() = '}';
  EXPECT_NE(text_refusal(with_row(R"({"axes": {)" + wide + "}")).find("more than 1000 members"), std::string::npos);
  EXPECT_NE(text_refusal("[1, 2").find("it is an array, not an object"), std::string::npos);
}

TEST(hostile_file, files_that_cannot_be_read_are_named) {
  for (const char* path : {"/nonexistent/r.json", "/tmp"}) {
    try {
      (void)read_document(path);
      ADD_FAILURE() << path;
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace gpusync::tool
