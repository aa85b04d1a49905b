// What the page says of the papers' claims.
#include "report/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "embedded/report_claims_json.hpp"
#include "harness/coverage.hpp"
#include "harness/experiment.hpp"
#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

row timed(const std::string& device, const std::string& method, const std::string& metric_name, double value,
          const std::string& unit = "us", axis_values axes = {}) {
  row entry;
  entry.experiment = "race";
  entry.device = device;
  entry.method = method;
  entry.axes = std::move(axes);
  metric figure;
  figure.value = value;
  figure.unit = unit;
  entry.metrics = {{metric_name, figure}};
  return entry;
}

document with_rows(std::vector<row> rows) {
  document results = h200_document({});
  results.rows = std::move(rows);
  return results;
}

judged_claim judged(const std::string& claim, std::vector<row> rows) {
  const std::vector<document> documents{with_rows(std::move(rows))};
  const auto all = judged_claims(
      R"({"claims": [{"paper": "p", "item": "P1", "experiment": "race", "text": "a takes less than b", )" + claim +
          "}]}",
      documents, device_table(documents));
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? judged_claim{} : all.front();
}

judged_claim a_over_b(double then, double now) {
  return judged(
      R"("form": "ratio", "metric": "time", "method": "a", "over": "b")",
      {timed("published: Old", "published-a", "time", then), timed("published: Old", "published-b", "time", 1),
       timed("cuda:0", "a", "time", now), timed("cuda:0", "b", "time", 1)});
}

TEST(Claims, StandOrFallByTheDirectionOfWhatWasMeasured) {
  EXPECT_EQ(a_over_b(0.5, 0.9).state, claim_state::holds);
  EXPECT_EQ(a_over_b(0.5, 1.01).state, claim_state::even);
  EXPECT_EQ(a_over_b(0.5, 1.5).state, claim_state::turned);
  EXPECT_EQ(a_over_b(1.5, 0.5).state, claim_state::turned);
  EXPECT_EQ(a_over_b(0.99, 1.5).state, claim_state::lost);
  EXPECT_EQ(a_over_b(0.99, 1.01).state, claim_state::holds);
}

TEST(Claims, SayByHowMuchThenAndNow) {
  const judged_claim found = a_over_b(0.5, 1.5);
  EXPECT_EQ(found.then, "0.50x (Old)");
  ASSERT_EQ(found.now.size(), 1u);
  EXPECT_EQ(found.now.front(), "NVIDIA H200: 1.50x: 1.50 us against 1 us");
}

TEST(Claims, AreHeldAgainstTheNearestSizeOfEachDevice) {
  const auto at = [](int64_t blocks) { return axis_values{{"blocks", blocks}}; };
  const judged_claim found =
      judged(R"("form": "value", "neutral": 0, "metric": "gain", "method": "a", "at": {"blocks": 30})",
             {timed("published: Old", "published-a", "gain", 25, "%"), timed("cuda:0", "a", "gain", -9, "%", at(1)),
              timed("cuda:0", "a", "gain", 5, "%", at(32)), timed("host", "a", "gain", -5, "%", at(2))});
  EXPECT_EQ(found.state, claim_state::differs);
  EXPECT_EQ(found.then, "+25 % (Old)");
  EXPECT_EQ(found.now, (std::vector<std::string>{"NVIDIA H200: +5 % (32 blocks)", "host: -5 % (2 blocks)"}));
}

TEST(Claims, CountRows) {
  const judged_claim found = judged(R"("form": "count", "metric": "torn", "is": 0)",
                                    {timed("cuda:0", "a", "torn", 0, "1"), timed("cuda:0", "a", "torn", 3, "1")});
  EXPECT_EQ(found.state, claim_state::differs);
  EXPECT_EQ(found.now.front(), "NVIDIA H200: 1 of 2");
}

TEST(Claims, OfWhatWasNotMeasuredAreLeftOut) {
  const std::vector<document> documents{with_rows({timed("published: Old", "published-a", "time", 1)})};
  EXPECT_TRUE(judged_claims(documents, device_table(documents)).empty());
}

TEST(Claims, ThatMakeNoSenseAreRefused) {
  const std::vector<document> none;
  for (const char* text : {"{}", R"({"claims": [{}]})", "["}) {
    EXPECT_THROW(judged_claims(text, none, device_table(none)), std::logic_error) << text;
  }
  EXPECT_THROW(judged(R"("form": "magic", "metric": "time", "method": "a")", {timed("cuda:0", "a", "time", 1)}),
               std::logic_error);
}

TEST(Claims, ThatTheToolCarriesAreOfItemsAndExperimentsThatThereAre) {
  const coverage_list coverage = build_coverage();
  const auto all = json::parse(embedded::report_claims_json).at("claims");
  EXPECT_GE(all.size(), 20u);
  for (const json& claim : all) {
    const auto item = std::ranges::find(coverage.items, claim.at("item").get<std::string>(), &covered_item::id);
    ASSERT_NE(item, coverage.items.end()) << claim;
    EXPECT_EQ(item->paper, claim.at("paper").get<std::string>()) << claim;
    EXPECT_NO_THROW((void)find_experiment(claim.at("experiment").get<std::string>()));
    EXPECT_FALSE(paper_title(item->paper).empty());
  }
}

}  // namespace
}  // namespace gpusync::tool
