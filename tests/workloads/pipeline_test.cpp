// The text of Smith-Waterman's pipeline on host threads, in shapes that no device has: lanes, warps and rows of a lane.
#include "workloads/smith_waterman/pipeline.hpp"

#include <gpusync/neighbours/channel_host.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "workloads/smith_waterman/pipeline_result.hpp"
#include "workloads/smith_waterman/reference.hpp"

namespace gpusync::tool {
namespace {

using base_vector = std::vector<uint8_t>;

/// Arrays as pipeline_in() takes them.
struct pipeline_memory {
  base_vector query, reference;
  std::vector<lane_best> best;

  template <class T>
  T* address(size_t array) {
    const void* const all[] = {query.data(), reference.data(), best.data()};
    return static_cast<T*>(const_cast<void*>(all[array]));
  }
};

/// The best cell, and how many lanes' best cells are not as they should be.
struct pipeline_outcome {
  alignment_end end;
  uint32_t wrong = 0;
};

template <class Scores, uint32_t Rows, uint32_t Warps, uint32_t Lanes>
pipeline_outcome run_pipeline_text(const alignment_problem& problem, uint32_t blocks) {
  using text_type = pipeline<Scores, Rows, Warps>;
  using block_type = pipeline_block<Warps, Lanes>;
  pipeline_memory memory{problem.query, letters_of_reference(problem.reference), {}};
  memory.best.resize((problem.query.size() + Rows - 1) / Rows, {-1, 0, 0});
  const auto text = pipeline_in<text_type>(problem, memory, blocks, Lanes);
  host_channel_storage<handed_down> storage(pipeline_channels(blocks, text.passes, text.columns, Lanes), Lanes, 3);
  std::vector<block_type> shared(blocks);
  for (int again = 0; again < 2; ++again) {  // on the channels that the launch before has left
    launch(
        host_device{}, {blocks, text_type::warps_of_block},
        [&](host_channels<handed_down> channels) {
          const host_grid grid = host_grid::current();
          text.template run<lanes_of_thread<host_grid, Lanes>>(grid, channels, &shared[grid.block()]);
        },
        storage.channels());
  }
  pipeline_outcome outcome;
  for (size_t lane = 0; lane < memory.best.size(); ++lane) {
    alignment_end should_be;
    for (size_t row = lane * Rows; row < std::min<size_t>(problem.query.size(), (lane + 1) * Rows); ++row) {
      const row_best& best = problem.expected[row];
      const alignment_end cell{best.score, static_cast<int64_t>(row), int64_t{best.column}};
      if (cell.score != 0 && cell.goes_before(should_be)) should_be = cell;
    }
    const lane_best& one = memory.best[lane];
    const alignment_end found =
        one.score == 0 ? alignment_end{} : alignment_end{one.score, int64_t{one.row}, int64_t{one.column}};
    outcome.wrong += found != should_be;
    if (found.goes_before(outcome.end)) outcome.end = found;
  }
  return outcome;
}

alignment_problem some_problem(std::mt19937& random, uint32_t longest, uint32_t letters,
                               const alignment_scoring& scoring) {
  const auto below = [&random](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  alignment_problem made;
  made.scoring = scoring;
  made.query.resize(1 + below(longest));
  for (uint8_t& letter : made.query) letter = static_cast<uint8_t>(below(letters));
  made.reference.resize(1 + below(longest));
  const bool related = below(2) == 0;
  for (size_t i = 0; i < made.reference.size(); ++i) {
    const bool same = related && below(9) != 0;
    made.reference[i] = same ? made.query[(i + i / 50) % made.query.size()] : static_cast<uint8_t>(below(letters));
  }
  made.expected = *align_rows(
      made.query, made.reference, scoring, [] { return false; }, 1);
  return made;
}

template <class Scores, uint32_t Rows, uint32_t Warps, uint32_t Lanes>
void expect_as_the_host(uint32_t letters, const std::vector<alignment_scoring>& scorings, uint32_t longest) {
  std::mt19937 random(Rows * 100 + Warps * 10 + Lanes);
  for (uint32_t i = 0; i < 12; ++i) {
    const alignment_problem problem = some_problem(random, longest, letters, scorings[i % scorings.size()]);
    for (const uint32_t blocks : {1u, 2u, 3u}) {
      const pipeline_outcome found = run_pipeline_text<Scores, Rows, Warps, Lanes>(problem, blocks);
      EXPECT_EQ(found.wrong, 0u) << problem.query.size() << " with " << problem.reference.size() << ", " << blocks;
      EXPECT_EQ(found.end, end_of(problem.expected));
    }
  }
}

const std::vector<alignment_scoring> byte_scorings{{}, {3, -3, 0, 2}, {5, -4, 10, 1}, {127, -128, 900, 7}};
const std::vector<alignment_scoring> all_scorings{
    {},
    {1, 0, 1, 0},
    {3, -3, 0, 2},
    {2, -1, 1000, 1000},
    {5000, -7, 1, 0},
    {1'000'000, -(1 << 27), (1 << 27) - 5, 5},  // the largest costs that count, with scores near the largest
    {1, -(1 << 29), 1 << 29, 1 << 28}};         // and what is taken for those

TEST(PipelineText, FindsTheBestCellOfEachLaneByProductsOfBytes) {
  for (const alignment_scoring& scoring : byte_scorings) EXPECT_TRUE(byte_scores_suit(scoring));
  expect_as_the_host<byte_scores, 6, 1, 4>(4, byte_scorings, 120);
  expect_as_the_host<byte_scores, 16, 2, 2>(2, byte_scorings, 120);
}

TEST(PipelineText, FindsThemByComparingLettersWhateverTheScoring) {
  expect_as_the_host<letter_scores, 1, 2, 4>(5, all_scorings, 60);
  expect_as_the_host<letter_scores, 5, 1, 8>(5, all_scorings, 120);
}

TEST(PipelineText, FindsThemWithLanesAsOnAGpu) {
  expect_as_the_host<byte_scores, 6, 1, 32>(4, byte_scorings, 500);
}

TEST(PipelineText, TakesProductsOfBytesOnlyWhereColumnsOutsideCostEnough) {
  EXPECT_TRUE(byte_scores_suit({}));
  EXPECT_FALSE(byte_scores_suit({3, -1, 3, 1})) << "a column outside would score 0";
  EXPECT_FALSE(byte_scores_suit({1, 0, 1, 0}));
  EXPECT_FALSE(byte_scores_suit({128, -128, 3, 1})) << "no byte";
  EXPECT_FALSE(byte_scores_suit({2, -129, 3, 1}));
  EXPECT_FALSE(byte_scores_suit({2, -1, 127, 1})) << "a gap costs more than a column outside";
  EXPECT_TRUE(byte_scores_suit({2, -1, 126, 1}));
}

TEST(PipelineText, ARefusalSaysWhichScoresAreTooLarge) {
  EXPECT_EQ(pipeline_refusal({2, -1, 3, 1}, 1 << 25, 1 << 25), "");
  EXPECT_EQ(pipeline_refusal({2, -1, 3, 1}, 1 << 30, (1 << 26) - 1), "");
  EXPECT_NE(pipeline_refusal({2, -1, 3, 1}, 1 << 30, 1 << 26).find("2^27"), std::string::npos);
}

}  // namespace
}  // namespace gpusync::tool
