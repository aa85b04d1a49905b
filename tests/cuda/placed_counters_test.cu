// Placed counters on a CUDA device: any plan, any places, and plans that change while a kernel runs.
#include <random>
#include <utility>
#include <vector>

#include "cuda/barrier_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

using CudaPlacedCounters = CudaBarrier<default_algorithm>;

/// Any plan that a table may hold is correct on any grid, also where the places are wrong.
TEST_F(CudaPlacedCounters, AreCorrectUnderAnyPlanAndWithWrongPlaces) {
  under_any_plan(device(), 2 * sms(), [this](auto& storage, const std::string& plan) {
    for (const launch_shape shape : {launch_shape{2 * sms(), 256}, {sms(), 1}, {sms(), 33}, {3, 64}}) {
      EXPECT_EQ(wrong_words(storage, shape, phases(500), false), 0u)
          << plan << ", " << shape.blocks.count() << " x " << shape.threads.count();
    }
  });
}

TEST_F(CudaPlacedCounters, FindTwoSidesOnH100sAndH200s) {
  const std::string& name = device().name();
  if (name.find("H100") == std::string::npos && name.find("H200") == std::string::npos) {
    GTEST_SKIP() << "this is neither an H100 nor an H200";
  }
  cuda_barrier_storage<default_algorithm> storage(device(), 1);
  ASSERT_TRUE(storage.counters().placed());
  const grid::line_survey& survey = storage.counters().lease().survey().figures();
  // Halves, or nearly: which SMs a chip has differs from one to the next. 66 and 66, and 62 and 70, were seen.
  EXPECT_EQ(survey.sms_on(0) + survey.sms_on(1), sms());
  EXPECT_GE(std::min(survey.sms_on(0), survey.sms_on(1)), sms() * 2 / 5);
  EXPECT_GT(survey.far(), 1.4 * survey.near());
}

TEST_F(CudaPlacedCounters, TakeTheirLinesFromTheSurveyThatTheyAreGiven) {
  const l2_survey survey(device());
  if (!survey.figures().has_partitions()) GTEST_SKIP() << "the L2 cache of this device has no partitions";
  cuda_barrier_storage<default_algorithm> one(device(), 4, survey), other(device(), 4, survey);
  ASSERT_TRUE(one.counters().placed() && other.counters().placed());
  EXPECT_EQ(one.counters().lease().survey().line(0), survey.line(0));
  EXPECT_EQ(other.counters().lease().survey().line(0), survey.line(0));
  EXPECT_NE(one.counters().lease().line(0, 0), other.counters().lease().line(0, 0));
  // Storages that are given none share a survey of their own.
  cuda_barrier_storage<default_algorithm> third(device(), 4), fourth(device(), 4);
  EXPECT_NE(third.counters().lease().survey().line(0), survey.line(0));
  EXPECT_EQ(third.counters().lease().survey().line(0), fourth.counters().lease().survey().line(0));
}

TEST_F(CudaPlacedCounters, DoWithoutPlacesWhenTheirSurveyIsUsedUp) {
  const l2_survey survey(device());
  std::vector<cuda_barrier_storage<default_algorithm>> storages;
  do {
    storages.emplace_back(device(), 4, survey);
    ASSERT_LE(storages.size(), 65u);
  } while (storages.back().counters().placed());
  EXPECT_EQ(wrong_words(storages.back(), {4, 64}, phases(200), false), 0u);
}

/// Several blocks per multiprocessor, some of which leave.
class CudaChangingPlans : public CudaPlacedCounters {
 protected:
  struct stage {
    uint32_t phase;  ///< in which blocks leave
    uint32_t left;   ///< after it
  };

  /// When each block leaves; which ones leave first has nothing to do with their numbers.
  std::vector<uint32_t> leaving(const std::vector<stage>& stages) const {
    std::vector<uint32_t> order(8 * sms());
    for (uint32_t b = 0; b < order.size(); ++b) order[b] = b;
    std::shuffle(order.begin(), order.end(), std::minstd_rand(1));
    std::vector<uint32_t> leaves(order.size(), 0);
    size_t gone = 0;
    for (const stage& now : stages) {
      for (; order.size() - gone > now.left; ++gone) leaves[order[gone]] = now.phase;
    }
    return leaves;
  }

  void expect_clean_launches(const barrier_tuning& tuning) {
    const uint32_t s = sms();
    const std::vector<stage> courses[] = {
        // One limit of the tables after the other, with phases before and after each.
        {{3, 6 * s},
         {6, 5 * s - 1},
         {9, 4 * s + 1},
         {10, 4 * s},
         {13, 2 * s + 1},
         {14, 2 * s},
         {17, s},
         {20, s / 2},
         {23, s / 4},
         {26, 3},
         {29, 1}},
        {{1, 2 * s - 7}},                          // nearly all at once, and at once
        {{2, 2 * s + 1}, {3, s + 1}, {4, s / 4}},  // in phases that follow each other
    };
    cuda_barrier_storage<default_algorithm> storage(device(), 8 * s, tuning);
    for (int round = 0; round < 2; ++round) {
      for (const auto& course : courses) {
        shrinking launches(device(), leaving(course), 64);
        launches.start(storage, nullptr, 40);
        launches.expect_clean();
      }
      EXPECT_EQ(wrong_words(storage, {8 * s, 64}, 20, false), 0u) << "a launch in which nobody leaves";
      EXPECT_EQ(wrong_words(storage, {s, 64}, 20, true), 0u);
    }
  }
};

TEST_F(CudaChangingPlans, OfTheTableForTheH200) {
  expect_clean_launches(barrier_tuning::shipped_for("NVIDIA H200"));
}

TEST_F(CudaChangingPlans, OfATableWithAPlanForEachSizeAndOneThatComesBack) {
  barrier_tuning tuning;
  const auto add = [&tuning](uint32_t blocks_per_sm, const grid::counter_plan& plan) {
    tuning.rules.rules[tuning.rules.count++] = {blocks_per_sm, grid::counter_rules::any, plan};
  };
  constexpr uint32_t unit = grid::counter_rule::unit;
  add(unit / 4, {1, 1, 1, 0, 0});
  add(unit / 2, {2, 1, 2, 0, 50});
  add(unit, {1, 1, 2, 1, 100});
  add(2 * unit, {8, 1, 1, 0, 0});
  add(4 * unit, {2, 1, 2, 0, 50});
  add(5 * unit, {1, 4, 2, 0, 100});
  add(6 * unit, {4, 2, 2, 1, 0});
  add(grid::counter_rules::any, {2, 4, 1, 0, 200});
  tuning.check();
  expect_clean_launches(tuning);
}

}  // namespace
}  // namespace gpusync
