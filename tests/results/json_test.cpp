#include "results/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sample_rows.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

std::string text_of(const document& results) {
  return to_json_text(results);
}

std::optional<double> any_number() {
  const auto mantissa = *rc::gen::arbitrary<int64_t>();
  const auto exponent = *rc::gen::inRange(-300, 290);
  return *rc::gen::arbitrary<bool>() ? std::optional(static_cast<double>(mantissa) / 9.2e18 * std::pow(10.0, exponent))
                                     : std::nullopt;
}

/// Text of letters that JSON, CSV and HTML treat specially, and of two and four bytes in UTF-8.
std::string any_text() {
  const auto parts = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "\"", "\\", "\n", "<", "/", "\x01", "ü", "😀", ",", " "));
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

std::optional<std::string> maybe_text() {
  return *rc::gen::arbitrary<bool>() ? std::optional(any_text()) : std::nullopt;
}

metric any_metric() {
  metric measured;
  measured.value = any_number();
  measured.unit = any_text();
  measured.n = *rc::gen::arbitrary<uint64_t>();
  measured.q1 = any_number();
  measured.median = any_number();
  measured.q3 = any_number();
  measured.stddev = any_number();
  if (*rc::gen::arbitrary<bool>()) {
    measured.samples.emplace();
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) measured.samples->push_back(any_number().value_or(0));
  }
  measured.stop = maybe_text();
  return measured;
}

row any_row() {
  row entry;
  entry.experiment = any_text();
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) entry.items.push_back(any_text());
  entry.device = any_text();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    const axis_value value =
        *rc::gen::arbitrary<bool>() ? axis_value(*rc::gen::arbitrary<int64_t>()) : axis_value(any_text());
    entry.axes.emplace_back(std::to_string(i) + any_text(), value);
  }
  entry.method = any_text();
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    entry.metrics.emplace_back(std::to_string(i) + any_text(), any_metric());
  }
  if (*rc::gen::arbitrary<bool>()) entry.verified = *rc::gen::arbitrary<bool>();
  entry.verification = maybe_text();
  entry.clock_mhz = any_number();
  entry.status = *rc::gen::element(row_status::ok, row_status::failed, row_status::skipped);
  entry.reason = maybe_text();
  return entry;
}

bool same(const metric& a, const metric& b) {
  return a.value == b.value && a.unit == b.unit && a.n == b.n && a.q1 == b.q1 && a.median == b.median && a.q3 == b.q3 &&
         a.stddev == b.stddev && a.samples == b.samples && a.stop == b.stop;
}

bool same(const row& a, const row& b) {
  const bool same_metrics = std::ranges::equal(a.metrics, b.metrics, [](const auto& x, const auto& y) {
    return x.first == y.first && same(x.second, y.second);
  });
  return same_metrics && a.experiment == b.experiment && a.items == b.items && a.device == b.device &&
         a.axes == b.axes && a.method == b.method && a.verified == b.verified && a.verification == b.verification &&
         a.clock_mhz == b.clock_mhz && a.status == b.status && a.reason == b.reason;
}

TEST(json, any_document_survives_being_written_and_read) {
  EXPECT_TRUE(rc::check([] {
    document written;
    written.context = json{{"complete", *rc::gen::arbitrary<bool>()}, {"note", any_text()}};
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) written.rows.push_back(any_row());
    const document read = parse_document(to_json_text(written), "test");
    RC_ASSERT(*read.context == *written.context);
    RC_ASSERT(std::ranges::equal(read.rows, written.rows, [](const row& a, const row& b) { return same(a, b); }));
  }));
}

TEST(json, keys_are_those_of_the_design) {
  const json written = to_json(h200_document({barrier_row("cg", 0.98)}));
  EXPECT_EQ(written.at("schema"), "gpusync-results/2");
  std::vector<std::string> keys;
  for (const auto& item : written.at("rows").at(0).items()) keys.push_back(item.key());
  EXPECT_EQ(keys,
            (std::vector<std::string>{"experiment", "items", "device", "axes", "method", "kind", "ordered", "rival",
                                      "metrics", "verified", "verification", "clock_mhz", "status", "reason"}));
  keys.clear();
  for (const auto& item : written.at("rows").at(0).at("metrics").at("step_time").items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"value", "unit", "n", "q1", "median", "q3", "stddev", "samples", "stop",
                                            "interval"}));
}

TEST(json, what_is_not_finite_or_not_measured_is_null) {
  document results = h200_document({barrier_row("cg", 1)});
  metric& measured = results.rows[0].metrics[0].second;
  measured.value = std::numeric_limits<double>::quiet_NaN();
  measured.q1 = std::numeric_limits<double>::infinity();
  measured.q3.reset();
  measured.samples = {1.0, std::nan("")};
  const json written = to_json(results).at("rows").at(0).at("metrics").at("step_time");
  EXPECT_TRUE(written.at("value").is_null());
  EXPECT_TRUE(written.at("q1").is_null());
  EXPECT_TRUE(written.at("q3").is_null());
  EXPECT_EQ(written.at("samples").dump(), "[1.0,null]");
}

TEST(json, bytes_that_are_not_utf8_are_replaced_when_written) {
  document results = h200_document({barrier_row("cg\xff", 1)});
  EXPECT_EQ(parse_document(text_of(results), "test").rows[0].method, "cg\uFFFD");
}

TEST(json, the_example_in_the_design_is_read) {
  const document results = parse_document(R"({"schema": "gpusync-results/1", "context": {"complete": true},
    "rows": [{"experiment": "barrier-cost", "items": ["F1"], "device": "cuda:0",
      "axes": {"blocks": 132, "threads": 256}, "method": "cg",
      "metrics": {"step_time": {"value": 0.98, "unit": "us", "n": 25, "q1": 0.97, "median": 0.98, "q3": 0.98,
                                "stddev": 0.004, "samples": null}},
      "verified": true, "status": "ok", "reason": null, "unheard_of": [1]}]})",
                                          "test");
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_EQ(results.rows[0].find_metric("step_time")->value, 0.98);
  EXPECT_EQ(results.rows[0].find_metric("other"), nullptr);
  EXPECT_FALSE(results.rows[0].clock_mhz);
}

TEST(json, the_first_versions_rows_are_told_by_their_names) {
  const auto read = [](const std::string& experiment, const std::string& method, const std::string& device) {
    const document results = parse_document(R"({"schema": "gpusync-results/1", "rows": [{"experiment": ")" +
                                                experiment + R"(", "device": ")" + device + R"(", "method": ")" +
                                                method + R"(", "kind": "floor", "status": "ok"}]})",
                                            "test");
    const row& entry = results.rows.at(0);
    return std::string(entry.kind ? to_string(*entry.kind) : "null") + (entry.ordered ? "" : " unordered") +
           (entry.rival ? " rival" : "");
  };
  EXPECT_EQ(read("barrier-cost", "no-barrier", "host"), "floor");
  EXPECT_EQ(read("barrier-cost", "launch-wait", "host"), "host-wait rival");
  EXPECT_EQ(read("barrier-cost", "relaunch", "cuda:0"), "launch rival");
  EXPECT_EQ(read("barrier-cost", "cooperative-relaunch", "cuda:0"), "launch rival");
  EXPECT_EQ(read("barrier-cost", "graph-pdl", "cuda:0"), "graph rival");
  EXPECT_EQ(read("barrier-cost", "cg", "cuda:0"), "barrier rival");
  EXPECT_EQ(read("barrier-cost", "lock-based-none", "cuda:0"), "barrier unordered");
  EXPECT_EQ(read("message-floor", "relaxed-near", "cuda:0"), "neighbours unordered");
  EXPECT_EQ(read("rmw-cost", "hardware", "cuda:0"), "object rival");
  EXPECT_EQ(read("rmw-cost", "cas", "host"), "object");
  EXPECT_EQ(read("smith-waterman", "traceback", "host"), "null");
  EXPECT_EQ(read("smith-waterman", "published-lock-based-none", "published: Old"), "null unordered");
}

TEST(json, the_second_versions_rows_say_what_they_are) {
  const auto read = [](const std::string& fields) {
    return parse_document(R"({"schema": "gpusync-results/2", "rows": [{"experiment": "e", "device": "host",
      "method": "no-barrier", "status": "ok")" +
                              fields + "}]}",
                          "test")
        .rows.at(0);
  };
  EXPECT_EQ(read(R"(, "kind": "object", "ordered": false, "rival": true)").kind, method_kind::object);
  EXPECT_FALSE(read(R"(, "ordered": false)").ordered);
  EXPECT_TRUE(read(R"(, "rival": true)").rival);
  EXPECT_EQ(read("").kind, std::nullopt) << "a missing key is null, whatever the name says";
  EXPECT_THROW(read(R"(, "kind": "magic")"), usage_error);
  EXPECT_THROW(read(R"(, "ordered": 1)"), usage_error);
}

TEST(json, the_sample_document_is_read_and_written_back_the_same) {
  const document sample = read_document(GPUSYNC_SAMPLE);
  EXPECT_GT(sample.rows.size(), 200u);
  EXPECT_EQ(text_of(parse_document(text_of(sample), "again")), text_of(sample));
}

}  // namespace
}  // namespace gpusync::tool
