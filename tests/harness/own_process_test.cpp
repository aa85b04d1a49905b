// The command lines of processes that measure one case of their own.
#include "harness/own_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpusync::tool {
namespace {

experiment_request request_of(bool quick, bool samples) {
  experiment_request request;
  request.device.id = "cuda:1";
  request.axes.numbers["stores"] = {0, 1};
  request.axes.words["method"] = {"cg", "graph"};
  request.axes.words["rest"] = {"leaves", "stays"};
  request.quick = quick;
  request.keep_samples = samples;
  return request;
}

std::string joined(const own_case& one, const experiment_request& request) {
  std::string text;
  for (const std::string& word : own_process_command(one, request)) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(OwnProcess, IsToldItsCaseAndAllElseThatTheUserChose) {
  EXPECT_EQ(joined({"some", {{"method", "cg"}, {"subset", "half"}}}, request_of(true, false)),
            "/proc/self/exe run some --quiet --device cuda:1 --json - --axis method=cg --axis subset=half --axis "
            "stores=0,1 --axis rest=leaves,stays --quick --no-samples");
  EXPECT_EQ(joined({"some", {}}, request_of(false, true)),
            "/proc/self/exe run some --quiet --device cuda:1 --json - --axis stores=0,1 --axis method=cg,graph --axis "
            "rest=leaves,stays");
}

TEST(OwnProcess, WithoutADocumentSaysHowItEnded) {
  EXPECT_FALSE(is_own_process());
  EXPECT_EQ((own_process_result{{}, true, 3, ""}.reason()), "The process of its own ended with exit code 3.");
  EXPECT_EQ((own_process_result{{}, false, -1, ""}.reason()),
            "The process of its own did not end in time and was ended.");
}

}  // namespace
}  // namespace gpusync::tool
