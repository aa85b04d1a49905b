// Workload "reduction": how inputs are laid out, sums on host threads, and the lines of a table that tuning makes.
#include "workloads/reduction/reduction.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include <gpusync/reduce/tuning.hpp>

#include "tuning/reductions.hpp"

namespace gpusync::tool {
namespace {

reduction_problem problem_of(uint64_t elements, bool cached = false) {
  return {false, elements, 0, cached, method_names::graph};
}

RC_GTEST_PROP(ReductionLayout, InputsFitAndAreReadAgainOnlyWhenNoCacheHoldsThem, ())
{
  const auto elements = *rc::gen::inRange<uint64_t>(1, uint64_t{1} << 33);
  const uint64_t memory = *rc::gen::inRange<uint64_t>(64, 200 * 1024) << 20;
  reduction_problem problem = problem_of(elements);
  problem.wide = *rc::gen::arbitrary<bool>();
  problem.offset = *rc::gen::inRange(0u, 4u);
  const reduction_layout made = layout_of(problem, memory);
  RC_ASSERT(made.stride % 256 == 0u);
  RC_ASSERT(made.stride >= problem.bytes() + problem.offset * (problem.wide ? 8 : 4));
  RC_ASSERT(made.pieces >= 1u);
  RC_ASSERT(made.pieces == 1u || made.bytes() <= memory / 2);
  RC_ASSERT(made.nodes >= 4u && made.nodes <= 64u);
  RC_ASSERT(made.most >= 3 * made.nodes);
  const bool may_come_back = made.bytes() >= (uint64_t{1} << 30) || made.pieces < 8 * made.nodes;
  RC_ASSERT(may_come_back || made.most + 2 * made.nodes <= made.pieces);
}

TEST(ReductionLayout, ACachedInputIsOne) {
  EXPECT_EQ(layout_of(problem_of(1000, true), uint64_t{1} << 37).pieces, 1u);
}

TEST(ReductionLayout, GraphsOfLargeSumsAreShort) {
  EXPECT_EQ(layout_of(problem_of(1 << 8), uint64_t{1} << 37).nodes, 64u);
  EXPECT_EQ(layout_of(problem_of(uint64_t{1} << 30), uint64_t{1} << 37).nodes, 4u);
}

TEST(ReductionElement, SumsStaySmallEnoughForFloat) {
  int64_t sum = 0, most = 0;
  for (uint64_t i = 0; i < (1 << 20); ++i) {
    const int value = reduction_element(i);
    ASSERT_LE(std::abs(value), 8);
    sum += value;
    most = std::max(most, std::abs(sum));
  }
  EXPECT_LT(most, 1 << 15);
}

class HostReduction : public ::testing::TestWithParam<bool> {
 protected:
  static std::unique_ptr<workload> sums(uint64_t elements, reduction_device& device) {
    reduction_problem problem = problem_of(elements);
    problem.wide = GetParam();
    problem.offset = 1;
    return device.summing(problem);
  }
  std::shared_ptr<reduction_device> device_ = open_side<reduction_device>(find_device("host"));
};

TEST_P(HostReduction, EverySumIsRightUnderEveryMethod) {
  for (const uint64_t elements : {1u, 3u, 65537u}) {
    const auto workload = sums(elements, *device_);
    for (const step_method& method : workload->methods()) {
      if (!method.ordered) continue;
      const auto program = workload->prepare(method, {2, 1, false});
      (void)program->run(7);
      (void)program->run(1);
      const verification found = program->verify();
      EXPECT_EQ(found.checked, 8u) << method.name;
      EXPECT_EQ(found.wrong, 0u) << method.name << ", " << elements << " elements";
    }
  }
}

TEST_P(HostReduction, FindsWhatAMissingBarrierSpoils) {
  const auto workload = sums(1'000'000, *device_);
  step_method none;
  none.name = method_names::none;
  none.kind = method_kind::floor;
  const auto program = workload->prepare(none, {4, 1, false});
  uint64_t wrong = 0;
  for (int run = 0; run < 50 && wrong == 0; ++run) {
    (void)program->run(40);
    wrong = program->verify().wrong;
  }
  EXPECT_GT(wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(Types, HostReduction, ::testing::Bool(),
                         [](const auto& wide) { return wide.param ? "Double" : "Float"; });

TEST(ReductionPlans, MethodsAreNamedByTheWordsOfTheTable) {
  const std::string words = reduction_tuning::words_of(reduction_tuning::generic().float_rules.back().plan);
  EXPECT_EQ(words, "messages-claimed 512 8 2");
  EXPECT_EQ(name_of_plan(words), "messages-claimed.512.8.2");
  EXPECT_EQ(words_of_plan(name_of_plan(words)), words);
  EXPECT_EQ(words_of_plan("gpusync"), "");
}

TEST(ReductionLines, NeighboursOfOnePlanAreOneLineAndTheLastIsForAny) {
  const std::string lines = reduction_lines("float", {{1024, "one-block 32 4", 1.5, 1.0},
                                                      {2048, "one-block 32 4", 1.6, 1.1},
                                                      {4096, "messages-dealt 512 8 2", 2.5, 0}});
  EXPECT_EQ(lines,
            "# 1 KiB: 1.50 us cold, 1.00 us cached\n"
            "# 2 KiB: 1.60 us cold, 1.10 us cached\n"
            "reduce float 2048 one-block 32 4\n"
            "# 4 KiB: 2.50 us cold\n"
            "reduce float any messages-dealt 512 8 2\n");
  std::istringstream text("gpusync-tuning 1\n" + lines + "reduce double any ticket-dealt 512 8 2\n");
  EXPECT_EQ(reduction_tuning::read(text, "a table").float_rules.size(), 2u);
}

}  // namespace
}  // namespace gpusync::tool
