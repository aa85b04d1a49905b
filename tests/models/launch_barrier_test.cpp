// Launches with a few barriers: what one of them takes, and from how many on they win.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/fits.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {
namespace {

row launch_of(const std::string& method, method_kind kind, bool rival, int64_t barriers, double us) {
  row entry;
  entry.experiment = "grid-sync";
  entry.device = "cuda:0";
  entry.method = method;
  entry.kind = kind;
  entry.rival = rival;
  entry.verified = true;
  entry.axes = {{"launched", std::string("graph")}, {"shape", std::string("132x256")}, {"barriers", barriers}};
  entry.metrics = {{"launch_time", plain_metric(us, "us", 11)}};
  return entry;
}

TEST(LaunchBarriers, BreakEvenIsWhereOneStaysBelowNvidias) {
  std::vector<row> rows;
  for (const int64_t k : {1, 2, 4, 8}) {
    const auto count = static_cast<double>(k);
    rows.push_back(launch_of("no-barrier", method_kind::floor, true, k, 0.7));
    rows.push_back(launch_of("cg", method_kind::barrier, true, k, 1.2 + 1.0 * count));
    rows.push_back(launch_of("ours", method_kind::barrier, false, k, 1.8 + 0.7 * count));
    rows.push_back(launch_of("slow", method_kind::barrier, false, k, 2.0 + 1.5 * count));
  }
  const std::vector<row> fits = fits_of(rows);
  ASSERT_EQ(fits.size(), 3u);
  EXPECT_EQ(fits[0].method, "cg");
  EXPECT_NEAR(*value_of(fits[0], "time_per_barrier"), 1.0, 1e-9);
  EXPECT_EQ(fits[0].find_metric("wins_from"), nullptr);
  EXPECT_EQ(fits[1].method, "ours");
  EXPECT_NEAR(*value_of(fits[1], "time_per_barrier"), 0.7, 1e-9);
  EXPECT_NEAR(*value_of(fits[1], "intercept"), 1.8, 1e-9);
  EXPECT_NEAR(*value_of(fits[1], "wins_from"), 2, 1e-9);
  EXPECT_EQ(value_of(fits[2], "wins_from"), std::nullopt) << "it never does";
  EXPECT_EQ(fits[1].axes.size(), 3u) << "the barriers are fitted over";
}

}  // namespace
}  // namespace gpusync::tool
