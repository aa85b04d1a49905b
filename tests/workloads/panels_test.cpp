// Panels: what is asked of blocks, that every way to keep them together leaves what it must, and that a fault is seen.
#include "workloads/panels/panels.hpp"

#include <gtest/gtest.h>

#include <gpusync/core/host_memory.hpp>

#include "support/host_description.hpp"
#include "support/refusal.hpp"

namespace gpusync::tool {
namespace {

panel_problem small(panel_op op, panel_imbalance imbalance, uint32_t blocks = 3, uint32_t threads = 2) {
  return {op, imbalance, 1 << 14, 1 << 11, blocks, threads};
}

TEST(Panels, TouchEachWordTwiceOnAverageHoweverManyThreadsThereAre) {
  for (const uint32_t threads : {1u, 7u, 64u}) {
    const panel_work work = panel_problem{panel_op::gather, panel_imbalance::even, 1 << 20, 1 << 16, 4, threads}.work();
    EXPECT_EQ(work.panels, 16u);
    EXPECT_EQ(work.log2_words, 14u);
    uint64_t all = 0;
    for (uint32_t block = 0; block < 4; ++block) all += uint64_t{work.accesses_of(block, 3)} * threads;
    EXPECT_NEAR(static_cast<double>(all), 2 * 16384.0, 2 * 16384.0 * 0.01) << threads;
  }
  // More threads than words: each has something to do.
  EXPECT_EQ((panel_problem{panel_op::gather, panel_imbalance::even, 1 << 10, 8, 100, 100}.work().accesses), 1u);
}

TEST(Panels, DifferInWorkAsTheImbalanceSays) {
  panel_problem asked{panel_op::gather, panel_imbalance::blocks, 1 << 28, 1 << 24, 4000, 32};
  const panel_work blocks = asked.work();
  uint32_t slowest = 0, fastest = UINT32_MAX;
  double all = 0;
  for (uint32_t block = 0; block < blocks.blocks; ++block) {
    EXPECT_EQ(blocks.accesses_of(block, 5), blocks.accesses_of(block, 0)) << "a block's speed stays";
    slowest = std::max(slowest, blocks.accesses_of(block, 5));
    fastest = std::min(fastest, blocks.accesses_of(block, 5));
    all += blocks.accesses_of(block, 5);
  }
  EXPECT_NEAR(fastest, 0.8 * blocks.accesses, 1);
  EXPECT_NEAR(slowest, 1.2 * blocks.accesses, 1);
  EXPECT_NEAR(all / blocks.blocks, blocks.accesses, 0.02 * blocks.accesses);
  asked = {panel_op::gather, panel_imbalance::random, 1 << 24, 1 << 20, 11, 32};
  const panel_work random = asked.work();
  uint32_t least = ~0u, most = 0;
  for (uint32_t panel = 0; panel < random.panels; ++panel) {
    for (uint32_t block = 0; block < 11; ++block) {
      least = std::min(least, random.accesses_of(block, panel));
      most = std::max(most, random.accesses_of(block, panel));
    }
  }
  EXPECT_GE(least, 0.4 * random.accesses - 1);
  EXPECT_LT(least, 0.5 * random.accesses);
  EXPECT_GT(most, 1.5 * random.accesses);
  EXPECT_LE(most, random.most_accesses());
}

TEST(Panels, StayInTheirPanel) {
  for (const uint64_t bytes : {uint64_t{8}, uint64_t{1} << 12, uint64_t{1} << 24}) {
    const panel_work work = panel_problem{panel_op::gather, panel_imbalance::even, 4 * bytes, bytes, 2, 2}.work();
    panel_dice dice(work, 3, 1);
    uint32_t most = 0;
    for (int i = 0; i < 10000; ++i) most = std::max(most, dice.next());
    EXPECT_LT(most, bytes / 4);
    EXPECT_GE(most, bytes / 4 - bytes / 4 / 100 - 1);
  }
}

TEST(Panels, ThatCannotBeAreRefusedInWords) {
  const auto refusal = [](const panel_problem& problem) { return test::refusal([&] { (void)problem.work(); }); };
  const panel_op op = panel_op::gather;
  const panel_imbalance even = panel_imbalance::even;
  EXPECT_EQ(refusal({op, even, 4096, 1000, 1, 1}), "A panel has a power of two of bytes, from 8 on, not 1000.");
  EXPECT_EQ(refusal({op, even, 4096, 4, 1, 1}), "A panel has a power of two of bytes, from 8 on, not 4.");
  EXPECT_EQ(refusal({op, even, 5000, 4096, 1, 1}), "A table of 5000 bytes does not consist of panels of 4096.");
  EXPECT_EQ(refusal({op, even, 2048, 4096, 1, 1}), "A table of 2048 bytes does not consist of panels of 4096.");
  EXPECT_EQ(refusal({op, even, 4096, 4096, 0, 1}), "A grid has 1 to 2^31 threads.");
  EXPECT_EQ(refusal({op, even, 4096, 4096, 1, 1}), "");
  EXPECT_EQ(refusal({panel_op::scatter, even, 4096, 4096, 1, 1, panel_start::same, 1}),
            "Blocks that add to words read none that they could compute with: work is for the others.");
  EXPECT_EQ(refusal({op, even, 4096, 4096, 1, 1, panel_start::same, (1u << 20) + 1}),
            "Blocks make up to 1048576 multiply-adds of a word, not 1048577.");
}

TEST(Panels, LeadsAreReadFromNames) {
  EXPECT_EQ(lead_of_window("window-8"), 8u);
  EXPECT_EQ(lead_of_window("strict-window-2"), 0u);
  EXPECT_EQ(lead_of_window("strict-window-2", "strict-window-"), 2u);
  EXPECT_EQ(lead_of_window("cg"), 0u);
}

class PanelsOnHostThreads : public ::testing::TestWithParam<panel_op> {};
INSTANTIATE_TEST_SUITE_P(, PanelsOnHostThreads,
                         ::testing::Values(panel_op::gather, panel_op::scatter, panel_op::probe, panel_op::stream),
                         [](const auto& of) { return panel_op_names().at(static_cast<size_t>(of.param)); });

TEST_P(PanelsOnHostThreads, ComeOutRightByEveryWay) {
  const auto device = open_side<panels_device>(test::host_description());
  for (const panel_imbalance imbalance : {panel_imbalance::even, panel_imbalance::blocks, panel_imbalance::random}) {
    for (const auto& [blocks, threads] : {std::pair{1u, 1u}, {3u, 2u}, {5u, 1u}}) {
      for (const step_method& method : device->methods()) {
        const auto program = device->prepare(small(GetParam(), imbalance, blocks, threads), method.name);
        EXPECT_GT(program->run(), 0);
        EXPECT_GT(program->run(), 0);
        const verification found = program->verify();
        EXPECT_TRUE(found.performed);
        EXPECT_EQ(found.wrong, 0u) << method.name;
        EXPECT_EQ(found.checked, 2u * (blocks * threads + (GetParam() == panel_op::scatter ? (1u << 12) : 0)));
      }
    }
  }
}

TEST_P(PanelsOnHostThreads, ComeOutRightWhereverBlocksBeginAndWhateverTheyCompute) {
  const auto device = open_side<panels_device>(test::host_description());
  for (const uint32_t multiply_adds : {0u, 7u}) {
    if (multiply_adds != 0 && GetParam() == panel_op::scatter) continue;
    panel_problem problem = small(GetParam(), panel_imbalance::blocks, 3, 5);
    problem.start = panel_start::spread;
    problem.multiply_adds = multiply_adds;
    for (const step_method& method : device->methods()) {
      const auto program = device->prepare(problem, method.name);
      EXPECT_GT(program->run(), 0);
      EXPECT_EQ(program->verify().wrong, 0u) << method.name;
    }
  }
}

TEST(Panels, AreEachVisitedOnceByABlockThatBeginsInThePlaceOfItsOwn) {
  panel_problem asked = small(panel_op::stream, panel_imbalance::even, 5, 2);
  asked.start = panel_start::spread;
  const panel_work work = asked.work();
  for (uint32_t block = 0; block < 5; ++block) {
    EXPECT_EQ(work.panel_of(block, 0), block * work.panels / 5);
    std::vector<uint32_t> visits(work.panels);
    for (uint32_t epoch = 0; epoch < work.panels; ++epoch) {
      ++visits.at(work.panel_of(block, epoch));
      if (epoch == 0) continue;
      EXPECT_EQ(work.panel_of(block, epoch), (work.panel_of(block, epoch - 1) + 1) % work.panels);
    }
    EXPECT_EQ(visits, std::vector<uint32_t>(work.panels, 1));
  }
}

TEST(Panels, OfAStreamAreReadWordByWordByEachBlock) {
  const panel_work work = small(panel_op::stream, panel_imbalance::even, 3, 7).work();
  const panel_text<panel_op::stream> text{work, nullptr, nullptr, nullptr};
  std::vector<uint32_t> reads(1u << work.log2_words);
  for (uint32_t thread = 0; thread < 7; ++thread) {
    for (uint32_t i = 0; i < work.accesses_of(0, 0); ++i) ++reads.at(text.in_order(thread, i));
  }
  EXPECT_EQ(*std::min_element(reads.begin(), reads.end()), 1u);
  EXPECT_LE(std::count(reads.begin(), reads.end(), 2u), 6) << "the last round of a block's threads begins again";
}

TEST(Panels, ComputeAsMuchAsTheyAreAsked) {
  panel_problem asked = small(panel_op::gather, panel_imbalance::even);
  asked.multiply_adds = 13;
  const panel_work work = asked.work();
  for (const uint32_t word : {0u, 5u, ~0u}) EXPECT_EQ(work.computed(word), word * work.factor + work.summand);
  EXPECT_NE(work.factor, 1u);
}

/// A block that skips a panel, or a word that is not what it should be, must show in what is compared.
TEST(Panels, ASumShowsAPanelThatWasLeftOutAndAWordThatIsWrong) {
  const panel_work work = small(panel_op::gather, panel_imbalance::even).work();
  std::vector<uint32_t> table(work.words()), sums(work.elements());
  for (uint64_t i = 0; i < work.words(); ++i) table[i] = panel_word(i);
  const panel_text<panel_op::gather> text{work, table.data(), nullptr, sums.data()};
  uint32_t all = 0, without_one = 0;
  for (uint32_t panel = 0; panel < work.panels; ++panel) {
    const uint32_t part = text.visit<host_memory>(1, 1, panel);
    all += part;
    if (panel != 2) without_one += part;
  }
  EXPECT_EQ(all, text.expected(1, 1));
  EXPECT_NE(without_one, text.expected(1, 1));
  const uint32_t right = text.visit<host_memory>(1, 1, 0);
  panel_dice dice(work, 1 * work.threads + 1, 0);
  table[dice.next()] ^= 1;
  EXPECT_NE(text.visit<host_memory>(1, 1, 0), right);
}

}  // namespace
}  // namespace gpusync::tool
