// Misuse that only the device can see fails the launch with a sentence: by a child process alone, so without CUDA's
// headers.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/watched_child.hpp"

namespace gpusync::test {
namespace {

struct misuse_case {
  const char* way;
  const char* sentence;
  const char* call = "cudaStreamSynchronize";  ///< what fails
};

constexpr const char* broken_rule = "gave a token to wait() that had been waited for";

class CudaMisuse : public testing::TestWithParam<misuse_case> {};

TEST_P(CudaMisuse, FailsTheLaunchWithASentence) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  const std::string program(path, static_cast<size_t>(std::max<ssize_t>(0, length)));
  const outcome found = watch({program.substr(0, program.rfind('/')) + "/cuda_misuse", GetParam().way}, 30s);
  if (found.output.find("no CUDA device") != std::string::npos) GTEST_SKIP() << "there is no CUDA device";
  EXPECT_FALSE(found.hung);
  const size_t failure = found.output.find("failed: " + std::string(GetParam().call) + " failed: ");
  ASSERT_NE(failure, std::string::npos) << found.output;
  const std::string thrown = found.output.substr(failure, found.output.find('\n', failure) - failure);
  EXPECT_NE(thrown.find(GetParam().sentence), std::string::npos) << found.output;
}

INSTANTIATE_TEST_SUITE_P(
    All, CudaMisuse,
    testing::Values(
        misuse_case{"outsider", "Block 3 called a barrier of 3 blocks that does not join it"},
        misuse_case{"arrives_twice", "arrived again before it had waited for its last arrival"},
        misuse_case{"drops_a_token", "arrived again before it had waited for its last arrival"},
        misuse_case{"waits_twice", "gave a token to wait() that had been waited for"},
        misuse_case{"moved_from", "gave a token to wait() that had been waited for, or moved from"},
        misuse_case{"lent", "used a barrier beside a view of some of its warps"},
        misuse_case{"used_before", "made such a view after its first use"},
        misuse_case{"bad_view", "made a view of 48 threads"},
        misuse_case{"comes_back", "that it had left with arrive_and_drop()"},
        misuse_case{"too_large", "called a barrier of 4 blocks that does not join it"},
        misuse_case{"queued", "waited without a deadline at a barrier of which a phase had been given up"},
        misuse_case{"entered", "waited without a deadline at a barrier of which a phase had been given up"},
        misuse_case{"out_of_turn", "used a halo out of turn"},
        misuse_case{"puts_beyond", "Block 2 asked a halo for slot or word 6000000, which it does not have"},
        misuse_case{"overtaken", "came too late for a word of a neighbour"},
        misuse_case{"lost_neighbours", "waited without a deadline at a barrier of which a phase had been"},
        misuse_case{"wrong_end", "Block 1 took an end of channel 0 that is another block's"},
        misuse_case{"beyond_chunk", "Block 0 put or got word 63 of a channel's chunk, which has fewer"},
        misuse_case{"no_barrier_there", ""}, misuse_case{"no_barrier_for_functions", ""},
        misuse_case{"no_barrier_any_more", ""},
        misuse_case{"too_large_for_address", "called a barrier of 4 blocks that does not join it"},
        misuse_case{"too_large_for_functions", "called a barrier of 4 blocks that does not join it"},
        misuse_case{"functions_after_a_loss",
                    "waited without a deadline at a barrier of which a phase had been given up"},
        misuse_case{"votes_after_a_loss", "waited without a deadline at a barrier of which a phase had been given up"},
        misuse_case{"two_reductions", "Two reductions ran at once on one storage"},
        misuse_case{"launch_behind", broken_rule, "cudaStreamIsCapturing"},
        misuse_case{"kernel_alone_behind", broken_rule, "cudaFuncGetAttributes"},
        misuse_case{"checked_behind", broken_rule, "cudaFuncGetAttributes"},
        misuse_case{"by_address_behind", broken_rule, "cudaFuncGetAttributes"},
        misuse_case{"function_behind", broken_rule, "cuFuncGetAttribute"},
        misuse_case{"phased_behind", broken_rule, "cudaFuncGetAttributes"},
        misuse_case{"sum_behind", broken_rule, "cudaStreamIsCapturing"},
        misuse_case{"outlives", "waited without a deadline at a barrier of which a phase had been given up"}),
    [](const auto& each) { return std::string(each.param.way); });

}  // namespace
}  // namespace gpusync::test
