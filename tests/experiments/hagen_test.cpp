// What Hagen, Ha and Anshus have printed, as rows.
#include <gtest/gtest.h>

#include "harness/published.hpp"

namespace gpusync::tool {
namespace {

/// The figure of that device, memory, method and number of participants.
double printed(const std::string& device, const std::string& memory, const std::string& method, int64_t participants,
               const std::string& metric_name) {
  double found = -1;
  for (const row& entry : joined(published_rows(paper::hagen_2012, "rmw-cost"))) {
    std::string where;
    int64_t count = 0;
    for (const auto& [name, value] : entry.axes) {
      if (name == "memory") where = std::get<std::string>(value);
      if (name == "participants") count = std::get<int64_t>(value);
    }
    const metric* figure = entry.find_metric(metric_name);
    if (entry.device != "published: " + device || where != memory || count != participants || figure == nullptr ||
        entry.method != "published-" + method) {
      continue;
    }
    EXPECT_EQ(found, -1) << "printed twice";
    found = figure->value.value();
  }
  return found;
}

TEST(Hagen, PublishedRowsHaveTheTextsFiguresForOneCall) {
  EXPECT_EQ(joined(published_rows(paper::hagen_2012, "rmw-cost")).size(), 12u);
  const std::string gt = "GeForce 8800 GT", gts = "GeForce 8800 GTS";
  EXPECT_NEAR(printed(gt, "global", "hardware", 1, "call_time"), 0.0124e6 / 30'000, 1e-9);
  EXPECT_NEAR(printed(gt, "global", "coalesced-store", 5, "call_time"), 2.38e6 / 30'000, 1e-9);
  EXPECT_NEAR(printed(gts, "shared", "coalesced-store", 5, "call_time"), 1.471e6 / 30'000, 1e-9);
  EXPECT_EQ(printed(gt, "global", "coalesced-store", 1, "call_time_over_hardware"), 72.16);
  EXPECT_EQ(printed(gts, "global", "coalesced-store", 5, "call_time_over_hardware"), 41.17);
  EXPECT_EQ(printed(gt, "shared", "coalesced-store", 5, "call_time_over_hardware-global"), 17.22);
}

TEST(Hagen, PrintedRatiosAreThoseOfThePrintedTimes) {
  const std::string gt = "GeForce 8800 GT";
  for (const int64_t participants : {1, 5}) {
    const double object = printed(gt, "global", "coalesced-store", participants, "call_time");
    const double atomic = printed(gt, "global", "hardware", participants, "call_time");
    EXPECT_NEAR(object / atomic, printed(gt, "global", "coalesced-store", participants, "call_time_over_hardware"),
                0.5);
  }
}

}  // namespace
}  // namespace gpusync::tool
