// The rows that the page carries.
#include "report/columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "results/groups.hpp"
#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

json columns_of(const std::vector<document>& documents) {
  return columns_of(rows_by_experiment(documents).at(0), device_table(documents));
}

TEST(Columns, FoldWhatIsTheSameAndLeaveOutWhatIsNot) {
  const json found = columns_of({h200_document({barrier_row("cg", 1.23456789), barrier_row("graph", 2)})});
  EXPECT_EQ(found.at("count"), 2);
  EXPECT_EQ(found.at("device"), 0);
  EXPECT_EQ(found.at("method").size(), 2u);
  EXPECT_EQ(found.at("metrics").at("step_time").at("value"), (json{1.23457, 2}));
  EXPECT_FALSE(found.at("metrics").at("step_time").contains("rows"));
}

TEST(Columns, SayHowOftenAnEntryFollowsItselfWhereThatIsShorter) {
  std::vector<row> rows(7, barrier_row("cg", 1));
  for (int i = 0; i < 5; ++i) rows.push_back(barrier_row("graph", 1.5 + i % 2));
  const json found = columns_of({h200_document(rows)});
  const json& runs = found.at("method").at("runs");
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_NE(runs[0], runs[2]);
  EXPECT_EQ((std::vector{runs[1], runs[3]}), (std::vector<json>{7, 5}));
  EXPECT_EQ(found.at("metrics").at("step_time").at("value").size(), 12u) << "1, seven times, and five that alternate";
}

TEST(Columns, HaveNullForWhatIsNoNumber) {
  row wrong = barrier_row("cg", 1);
  wrong.metrics[0].second.value = std::nan("");
  const json found = columns_of({h200_document({wrong, barrier_row("graph", 2)})});
  EXPECT_EQ(found.at("metrics").at("step_time").at("value"), (json{nullptr, 2}));
}

TEST(Columns, AreNotMoreThanAReaderLooksAt) {
  row wide = barrier_row("cg", 1);
  for (int i = 0; i < 1000; ++i) wide.axes.emplace_back("axis" + std::to_string(i), int64_t{i});
  const json found = columns_of({h200_document({wide})});
  EXPECT_EQ(found.at("axes").size(), most_columns);
  EXPECT_GT(found.at("columns_left_out"), 0);
}

TEST(Columns, WhatAPaperHasPrintedStandsThereOnce) {
  row printed = barrier_row("published-cg", 1);
  printed.device = "published: Old";
  const std::vector<document> documents{h200_document({barrier_row("cg", 1), printed}), h200_document({printed})};
  EXPECT_EQ(rows_by_experiment(documents).at(0).rows.size(), 2u);
}

TEST(Columns, ThinnedRowsAreWholeShapesSpreadOverAll) {
  std::vector<row> rows;
  for (int64_t blocks = 1; blocks <= 100; ++blocks) {
    for (const char* method : {"cg", "graph"}) {
      rows.push_back(barrier_row(method, 1));
      rows.back().axes = {{"blocks", blocks}};
    }
  }
  const std::vector<document> documents{h200_document(rows)};
  const experiment_rows some = thinned(rows_by_experiment(documents).at(0), 0.25);
  EXPECT_EQ(some.rows.size(), 50u);
  EXPECT_EQ(some.left_out, 150u);
  std::multiset<int64_t> shapes;
  for (const placed_row& each : some.rows) shapes.insert(*axis_number(each.entry->axes, "blocks"));
  for (const int64_t blocks : shapes) EXPECT_EQ(shapes.count(blocks), 2u);
  EXPECT_LE(*shapes.begin(), 4);
  EXPECT_GE(*shapes.rbegin(), 97);
}

TEST(Columns, OneShapeOfVeryManyRowsIsThinnedAsWell) {
  std::vector<row> rows(10'000, barrier_row("cg", 1));
  const std::vector<document> documents{h200_document(rows)};
  const size_t left = thinned(rows_by_experiment(documents).at(0), 0.1).rows.size();
  EXPECT_GT(left, 900u);
  EXPECT_LT(left, 1100u);
}

TEST(DeviceTable, TellsWaysToADeviceApartAndRunsNot) {
  document by_opencl = h200_document({barrier_row("cg", 1)});
  by_opencl.context["devices"][0]["id"] = "opencl:0";
  by_opencl.rows[0].device = "opencl:0";
  const std::vector<document> documents{h200_document({barrier_row("cg", 1)}), h200_document({barrier_row("cg", 1)}),
                                        by_opencl};
  EXPECT_EQ(device_table(documents).names(), (std::vector<std::string>{"NVIDIA H200", "NVIDIA H200 (OpenCL)"}));
  EXPECT_EQ(device_table({by_opencl}).names(), std::vector<std::string>{"NVIDIA H200"});
}

TEST(DeviceTable, CountsTheOnesOfAName) {
  std::vector<document> documents;
  for (const char* uuid : {"GPU-1", "GPU-2", "GPU-1", ""}) {
    documents.push_back(h200_document({barrier_row("cg", 1)}));
    if (*uuid != 0) documents.back().context["devices"][0]["uuid"] = uuid;
  }
  EXPECT_EQ(device_table(documents).different_ones(0), 2u);
  EXPECT_EQ(device_table({documents.back()}).different_ones(0), 0u);
}

}  // namespace
}  // namespace gpusync::tool
