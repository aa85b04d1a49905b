// As tests/grid/late_poller_test.cpp, on a device: by a child process alone, so without CUDA's headers.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/watched_child.hpp"

namespace gpusync::test {
namespace {

class CudaLatePoller : public testing::Test {
 protected:
  void SetUp() override {
    if (pass("nothing", 60s).output.find("no CUDA device") != std::string::npos) {
      GTEST_SKIP() << "there is no CUDA device";
    }
  }

  /// The child stands beside this program.
  static outcome pass(const char* text, std::chrono::milliseconds limit) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    const std::string program(path, static_cast<size_t>(std::max<ssize_t>(0, length)));
    return watch({program.substr(0, program.rfind('/')) + "/cuda_late_poller", text}, limit);
  }
};

TEST_F(CudaLatePoller, HangsInTheTextOf2010) {
  const outcome found = pass("2010", 3s);
  EXPECT_TRUE(found.hung) << found.output;
}

TEST_F(CudaLatePoller, PassesTheRepairedBarrier) {
  const outcome found = pass("repaired", 60s);
  EXPECT_FALSE(found.hung);
  EXPECT_NE(found.output.find("passed\n"), std::string::npos) << found.output;
}

}  // namespace
}  // namespace gpusync::test
