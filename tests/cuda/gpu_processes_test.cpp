// Barriers across GPUs of two processes, by child processes alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/watched_child.hpp"

namespace gpusync::test {
namespace {

class GpuProcesses : public testing::Test {
 protected:
  void SetUp() override {
    if (run({}).output.find("no two CUDA devices") != std::string::npos) {
      GTEST_SKIP() << "there are no two CUDA devices";
    }
  }

  /// The child stands beside this program.
  static outcome run(const std::vector<std::string>& arguments) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    const std::string program(path, static_cast<size_t>(std::max<ssize_t>(0, length)));
    std::vector<std::string> command{program.substr(0, program.rfind('/')) + "/cuda_gpu_processes"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return watch(command, 60s);
  }
  static void expect(const outcome& found, const char* words) {
    EXPECT_NE(found.output.find(words), std::string::npos) << "not found: " << words << " in:\n" << found.output;
  }
};

TEST_F(GpuProcesses, SeeEachOthersPlainWordsBehindABarrier) {
  const outcome found = run({"20000"});
  EXPECT_FALSE(found.hung);
  expect(found, "0: 0 wrong\n");
  expect(found, "1: 0 wrong\n");
  expect(found, "1: ended\n");
}

TEST_F(GpuProcesses, NameABlockThatDoesNotComeWhicheverProcessItIsIn) {
  const outcome found = run({"100", "missing-block"});
  EXPECT_FALSE(found.hung);
  expect(found, "0: missing gpu 1 block 3 phase 0\n");
  expect(found, "1: missing gpu 1 block 3 phase 0\n");
  expect(found, "0: after reset right\n");
  expect(found, "1: after reset right\n");
}

TEST_F(GpuProcesses, NameAGpuThatIsNeverLaunched) {
  const outcome found = run({"100", "never-launched"});
  EXPECT_FALSE(found.hung);
  expect(found, "0: missing gpu 1 block 0 phase 0\n");
  expect(found, "may not have been launched yet");
  expect(found, "0: ended\n");
}

TEST_F(GpuProcesses, OutliveOneThatDies) {
  const outcome found = run({"100", "dies"});
  EXPECT_FALSE(found.hung);
  expect(found, "0: missing gpu 1 block 0");
  expect(found, "0: ended\n");
  expect(found, "1: died\n");
}

}  // namespace
}  // namespace gpusync::test
