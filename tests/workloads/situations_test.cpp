// Situations on host threads: every way to wait leaves what it should, and what is not there is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "boundary/steps_host.hpp"
#include "experiments/advice/measured_situations.hpp"

namespace gpusync::tool {
namespace situation_steps {

advice::situation small(advice::dependence waits_for, uint32_t neighbours, uint32_t blocks) {
  advice::situation where;
  where.blocks = blocks;
  where.threads = 2;
  where.stored_bytes = 12;
  where.kept_bytes = 24;
  where.waits_for = waits_for;
  where.neighbours = neighbours;
  where.steps = 12;
  where.step_us = 2;
  where.skew_us = 1;
  return where;
}

TEST(Situations, EveryWayToWaitEndsWithTheSameWords) {
  const auto device = open_side<situation_device>(find_device("host"));
  for (const advice::situation& where :
       {small(advice::dependence::all, 2, 1), small(advice::dependence::all, 2, 5),
        small(advice::dependence::neighbours, 2, 3), small(advice::dependence::neighbours, 4, 6)}) {
    const auto workload = device->in(where);
    size_t ways = 0;
    for (const step_method& method : workload->methods()) {
      if (!way_of(method.name)) continue;
      ways += 1;
      const auto program = workload->prepare(method, {where.blocks, where.threads});
      for (int run = 0; run < 2; ++run) EXPECT_GT(program->run(), 0);
      const verification found = program->verify();
      EXPECT_TRUE(found.performed);
      EXPECT_EQ(found.checked, 2u * where.blocks * (3 + 2 * 3)) << method.name;
      EXPECT_EQ(found.wrong, 0u) << method.name << ", " << in_words(where);
    }
    EXPECT_GE(ways, where.waits_for == advice::dependence::all ? 2u : 4u);
  }
}

/// By how many means of one draw blocks are late: on average, the latest of each step in the mean, and the latest of
/// all.
struct lateness {
  double mean = 0, latest = 0, latest_of_all = 0;
};

lateness lateness_of(const halo_work& work, uint32_t blocks, uint32_t steps) {
  lateness found;
  for (uint32_t s = 0; s < steps; ++s) {
    double latest = 0;
    for (uint32_t b = 0; b < blocks; ++b) {
      const double draw = 1.0 * work.cycles(b, s) / work.mean;
      found.mean += draw / blocks / steps;
      latest = std::max(latest, draw);
    }
    found.latest += latest / steps;
    found.latest_of_all = std::max(found.latest_of_all, latest);
  }
  return found;
}

/// A block that is late by seventeen means in the first step of every run made short runs longer by a sixth.
TEST(Situations, NoBlockAndNoStepIsLateMoreThanOthers) {
  const advice::device_room h200{132, 2048, 32};
  size_t short_runs = 0;
  double latest = 0, expected = 0;
  for (const advice::situation& where : random_situations(1, 360, device_kind::cuda, h200)) {
    const halo_work work = work_of(where, 1980).varying;
    if (work.distribution != halo_work::kind::exponential) continue;
    const auto steps = static_cast<uint32_t>(std::min<uint64_t>(where.steps, halo_work::repeats));
    const lateness found = lateness_of(work, where.blocks, steps);
    const double draws = 1.0 * where.blocks * steps;
    EXPECT_NEAR(found.mean, 1, 4.5 / std::sqrt(draws)) << in_words(where);
    EXPECT_LT(found.latest_of_all, std::log(draws) + 6) << in_words(where);
    if (steps > 24) continue;
    short_runs += 1;
    latest += found.latest;
    expected += advice::greatest_of(where.blocks, where.skew);
  }
  ASSERT_GT(short_runs, 20u);
  EXPECT_NEAR(latest / expected, 1, 0.03) << short_runs << " runs of at most 24 steps";
}

TEST(Situations, TheDrawsOfHalosAreThoseOfTheirDistribution) {
  for (const uint32_t blocks : {16u, 132u, 1056u}) {
    const lateness exponential = lateness_of({halo_work::kind::exponential, 100000}, blocks, halo_work::repeats);
    EXPECT_NEAR(exponential.mean, 1, 0.05) << blocks;
    EXPECT_NEAR(exponential.latest / advice::greatest_of(blocks, advice::skew_form::exponential), 1, 0.03) << blocks;
    const lateness uniform = lateness_of({halo_work::kind::uniform, 100000}, blocks, halo_work::repeats);
    EXPECT_NEAR(uniform.mean, 1, 0.03) << blocks;
    EXPECT_NEAR(uniform.latest / advice::greatest_of(blocks, advice::skew_form::uniform), 1, 0.01) << blocks;
    EXPECT_LE(uniform.latest_of_all, 2) << blocks;
  }
  EXPECT_EQ(lateness_of({halo_work::kind::constant, 1000}, 7, 9).latest_of_all, 1);
}

/// How many means a step takes in a ring of 132 blocks that work as long as `draw(block, step)` says, each after its
/// neighbours have worked the step before, and wait for nothing else.
template <class Draw>
double step_of_ring(Draw draw) {
  constexpr uint32_t blocks = 132, steps = halo_work::repeats, rounds = 6;
  std::vector<double> done(blocks, 0), next(blocks);
  double after_first = 0;
  for (uint32_t s = 0; s < steps * rounds; ++s) {
    for (uint32_t b = 0; b < blocks; ++b) {
      const double begin = std::max({done[(b + blocks - 1) % blocks], done[b], done[(b + 1) % blocks]});
      next[b] = begin + draw(b, s % steps);
    }
    done.swap(next);
    if (s + 1 == steps) after_first = *std::ranges::max_element(done);
  }
  return (*std::ranges::max_element(done) - after_first) / (steps * (rounds - 1));
}

/// The draws bound what any way to wait can take, and sets of 256 steps differ by 1.4 % in that: a figure of one set
/// stands for others only if the set is like most. 1980 MHz: the clock of an H100 and an H200.
TEST(Situations, AMicrosecondOfExponentialWorkBoundsARingAsFairDrawsDo) {
  std::mt19937 random(7);
  std::exponential_distribution<double> exponential;
  constexpr uint32_t sets = 60;
  double fair = 0;
  for (uint32_t i = 0; i < sets; ++i) {
    std::vector<double> draws(size_t{132} * halo_work::repeats);
    for (double& draw : draws) draw = exponential(random);
    fair += step_of_ring([&](uint32_t b, uint32_t s) { return draws[b * halo_work::repeats + s]; }) / sets;
  }
  const halo_work work{halo_work::kind::exponential, 1980};
  const double found = step_of_ring([&](uint32_t b, uint32_t s) { return work.cycles(b, s) / 1980.0; });
  EXPECT_NEAR(found / fair, 1, 0.005) << found << " means a step, fair draws " << fair;
}

TEST(Situations, AStepTooManyIsFoundInEveryWord) {
  const advice::situation where = small(advice::dependence::all, 2, 2);
  const auto memory = std::make_shared<host_arrays>(situation_arrays(where));
  situation_result result(where, memory);
  result.reset();
  EXPECT_EQ(result.check(0).wrong, 0u);
  const check_result later = result.check(2);
  EXPECT_EQ(later.wrong, later.checked) << "nothing has moved";
  memory->address<uint32_t>(0)[3] += 1;
  EXPECT_EQ(result.check(0).wrong, 1u);
  memory->address<uint32_t>(2)[0] += 1;
  EXPECT_EQ(result.check(0).wrong, 2u);
}

TEST(Situations, WhatIsNotCompiledIsRefusedInWords) {
  const auto device = open_side<situation_device>(find_device("host"));
  advice::situation where = small(advice::dependence::neighbours, 8, 9);
  EXPECT_THROW((void)device->in(where)->methods(), invalid_argument);
  where = small(advice::dependence::all, 2, 2);
  where.kept_bytes = 4096;
  EXPECT_THROW((void)device->in(where)->methods(), invalid_argument);
}

TEST(Situations, RandomOnesAreValidAndNeverAskForMoreThanIsCompiled) {
  const advice::device_room h200{132, 2048, 32};
  bool beyond = false, of_neighbours = false, keeps = false, skewed = false;
  for (advice::situation& where : random_situations(7, 500, device_kind::cuda, h200)) {
    EXPECT_NO_THROW(check(where)) << in_words(where);
    EXPECT_NO_THROW(with_situation_text(where, is_dense(where, h200.sms), [](auto) { return 0; })) << in_words(where);
    if (where.waits_for == advice::dependence::neighbours) {
      EXPECT_NO_THROW((void)halo_blocks_across(neighbours_of(where), where.blocks)) << in_words(where);
    }
    EXPECT_GE(where.steps, 8u);
    beyond = beyond || where.blocks > resident_blocks_of(where, h200);
    of_neighbours = of_neighbours || where.waits_for == advice::dependence::neighbours;
    keeps = keeps || where.kept_bytes > 0;
    skewed = skewed || where.skew_us > 0;
  }
  EXPECT_TRUE(beyond && of_neighbours && keeps && skewed);
}

TEST(Situations, ASeedDrawsTheSameAndAnotherSeedOthers) {
  const advice::device_room h200{132, 2048, 32};
  const auto drawn = [&](uint64_t seed) {
    std::vector<axis_values> all;
    for (const advice::situation& one : random_situations(seed, 20, device_kind::cuda, h200))
      all.push_back(axes_of(one));
    return all;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  for (const axis_values& one : drawn(1)) {
    for (const axis_values& other : drawn(2)) EXPECT_NE(one, other);
  }
}

}  // namespace situation_steps
}  // namespace gpusync::tool
