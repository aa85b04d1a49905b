// Upper bounds of rare events, against published tables of Poisson confidence limits (one-sided, 95 %).
#include <gtest/gtest.h>

#include "models/rare_events.hpp"

namespace gpusync::tool {
namespace {

TEST(RareEvents, UpperBoundIsTheTablesOne) {
  EXPECT_NEAR(poisson_upper_bound(0), 2.9957, 1e-4);
  EXPECT_NEAR(poisson_upper_bound(1), 4.7439, 1e-4);
  EXPECT_NEAR(poisson_upper_bound(2), 6.2958, 1e-4);
  EXPECT_NEAR(poisson_upper_bound(5), 10.5130, 1e-4);
  EXPECT_NEAR(poisson_upper_bound(10), 16.9622, 1e-4);
  EXPECT_NEAR(poisson_upper_bound(30), 40.6905, 1e-4);
}

TEST(RareEvents, ApproximationFollowsTheExactBound) {
  EXPECT_NEAR(poisson_upper_bound(100'001) / poisson_upper_bound(100'000), 1.00001, 2e-5);
}

}  // namespace
}  // namespace gpusync::tool
