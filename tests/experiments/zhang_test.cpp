// What Zhang, Wahib, Zhang and Matsuoka have printed, as rows.
#include <gtest/gtest.h>

#include "harness/published.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {
namespace {

const std::string v100 = "Tesla V100", p100 = "Tesla P100";

std::string word_of(const row& entry, const std::string& axis) {
  for (const auto& [name, value] : entry.axes) {
    const auto* const word = std::get_if<std::string>(&value);
    if (name == axis && word != nullptr) return *word;
  }
  return "";
}

/// The figure of that device, method and metric, in that part of the experiment if it has parts.
double printed(const std::string& experiment, const std::string& device, const std::string& method,
               const std::string& metric_name, const std::string& part = "", const std::string& from = "") {
  double found = -1;
  for (const row& entry : published_rows(paper::zhang_2020, experiment)) {
    if (entry.device != published_device + device || method_of(entry) != method || word_of(entry, "part") != part ||
        word_of(entry, "from") != from || entry.find_metric(metric_name) == nullptr) {
      continue;
    }
    EXPECT_EQ(found, -1) << "printed twice";
    found = value_of(entry, metric_name).value();
  }
  return found;
}

TEST(Zhang, PublishedLaunchesAreThoseOfTable1) {
  EXPECT_DOUBLE_EQ(printed("launch-overhead", v100, "traditional", "launch_overhead"), 1.081);
  EXPECT_DOUBLE_EQ(printed("launch-overhead", v100, "cooperative", "launch_overhead"), 1.063);
  EXPECT_DOUBLE_EQ(printed("launch-overhead", v100, "multi-device", "launch_overhead"), 1.258);
  EXPECT_DOUBLE_EQ(printed("launch-overhead", v100, "traditional", "null_kernel_time"), 8.888);
  EXPECT_DOUBLE_EQ(printed("launch-overhead", v100, "multi-device", "null_kernel_time"), 10.874);
  EXPECT_EQ(printed("launch-overhead", p100, "traditional", "launch_overhead"), -1) << "measured on the V100 only";
}

TEST(Zhang, PublishedWarpAndBlockBarriersAreThoseOfTable2) {
  EXPECT_EQ(published_rows(paper::zhang_2020, "warp-sync").size(), 22u);
  EXPECT_EQ(printed("warp-sync", v100, "tile-32", "latency"), 14);
  EXPECT_EQ(printed("warp-sync", p100, "tile-32", "throughput"), 1.774);
  EXPECT_EQ(printed("warp-sync", v100, "coalesced-1-31", "latency"), 108);
  EXPECT_EQ(printed("warp-sync", v100, "coalesced-32", "throughput"), 1.306);
  EXPECT_EQ(printed("warp-sync", p100, "shuffle-tile-32", "latency"), 31);
  EXPECT_EQ(printed("warp-sync", p100, "shuffle-coalesced-32", "throughput"), 0.166);
  EXPECT_EQ(printed("block-sync", v100, "syncthreads", "latency"), 22);
  EXPECT_EQ(printed("block-sync", p100, "syncthreads", "latency"), 218);
  EXPECT_EQ(printed("block-sync", p100, "syncthreads", "throughput"), 0.091);
  EXPECT_EQ(printed("block-sync", v100, "syncthreads", "guide_throughput"), 16);
}

TEST(Zhang, PublishedReductionsAreThoseOfTables3To6) {
  EXPECT_EQ(printed("switch-points", v100, "1-thread", "bandwidth", "proxy"), 0.62);
  EXPECT_EQ(printed("switch-points", p100, "1024-threads", "bandwidth", "proxy"), 141);
  EXPECT_EQ(printed("switch-points", p100, "1-warp", "latency", "proxy"), 18.5);
  EXPECT_EQ(printed("switch-points", v100, "1024-threads", "concurrency", "proxy"), 2796);
  EXPECT_EQ(printed("switch-points", p100, "1-warp", "sync_latency", "switch", "1-thread"), 155);
  EXPECT_EQ(printed("switch-points", v100, "1024-threads", "switch_point", "switch", "1-warp"), 9076);
  EXPECT_EQ(printed("switch-points", p100, "1024-threads", "switch_point", "switch", "1-warp"), 32681);
  EXPECT_EQ(printed("warp-reduction", v100, "shuffle-coalesced", "latency"), 1261);
  EXPECT_EQ(printed("warp-reduction", p100, "coalesced", "latency"), 251);
  EXPECT_EQ(printed("reduction", v100, "implicit", "bandwidth", "device"), 865.4);
  EXPECT_EQ(printed("reduction", p100, "theory", "bandwidth", "device"), 732.16);
}

TEST(Zhang, PublishedFiguresOfTheTextHaveTheirPlaces) {
  for (const char* method : {"dependent-chain", "repeat-difference"}) {
    EXPECT_EQ(printed("method-check", v100, method, "latency"), 4);
    EXPECT_EQ(printed("method-check", p100, method, "latency"), 6);
  }
  EXPECT_EQ(printed("launch-overhead", v100, "traditional", "least_unit"), 5);
  EXPECT_EQ(printed("multi-gpu-barrier", v100, "multi-device", "least_unit"), 250);
  EXPECT_EQ(printed("grid-sync", v100, "cg", "above_launch_overhead"), 2.5);
  EXPECT_EQ(printed("multi-gpu-barrier", v100, "multi-grid", "above_host-threads"), 16);
}

TEST(Zhang, ASumWithoutSynchronizationIsMarkedAsOneThatProvesNothing) {
  int without = 0;
  for (const row& entry : published_rows(paper::zhang_2020, "warp-reduction")) {
    EXPECT_EQ(entry.ordered, method_of(entry) != "nosync");
    EXPECT_FALSE(is_contender(entry));
    without += entry.ordered ? 0 : 1;
  }
  EXPECT_EQ(without, 2);
}

TEST(Published, PointsMayBeWordsAndSeriesMayHaveTheirOwnDevice) {
  const auto rows = published_rows(R"({"device": "d", "title": "t", "tables": [{"experiment": "x", "item": "Z6",
      "axis": "group", "at": ["1-31", 32], "fixed": {}, "metric": "m", "unit": "cycles", "runs": null, "note": "n",
      "source": "s", "series": [{"method": "a", "printed": "A", "device": "e", "values": [1, 2]}]}]})",
                                   "x");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(word_of(rows[0], "group"), "1-31");
  EXPECT_EQ(axis_number(rows[1].axes, "group"), 32);
  EXPECT_EQ(rows[0].device, "published: e");
}

}  // namespace
}  // namespace gpusync::tool
