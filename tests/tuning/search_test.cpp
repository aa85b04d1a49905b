#include "tuning/search.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <gpusync/grid/tuning.hpp>

namespace gpusync::tool {
namespace {

using grid::counter_plan;
using grid::counter_rules;

constexpr uint32_t sm_count = 132;
constexpr uint32_t any = counter_rules::any;

void ignore(size_t, size_t) {}

double apart(uint32_t a, uint32_t b) {
  return std::fabs(static_cast<double>(a) - static_cast<double>(b));
}

/// The further from `best`, the dearer.
plan_cost distance_cost(const counter_plan& plan, const counter_plan& best) {
  const double cost = 1 + apart(plan.poll_backoff, best.poll_backoff) / 1000 +
                      apart(plan.sub_counters, best.sub_counters) / 10 + apart(plan.copies, best.copies) / 10 +
                      apart(plan.partitions, best.partitions) / 10 + apart(plan.second_warp, best.second_warp) / 10;
  return {cost, 2 * cost};
}

step_shape any_shape() {
  return *rc::gen::elementOf(std::vector<step_shape>{
      {33, 32, false}, {66, 256, false}, {132, 32, false}, {132, 1024, false}, {264, 512, false}, {1056, 256, false}});
}

/// A plan of those that a search may find.
counter_plan any_optimum(const step_shape& shape, bool has_partitions) {
  counter_plan best = *rc::gen::elementOf(coarse_plans(shape, sm_count, has_partitions));
  best.poll_backoff = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<uint32_t>(0, 576));
  return best;
}

/// A table with the classes' rules, whose plans tell by their first poll which class they are for.
counter_rules numbered_rules(const std::vector<tuning_class>& classes) {
  counter_rules rules;
  for (const tuning_class& one : classes) {
    rules.rules[rules.count] = {one.blocks_per_sm, one.threads, {1, 1, 2, 0, rules.count}};
    ++rules.count;
  }
  return rules;
}

TEST(PlanCost, CountsBothKindsOfStepAlike) {
  EXPECT_DOUBLE_EQ((plan_cost{1, 4}.score()), 2);
  EXPECT_DOUBLE_EQ((plan_cost{1, 4}.score()), (plan_cost{4, 1}.score()));
  EXPECT_LT((plan_cost{1.1, 1.1}.score()), (plan_cost{1, 2}.score()));
}

TEST(CoarsePlans, AreValidAndDistinct) {
  for (const uint32_t blocks : {1u, 33u, 132u, 133u, 264u, 528u, 4224u}) {
    for (const uint32_t threads : {32u, 256u, 1024u}) {
      for (const bool has_partitions : {false, true}) {
        const std::vector<counter_plan> plans = coarse_plans({blocks, threads, false}, sm_count, has_partitions);
        ASSERT_FALSE(plans.empty());
        for (auto plan = plans.begin(); plan != plans.end(); ++plan) {
          EXPECT_TRUE(grid::valid(*plan));
          EXPECT_EQ(std::count(plan, plans.end(), *plan), 1);
        }
      }
    }
  }
}

TEST(CoarsePlans, HaveOneSideOnlyWhereNoSidesWereFound) {
  const auto with_one_side = [](const std::vector<counter_plan>& plans) {
    return static_cast<size_t>(
        std::count_if(plans.begin(), plans.end(), [](const counter_plan& plan) { return plan.partitions == 1; }));
  };
  for (const uint32_t blocks : {33u, 132u, 264u, 1056u}) {
    const step_shape shape{blocks, 256, false};
    EXPECT_EQ(with_one_side(coarse_plans(shape, sm_count, true)), 0u) << blocks;
    const std::vector<counter_plan> plans = coarse_plans(shape, sm_count, false);
    EXPECT_EQ(2 * with_one_side(plans), plans.size()) << blocks << ": as many with two, for copies help all the same";
  }
}

TEST(CoarsePlans, UseTheSecondWarpOnlyWhereABlockHasOneAndTheProcessorToItself) {
  const auto second = [](uint32_t blocks, uint32_t threads) {
    const std::vector<counter_plan> plans = coarse_plans({blocks, threads, false}, sm_count, true);
    return std::any_of(plans.begin(), plans.end(), [](const counter_plan& plan) { return plan.second_warp != 0; });
  };
  EXPECT_TRUE(second(132, 256));
  EXPECT_TRUE(second(33, 64));
  EXPECT_FALSE(second(132, 32));
  EXPECT_FALSE(second(133, 256));
  EXPECT_FALSE(second(1056, 256));
}

RC_GTEST_PROP(SearchPlan, FindsTheBestPlanWithinTheLastStep, (bool has_partitions))
{
  const step_shape shape = any_shape();
  const counter_plan best = any_optimum(shape, has_partitions);
  const std::vector<planned> found = search_plan(
      shape, sm_count, has_partitions,
      [&](const counter_plan& plan, const step_shape&) { return distance_cost(plan, best); }, ignore);
  RC_ASSERT(!found.empty());
  counter_plan winner = found.front().plan;
  RC_ASSERT(apart(winner.poll_backoff, best.poll_backoff) <= 12.5);
  winner.poll_backoff = best.poll_backoff;
  RC_ASSERT(winner == best);
}

RC_GTEST_PROP(SearchPlan, MeasuresNoPlanTwiceAndReturnsAllBestFirst, (bool has_partitions))
{
  const step_shape shape = any_shape();
  const counter_plan best = any_optimum(shape, has_partitions);
  std::vector<counter_plan> measured;
  const std::vector<planned> found = search_plan(
      shape, sm_count, has_partitions,
      [&](const counter_plan& plan, const step_shape& asked) {
        RC_ASSERT(asked.blocks == shape.blocks);
        RC_ASSERT(asked.threads == shape.threads);
        RC_ASSERT(grid::valid(plan));
        RC_ASSERT(std::find(measured.begin(), measured.end(), plan) == measured.end());
        measured.push_back(plan);
        return distance_cost(plan, best);
      },
      ignore);
  RC_ASSERT(found.size() == measured.size());
  for (const planned& one : found) {
    RC_ASSERT(std::count(measured.begin(), measured.end(), one.plan) == 1);
    RC_ASSERT(one.cost.idle == distance_cost(one.plan, best).idle);
  }
  RC_ASSERT(std::is_sorted(found.begin(), found.end(),
                           [](const planned& a, const planned& b) { return a.cost.score() < b.cost.score(); }));
}

TEST(SearchPlan, TriesOneSideOnlyWhereNoSidesWereFound) {
  for (const bool has_partitions : {false, true}) {
    size_t with_one = 0, with_two = 0;
    const auto count = [&](const counter_plan& plan, const step_shape&) {
      ++(plan.partitions == 1 ? with_one : with_two);
      return plan_cost{1, 1};
    };
    search_plan({132, 256, false}, sm_count, has_partitions, count, ignore);
    EXPECT_EQ(with_one == 0, has_partitions);
    EXPECT_GT(with_two, 0u);
  }
}

TEST(SearchPlan, TellsAfterEachMeasurementHowFarItIs) {
  size_t measurements = 0, calls = 0, last = 0;
  const auto cost = [&](const counter_plan& plan, const step_shape&) {
    EXPECT_EQ(calls, measurements);
    ++measurements;
    return distance_cost(plan, {2, 2, 2, 0, 310});
  };
  const auto tried = [&](size_t done, size_t all) {
    ++calls;
    EXPECT_EQ(calls, measurements);
    EXPECT_GE(done, last);
    EXPECT_LE(done, all);
    last = done;
  };
  search_plan({264, 256, false}, sm_count, true, cost, tried);
  EXPECT_EQ(calls, measurements);
}

TEST(SearchPlan, DoesNotBuyIdleStepsWithStores) {
  const counter_plan lopsided{1, 1, 2, 0, 100};
  const auto cost = [&](const counter_plan& plan, const step_shape&) {
    return plan == lopsided ? plan_cost{0.5, 9} : plan_cost{1, 1};
  };
  EXPECT_FALSE(search_plan({132, 256, false}, sm_count, true, cost, ignore).front().plan == lopsided);
}

TEST(SearchPlan, PassesOnWhatTheMeasurementThrowsAndStops) {
  for (const int fails_at : {1, 5, 14}) {  // of 12 coarse plans: at once, among them, while refining
    int measurements = 0;
    const auto cost = [&](const counter_plan&, const step_shape&) {
      if (++measurements == fails_at) throw std::domain_error("wrong result");
      return plan_cost{1, 1};
    };
    EXPECT_THROW(search_plan({132, 256, false}, sm_count, true, cost, ignore), std::domain_error);
    EXPECT_EQ(measurements, fails_at);
  }
}

TEST(ConfirmBest, TakesTheBestMediansAndNotTheLuckiestMeasurement) {
  const grid::counter_plan lucky{1, 1, 2, 0, 100}, steady{1, 1, 2, 0, 200};
  size_t measured = 0;
  const planned best = confirm_best(
      {{lucky, {0.5, 0.5}}, {steady, {0.8, 0.8}}, {{1, 1, 2, 0, 300}, {0.9, 0.9}}}, {132, 256, false},
      [&](const grid::counter_plan& plan, const step_shape&) {
        ++measured;
        return plan == lucky ? plan_cost{1.0, 1.0} : plan_cost{0.8, 0.8};
      },
      2, 2);
  EXPECT_EQ(best.plan.poll_backoff, 200u);
  EXPECT_DOUBLE_EQ(best.cost.idle, 0.8);
  EXPECT_EQ(measured, 4u) << "the two finalists, twice";
}

TEST(TuningClasses, OfAnH200CoverEveryDensityInRisingOrder) {
  const std::vector<tuning_class> classes = tuning_classes(132, 2048);
  ASSERT_FALSE(classes.empty());
  ASSERT_LE(classes.size(), counter_rules::most);
  for (const uint32_t blocks : {33u, 66u, 132u, 264u, 528u, 1056u}) {
    EXPECT_TRUE(std::any_of(classes.begin(), classes.end(), [&](const tuning_class& one) {
      return one.shape.blocks == blocks;
    })) << blocks;
  }
  EXPECT_TRUE(std::is_sorted(classes.begin(), classes.end(), [](const tuning_class& a, const tuning_class& b) {
    return a.blocks_per_sm < b.blocks_per_sm || (a.blocks_per_sm == b.blocks_per_sm && a.threads < b.threads);
  }));
  const counter_rules rules = numbered_rules(classes);
  for (uint32_t i = 0; i < classes.size(); ++i) {
    const step_shape& shape = classes[i].shape;
    EXPECT_EQ(rules.choose(shape.blocks, shape.threads, 132).poll_backoff, i) << shape.blocks << " x " << shape.threads;
  }
}

TEST(TuningClasses, OfATinyDeviceStillEndInOneForEveryGrid) {
  const std::vector<tuning_class> classes = tuning_classes(1, 1024);
  ASSERT_FALSE(classes.empty());
  EXPECT_EQ(classes.back().blocks_per_sm, any);
  EXPECT_EQ(classes.back().threads, any);
  for (const tuning_class& one : classes) EXPECT_GE(one.shape.blocks, 1u);
}

RC_GTEST_PROP(TuningClasses, EachShapeIsHeldByTheDeviceAndChoosesItsOwnClass, ())
{
  const auto processors = *rc::gen::inRange<uint32_t>(1, 300);
  const auto threads_per_sm = *rc::gen::inRange<uint32_t>(32, 8193);
  const std::vector<tuning_class> classes = tuning_classes(processors, threads_per_sm);
  RC_ASSERT(!classes.empty());
  RC_ASSERT(classes.size() <= counter_rules::most);
  RC_ASSERT(classes.back().blocks_per_sm == any);
  RC_ASSERT(classes.back().threads == any);
  const counter_rules rules = numbered_rules(classes);
  for (uint32_t i = 0; i < classes.size(); ++i) {
    const step_shape& shape = classes[i].shape;
    RC_ASSERT(!shape.stores);
    RC_ASSERT(shape.blocks >= 1u && shape.threads <= 1024u);
    RC_ASSERT((shape.blocks + processors - 1) / processors * shape.threads <= threads_per_sm);
    RC_ASSERT(rules.choose(shape.blocks, shape.threads, processors).poll_backoff == i);
  }
}

}  // namespace
}  // namespace gpusync::tool
