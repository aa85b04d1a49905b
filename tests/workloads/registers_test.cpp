// The forms of the applications that keep their state in registers, on threads that exchange values as a warp's do.
#include <gtest/gtest.h>

#include <cstring>

#include "support/exchanging_threads.hpp"
#include "workloads/bitonic_sort/bitonic_stages.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"
#include "workloads/smith_waterman/generated.hpp"
#include "workloads/smith_waterman/reference.hpp"
#include "workloads/smith_waterman/wavefront_rows.hpp"

namespace gpusync::tool {
namespace {

using test::kernels;
using test::run_exchanging;

class InRegisters : public testing::TestWithParam<kernels> {
 protected:
  template <class Element>
  static void expect_sorted(const sort_problem& problem, uint32_t blocks, uint32_t threads) {
    const sort_input input = make_sort_input(problem);
    using work = bitonic_stages<Element>;
    std::vector<Element> unsorted(problem.count + 1), sorted(problem.count + 1);
    std::memcpy(static_cast<void*>(unsorted.data()), input.unsorted.data(), input.bytes());
    work stages;
    stages.chunk = merges_of(uint64_t{threads} * work::own);
    stages.merges = std::max(stages.chunk, merges_of(problem.count));
    ASSERT_LE(uint64_t{1} << (stages.merges - stages.chunk), blocks);
    std::vector<four_words> exchanged(2 * (size_t{1} << stages.merges) * sizeof(Element) / sizeof(four_words));
    stages.input = unsorted.data();
    stages.output = sorted.data();
    stages.exchanged = exchanged.data();
    stages.count = static_cast<uint32_t>(problem.count);
    stages.order = input.order;
    run_exchanging(stages, blocks, threads, GetParam());
    EXPECT_EQ(different_words(elements_of(input), reinterpret_cast<const uint32_t*>(sorted.data())), 0u)
        << problem.count << " of " << problem.type << ", " << problem.input;
  }

  template <uint32_t Rows>
  static void expect_aligned(uint32_t rows, uint32_t columns, uint32_t blocks, uint32_t threads) {
    const auto [query, reference] = generated_pair(std::max(rows, columns));
    alignment_problem problem{query.bases, reference.bases, {}, {}};
    problem.query.resize(rows);
    problem.reference.resize(columns);
    problem.expected = *align_rows(problem.query, problem.reference, problem.scoring, [] { return false; });
    const std::vector<uint8_t> letters = letters_of_reference(problem.reference);
    using work = wavefront_rows<Rows>;
    std::vector<handed_down> edges(work::slots * blocks * threads / 32), down(rows, handed_down{0, no_score});
    std::vector<handed_on> on(rows, handed_on{no_score, 0});
    std::vector<row_best> best(rows);
    const work alignment{wavefront_problem::of(problem, problem.query.data(), letters.data()), edges.data(),
                         down.data(), on.data(), best.data()};
    run_exchanging(alignment, blocks, threads, GetParam());
    EXPECT_EQ(compare_rows(problem, best).wrong, 0u) << rows << " x " << columns << ", " << Rows << " rows a thread";
    EXPECT_EQ(compare_rows(problem, best).checked, rows);
  }
};

TEST_P(InRegisters, ElementsOfEverySizeAreSortedWithinAndBetweenBlocks) {
  expect_sorted<uint32_t>({100, "float32", false, "special"}, 1, 32);
  expect_sorted<uint32_t>({3000, "int32", false, "random"}, 2, 64);    // between the warps of a block, and two blocks
  expect_sorted<uint64_t>({1500, "float64", false, "random"}, 4, 32);  // two steps between blocks in a merge
  expect_sorted<sort_pair>({700, "int64", true, "few"}, 5, 32);        // a block that has nothing to do
}

TEST_P(InRegisters, RowsAreAlignedAcrossThreadsWarpsAndBlocks) {
  expect_aligned<1>(90, 40, 2, 64);
  expect_aligned<2>(130, 20, 2, 64);
  expect_aligned<4>(250, 15, 3, 32);  // the last warp is not full
  expect_aligned<1>(33, 5, 2, 32);
  expect_aligned<2>(1, 1, 1, 32);
}

INSTANTIATE_TEST_SUITE_P(Kernels, InRegisters, testing::Values(kernels::one_for_each_step, kernels::one_for_all),
                         [](const auto& which) {
                           return which.param == kernels::one_for_all ? "OneForAll" : "OneForEachStep";
                         });

}  // namespace
}  // namespace gpusync::tool
