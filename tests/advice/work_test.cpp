#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gpusync/advice/work.hpp>

namespace gpusync::advice {
namespace {

/// Times of blocks in a ring or a torus, step after step: what greatest_among_neighbours() has a formula for.
double simulated(uint32_t rows, uint32_t across, uint32_t neighbours, uint64_t steps, skew_form skew) {
  const uint32_t blocks = rows * across;
  std::mt19937_64 numbers(blocks + neighbours);
  const auto draw = [&] {
    const double part = (static_cast<double>(numbers() >> 11) + 0.5) * 0x1p-53;
    return skew == skew_form::uniform ? 2 * part : -std::log(part);
  };
  double sum = 0;
  const int runs = 3 + 3000 / static_cast<int>(blocks);
  for (int run = 0; run < runs; ++run) {
    std::vector<double> now(blocks, 0), before;
    for (uint64_t s = 0; s < steps; ++s) {
      before = now;
      for (uint32_t b = 0; b < blocks; ++b) {
        const uint32_t x = b % across, y = b / across;
        for (uint32_t dy = rows == 1 ? 1 : 0; dy < (rows == 1 ? 2 : 3); ++dy) {
          for (uint32_t dx = 0; dx < 3; ++dx) {
            if (neighbours == 4 && dx != 1 && dy != 1) continue;
            now[b] = std::max(now[b], before[(y + dy + rows - 1) % rows * across + (x + dx + across - 1) % across]);
          }
        }
        now[b] += draw();
      }
    }
    sum += *std::max_element(now.begin(), now.end());
  }
  return sum / runs / static_cast<double>(steps);
}

TEST(AdviceWork, TheGreatestOfManyDrawsIsTheHarmonicNumberOrNearlyTwice) {
  EXPECT_DOUBLE_EQ(greatest_of(1, skew_form::exponential), 1);
  EXPECT_DOUBLE_EQ(greatest_of(1, skew_form::uniform), 1);
  EXPECT_NEAR(greatest_of(2, skew_form::exponential), 1.5, 1e-12);
  double harmonic = 0;
  for (int k = 1; k <= 132; ++k) harmonic += 1.0 / k;
  EXPECT_NEAR(greatest_of(132, skew_form::exponential), harmonic, 1e-4);
  EXPECT_NEAR(greatest_of(132, skew_form::uniform), 2, 0.02);
}

TEST(AdviceWork, GrowthAmongNeighboursIsThatOfASimulation) {
  struct grid {
    uint32_t rows, across, neighbours;
  };
  for (const grid& one : {grid{1, 16, 2}, {1, 132, 2}, {4, 4, 4}, {11, 12, 4}, {4, 4, 8}, {11, 12, 8}}) {
    for (const skew_form skew : {skew_form::uniform, skew_form::exponential}) {
      for (const uint64_t steps : {1u, 8u, 64u, 256u}) {
        const double formula =
            greatest_among_neighbours(one.rows * one.across, one.neighbours, static_cast<double>(steps), skew);
        const double found = simulated(one.rows, one.across, one.neighbours, steps, skew);
        EXPECT_NEAR(formula / found, 1, 0.06) << one.rows << " x " << one.across << " blocks, " << one.neighbours
                                              << " neighbours, " << steps << " steps, form " << static_cast<int>(skew);
      }
    }
  }
}

TEST(AdviceWork, NeighboursNeverWaitLongerThanAll) {
  for (const double blocks : {1., 2., 3., 8., 132., 4224.}) {
    for (const uint32_t neighbours : {2u, 4u, 8u}) {
      for (const skew_form skew : {skew_form::uniform, skew_form::exponential}) {
        const double of_all = greatest_of(blocks, skew),
                     of_some = greatest_among_neighbours(blocks, neighbours, 1e6, skew);
        EXPECT_LE(of_some, of_all) << blocks << " blocks, " << neighbours << " neighbours";
        EXPECT_GE(of_some, 1);
        EXPECT_NEAR(greatest_among_neighbours(blocks, neighbours, 1, skew), of_all, 1e-9) << "one step is a barrier's";
      }
    }
  }
}

TEST(AdviceWork, BlocksBeyondThoseThatFitComeInWaves) {
  situation asked;
  asked.blocks = 1056;
  asked.step_us = 3;
  EXPECT_DOUBLE_EQ(work_of_all(asked, 1056), 3);
  EXPECT_DOUBLE_EQ(work_of_all(asked, 1055), 6);
  EXPECT_DOUBLE_EQ(work_of_all(asked, 352), 9);
  asked.skew_us = 3;  // all of it differs: who is done early makes room
  EXPECT_NEAR(work_of_all(asked, 528), 3 * (greatest_of(528, skew_form::uniform) + 1), 1e-12);
}

TEST(AdviceWork, WithoutSkewEverybodyTakesTheStep) {
  situation asked;
  asked.blocks = 132;
  asked.step_us = 2.5;
  EXPECT_DOUBLE_EQ(work_of_all(asked, 132), 2.5);
  EXPECT_DOUBLE_EQ(work_of_neighbours(asked), 2.5);
}

}  // namespace
}  // namespace gpusync::advice
