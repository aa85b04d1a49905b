// Child processes: what they print, how they end, and that none outlives its time.
#include "measure/child_process.hpp"

#include <gtest/gtest.h>

namespace gpusync::tool {
namespace {

using namespace std::chrono_literals;

child_outcome of_shell(const std::string& script, const child_limits& limits = {30s}, bool with_errors = false) {
  return run_child({"sh", "-c", script}, limits, with_errors);
}

TEST(ChildProcess, SaysWhatTheChildPrintedAndHowItEnded) {
  const child_outcome right = of_shell("echo one; echo two");
  EXPECT_TRUE(right.ended);
  EXPECT_EQ(right.exit_code, 0);
  EXPECT_EQ(right.output, "one\ntwo\n");
  EXPECT_EQ(of_shell("exit 3").exit_code, 3);
  EXPECT_EQ(of_shell("kill -SEGV $$").exit_code, -1);
  EXPECT_EQ(run_child({"/there/is/no/such/program"}, {30s}).exit_code, 127);
}

TEST(ChildProcess, TakesStandardErrorTooIfAskedTo) {
  EXPECT_EQ(of_shell("echo wrong >&2", {30s}, true).output, "wrong\n");
  EXPECT_EQ(of_shell("echo hidden 2>/dev/null >&2; echo seen").output, "seen\n");
}

TEST(ChildProcess, TakesMoreThanAPipeHolds) {
  EXPECT_EQ(of_shell("head -c 300000 /dev/zero").output.size(), 300000u);
}

TEST(ChildProcess, IsEndedWhenItsTimeIsOver) {
  const auto begin = std::chrono::steady_clock::now();
  const child_outcome late = of_shell("echo begun; exec sleep 60", {200ms});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_FALSE(late.ended);
  EXPECT_EQ(late.exit_code, -1);
  EXPECT_EQ(late.output, "begun\n");
}

TEST(ChildProcess, HasItsTimeFromTheReadyLineOn) {
  const child_outcome late = of_shell("echo ready; exec sleep 60", {30s, "ready", 200ms});
  EXPECT_TRUE(late.was_ready);
  EXPECT_FALSE(late.ended);
  const child_outcome soon = of_shell("sleep 0.3; echo ready", {30s, "ready", 30s});
  EXPECT_TRUE(soon.was_ready && soon.ended);
}

}  // namespace
}  // namespace gpusync::tool
