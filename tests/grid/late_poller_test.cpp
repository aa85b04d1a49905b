// Xiao and Feng's lock-based barrier polls with !=. A block that looks late finds the counter past its goal and waits
// for ever, and the others for it: seen in a child process that is ended then.
#include <gtest/gtest.h>

#include "support/watched_child.hpp"

namespace gpusync::test {
namespace {

TEST(LatePoller, HangsInTheTextOf2010) {
  const outcome found = watch({GPUSYNC_LATE_POLLER, "2010"}, 2s);
  EXPECT_TRUE(found.hung) << found.output;
}

TEST(LatePoller, PassesTheRepairedBarrier) {
  const outcome found = watch({GPUSYNC_LATE_POLLER, "repaired"}, 60s);
  EXPECT_FALSE(found.hung);
  EXPECT_NE(found.output.find("passed\n"), std::string::npos) << found.output;
}

}  // namespace
}  // namespace gpusync::test
