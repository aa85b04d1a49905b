#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include <gpusync/advice/advice.hpp>
#include <gpusync/advice/recorded.hpp>

namespace gpusync::advice {
namespace {

way_costs costs_of(way which, std::initializer_list<std::pair<term, double>> us) {
  way_costs costs;
  costs.which = which;
  costs.spread = 0.1;
  costs.points = 100;
  for (const auto& [one, value] : us) costs.us[static_cast<size_t>(one)] = value;
  return costs;
}

/// A device of 100 multiprocessors, on which each way costs what it might.
device_costs a_device() {
  device_costs costs;
  costs.device = "a GPU";
  costs.room = {100, 2048, 32};
  costs.ways = {
      costs_of(way::relaunch, {{term::round_trip, 2}, {term::kept, 0.05}, {term::begin, 4}}),
      costs_of(way::graph, {{term::round_trip, 1}, {term::kept, 0.05}, {term::begin, 8}}),
      costs_of(way::cooperative_groups, {{term::round_trip, 1.3}, {term::further_blocks, 0.2}, {term::begin, 6}}),
      costs_of(way::grid_barrier, {{term::round_trip, 0.7},
                                   {term::further_blocks, 0.05},
                                   {term::stored, 0.01},
                                   {term::kept, 0.05},
                                   {term::begin, 6}}),
      costs_of(way::neighbour_barrier, {{term::round_trip, 0.9}, {term::begin, 6}}),
      costs_of(way::gpus_barrier, {{term::round_trip, 2}})};
  costs.ways[0].host_us = 2.5;
  costs.least = {1, 32, 0, 0, skew_form::uniform, 0, 0, dependence::all, 2, 1, 1, 0};
  costs.most = {6400, 1024, 100, 100, skew_form::uniform, 8192, 65536, dependence::all, 4, 1000, 2, 0};
  return costs;
}

situation usual() {
  situation asked;
  asked.blocks = 100;
  asked.threads = 256;
  asked.steps = 1000;
  return asked;
}

const prediction& prediction_of(const answer& found, way which) {
  for (const prediction& one : found.predictions) {
    if (one.which == which) return one;
  }
  throw std::logic_error("not predicted");
}

std::string refusal_of(const answer& found, way which) {
  for (const refusal& one : found.refused) {
    if (one.which == which) return one.reason;
  }
  return "";
}

// Graphs of kernels that let in the next late came after the first documents, which may be asked still.
TEST(Advice, LateDependentLaunchIsAWayOfItsOwnWhereItWasMeasured) {
  device_costs costs = a_device();
  costs.ways.push_back(costs_of(way::dependent_graph, {{term::round_trip, 0.8}}));
  EXPECT_EQ(refusal_of(advise(usual(), costs), way::late_dependent_graph),
            "its costs on this device are not known; `gpusync run step-costs` measures them");
  costs.ways.push_back(costs_of(way::late_dependent_graph, {{term::round_trip, 0.5}}));
  situation asked = usual();
  asked.blocks = 6000;  // more than run at once
  asked.threads = 1024;
  const answer found = advise(asked, costs);
  EXPECT_EQ(found.best().which, way::late_dependent_graph);
  EXPECT_STREQ(name_of(found.best().which), "graph-pdl-late");
  EXPECT_EQ(refusal_of(found, way::late_dependent_graph), "");
  asked = usual();
  asked.gpus = 2;
  EXPECT_EQ(refusal_of(advise(asked, costs), way::late_dependent_graph), "it is of one GPU");
}

TEST(Advice, TheQuickestComesFirst) {
  const answer found = advise(usual(), a_device());
  ASSERT_EQ(found.predictions.size(), 4u);
  EXPECT_EQ(found.best().which, way::grid_barrier);
  for (size_t i = 1; i < found.predictions.size(); ++i) {
    EXPECT_LE(found.predictions[i - 1].us_per_step, found.predictions[i].us_per_step);
  }
  EXPECT_TRUE(found.beyond.empty()) << found.beyond.front();
}

TEST(Advice, AStepWithoutWorkCostsItsTermsAlone) {
  const answer found = advise(usual(), a_device());
  const prediction& barrier = prediction_of(found, way::grid_barrier);
  EXPECT_EQ(barrier.work_us, 0);
  EXPECT_NEAR(barrier.us_per_step, 0.7 + 0.01 * 4 / 1024 + 6.0 / 1000, 1e-12);
}

TEST(Advice, OneStepPaysForTheBeginning) {
  situation asked = usual();
  asked.steps = 1;
  const answer found = advise(asked, a_device());
  EXPECT_EQ(found.best().which, way::relaunch) << "it begins soonest";
  EXPECT_NEAR(prediction_of(found, way::graph).us_per_step, 9, 1e-9);
}

TEST(Advice, ShortStepsWaitForTheHostAndLongOnesDoNot) {
  situation asked = usual();
  const prediction idle = prediction_of(advise(asked, a_device()), way::relaunch);
  EXPECT_NEAR(idle.us_per_step, 2.5 + 4.0 / 1000, 1e-9);
  EXPECT_EQ(idle.host_us, 2.5);
  asked.step_us = 10;
  const prediction busy = prediction_of(advise(asked, a_device()), way::relaunch);
  EXPECT_NEAR(busy.us_per_step, 12 + 4.0 / 1000, 1e-9);
  EXPECT_EQ(busy.host_us, 0);
}

TEST(Advice, ManyKeptBytesSpeakForAKernelThatStays) {
  situation asked = usual();
  const double without = prediction_of(advise(asked, a_device()), way::graph).us_per_step;
  asked.kept_bytes = 65536;
  const answer found = advise(asked, a_device());
  EXPECT_NEAR(prediction_of(found, way::graph).us_per_step - without, 0.05 * 64, 1e-9);
  EXPECT_NEAR(prediction_of(found, way::grid_barrier).cost_us[static_cast<size_t>(term::kept)], 0.05 * 64 / 1000, 1e-12)
      << "once in a run";
}

double term_of(const situation& asked, way which, term one) {
  return terms_of(asked, which, device_room{132, 2048, 32})[static_cast<size_t>(one)];
}

TEST(Advice, PlacesAndWavesOfBlocksAreCountedInGridsOfThoseThatRunAtOnce) {
  situation asked = usual();
  asked.blocks = 132, asked.threads = 256;
  EXPECT_NEAR(term_of(asked, way::graph, term::occupied), 1 / 8.0, 1e-12);
  EXPECT_EQ(term_of(asked, way::graph, term::waves), 0);
  asked.blocks = 8 * 132;
  EXPECT_EQ(term_of(asked, way::graph, term::occupied), 1);
  EXPECT_EQ(term_of(asked, way::graph, term::waves), 0);
  asked.blocks = 20 * 132;
  EXPECT_EQ(term_of(asked, way::graph, term::occupied), 1);
  EXPECT_NEAR(term_of(asked, way::graph, term::waves), 1.5, 1e-12);
  asked.resident_blocks = 5 * 132;  // registers allow no more
  EXPECT_NEAR(term_of(asked, way::graph, term::waves), 3, 1e-12);
  asked.resident_blocks = 100 * 132;  // threads do not allow as many
  EXPECT_NEAR(term_of(asked, way::graph, term::waves), 1.5, 1e-12);
}

TEST(Advice, ALittleWorkCostsALittle) {
  situation asked = usual();
  asked.step_us = 0;
  const answer idle = advise(asked, recorded_on_nvidia_h200());
  asked.step_us = 0.001;
  const answer busy = advise(asked, recorded_on_nvidia_h200());
  ASSERT_EQ(idle.predictions.size(), busy.predictions.size());
  for (const prediction& one : idle.predictions) {
    const prediction more = prediction_of(busy, one.which);
    EXPECT_GE(more.us_per_step, one.us_per_step);
    EXPECT_LE(more.us_per_step, one.us_per_step + 0.01);
  }
  asked.step_us = 0.2;
  EXPECT_EQ(term_of(asked, way::graph, term::worked), 1);
  asked.step_us = 20;
  EXPECT_EQ(term_of(asked, way::graph, term::worked), 1);
}

TEST(Advice, SkewSpeaksForNeighbours) {
  situation asked = usual();
  asked.waits_for = dependence::neighbours;
  EXPECT_EQ(advise(asked, a_device()).best().which, way::grid_barrier);
  asked.step_us = asked.skew_us = 20;
  asked.skew = skew_form::exponential;
  const answer found = advise(asked, a_device());
  EXPECT_EQ(found.best().which, way::neighbour_barrier);
  EXPECT_GT(found.predictions[1].us_per_step, 1.8 * found.best().us_per_step) << "5.2 means against 2.4";
}

TEST(Advice, RefusesInWordsWhatCannotBe) {
  situation asked = usual();
  EXPECT_EQ(refusal_of(advise(asked, a_device()), way::neighbour_barrier),
            "it waits for neighbours, and here every block waits for all");
  asked.blocks = 801;
  const answer crowded = advise(asked, a_device());
  EXPECT_EQ(
      refusal_of(crowded, way::grid_barrier),
      "801 blocks cannot all run at once, at most 800 can; a phased grid runs as many and goes through the others");
  EXPECT_EQ(crowded.best().which, way::graph);
  asked.blocks = 101;
  asked.resident_blocks = 100;  // a kernel whose limit is another
  EXPECT_NE(refusal_of(advise(asked, a_device()), way::grid_barrier), "");
  asked.resident_blocks = 101;
  EXPECT_EQ(refusal_of(advise(asked, a_device()), way::grid_barrier), "");
  asked = usual();
  asked.blocks = 1;
  asked.waits_for = dependence::neighbours;
  EXPECT_EQ(refusal_of(advise(asked, a_device()), way::neighbour_barrier), "one block has no neighbours");
}

TEST(Advice, OfSeveralGpusComesFromThoseThatWereMeasured) {
  situation asked = usual();
  asked.gpus = 2;
  const answer found = advise(asked, a_device());
  ASSERT_EQ(found.predictions.size(), 1u);
  EXPECT_EQ(found.best().which, way::gpus_barrier);
  asked.gpus = 3;
  try {
    (void)advise(asked, a_device());
    FAIL() << "three GPUs were never measured";
  } catch (const invalid_argument& wrong) {
    EXPECT_NE(std::string(wrong.what()).find("up to 2 GPUs, not of 3"), std::string::npos) << wrong.what();
  }
}

TEST(Advice, SaysWhatWasNeverMeasuredAndDoublesItsIntervals) {
  situation asked = usual();
  const prediction sure = advise(asked, a_device()).best();
  asked.stored_bytes = 8196;
  const answer found = advise(asked, a_device());
  ASSERT_EQ(found.beyond.size(), 1u);
  EXPECT_EQ(found.beyond.front(), "bytes stored by a block 8196, measured from 0 to 8192");
  EXPECT_NEAR(found.best().high / found.best().us_per_step - 1, 2 * (sure.high / sure.us_per_step - 1), 1e-9);
}

TEST(Advice, RefusesSituationsThatCannotBe) {
  const auto refused = [](const std::function<void(situation&)>& change) {
    situation asked = usual();
    change(asked);
    try {
      (void)advise(asked, a_device());
    } catch (const invalid_argument& wrong) {
      return std::string(wrong.what());
    }
    return std::string();
  };
  EXPECT_NE(refused([](situation& s) { s.blocks = 0; }), "");
  EXPECT_NE(refused([](situation& s) { s.threads = 1025; }), "");
  EXPECT_NE(refused([](situation& s) { s.step_us = -1; }), "");
  EXPECT_NE(refused([](situation& s) { s.step_us = std::nan(""); }), "");
  EXPECT_NE(refused([](situation& s) { s.skew_us = 1; }), "") << "more than the step takes";
  EXPECT_NE(refused([](situation& s) { s.stored_bytes = -1; }), "");
  EXPECT_NE(refused([](situation& s) { s.kept_bytes = std::numeric_limits<double>::infinity(); }), "");
  EXPECT_NE(refused([](situation& s) { s.steps = 0; }), "");
  EXPECT_NE(refused([](situation& s) { s.gpus = 0; }), "");
  EXPECT_NE(refused([](situation& s) { s.waits_for = dependence::neighbours, s.neighbours = 3; }), "");
}

TEST(Advice, NamesAreDifferentAndEachTermHasWords) {
  for (size_t i = 0; i < way_count; ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_STRNE(name_of(static_cast<way>(i)), name_of(static_cast<way>(k)));
  }
  for (size_t i = 0; i < term_count; ++i) {
    EXPECT_STRNE(name_of(static_cast<term>(i)), "");
    for (size_t k = 0; k < i; ++k) EXPECT_STRNE(in_words(static_cast<term>(i)), in_words(static_cast<term>(k)));
  }
}

situation any_situation() {
  situation asked;
  asked.blocks = *rc::gen::inRange<uint32_t>(2, 801);
  asked.threads = 256;
  asked.step_us = *rc::gen::inRange(0, 100) / 4.0;
  asked.skew_us = asked.step_us * *rc::gen::inRange(0, 11) / 10.0;
  asked.skew = *rc::gen::element(skew_form::uniform, skew_form::exponential);
  asked.stored_bytes = *rc::gen::inRange(0, 4096);
  asked.kept_bytes = *rc::gen::inRange(0, 65536);
  asked.waits_for = *rc::gen::element(dependence::all, dependence::neighbours);
  asked.neighbours = *rc::gen::element<uint32_t>(2, 4, 8);
  asked.steps = *rc::gen::inRange<uint64_t>(1, 5000);
  return asked;
}

/// Whether no way takes less in the second situation than in the first.
void never_less(const situation& less, const situation& more) {
  const answer low = advise(less, a_device()), high = advise(more, a_device());
  for (const prediction& one : low.predictions) {
    RC_ASSERT(prediction_of(high, one.which).us_per_step >= one.us_per_step * (1 - 1e-12));
  }
}

RC_GTEST_PROP(AdviceProperty, AStepIsItsWorkAndItsTermsAndLiesWithinItsInterval, ())
{
  for (const prediction& one : advise(any_situation(), a_device()).predictions) {
    double sum = one.work_us;
    for (const double cost : one.cost_us) {
      RC_ASSERT(cost >= 0);
      sum += cost;
    }
    RC_ASSERT(one.us_per_step >= sum * (1 - 1e-12));
    if (one.host_us == 0) RC_ASSERT(std::abs(one.us_per_step - sum) <= 1e-12 * sum);
    RC_ASSERT(one.low <= one.us_per_step && one.us_per_step <= one.high);
  }
}

RC_GTEST_PROP(AdviceProperty, MoreOfAnythingNeverTakesLess, ())
{
  const situation asked = any_situation();
  situation longer = asked, storing = asked, keeping = asked, shorter = asked;
  longer.step_us += 1;
  never_less(asked, longer);
  storing.stored_bytes += 512;
  never_less(asked, storing);
  keeping.kept_bytes += 4096;
  never_less(asked, keeping);
  shorter.steps = (asked.steps + 1) / 2;
  never_less(asked, shorter);
}

RC_GTEST_PROP(AdviceProperty, SkewInTheSameStepNeverTakesLessWork, ())
{
  const situation asked = any_situation();
  situation skewed = asked;
  skewed.skew_us = asked.step_us;
  RC_ASSERT(work_of_all(skewed, 800) >= work_of_all(asked, 800) - 1e-9);
  RC_ASSERT(work_of_neighbours(skewed) >= work_of_neighbours(asked) - 1e-9);
}

}  // namespace
}  // namespace gpusync::advice
