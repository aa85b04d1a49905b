// Paced workloads on host threads: every variant computes the same, whatever the sizes; wrong texts are found; what may
// not be compared is refused in words.
#include <gtest/gtest.h>

#include "support/host_description.hpp"
#include "support/paced_problems.hpp"
#include "support/refusal.hpp"
#include "workloads/paced/column_walk.hpp"
#include "workloads/paced/memory_test.hpp"
#include "workloads/paced/paced_host.hpp"
#include "workloads/paced/scalar_product.hpp"
#include "workloads/paced/sparse_product.hpp"
#include "workloads/paced/transpose.hpp"
#include "workloads/paced/vector_add.hpp"

namespace gpusync::tool::paced_workloads {
namespace {

struct text {
  const char* name;
  paced_arrays (*arrays)(const paced_problem&);
};
const text memory_test{"memory-test", memory_test_text::arrays};
const text vector_add{"vector-add", vector_add_text::arrays};
const text scalar_product_of_sets{"scalar-product set", scalar_product_text<false>::arrays};
const text scalar_product_of_elements{"scalar-product element", scalar_product_text<true>::arrays};
const text row_a_warp{"sparse-product warp", row_a_warp_text::arrays};
const text row_a_thread{"sparse-product thread", row_a_thread_text::arrays};
const text column_walk{"column-walk", column_walk_text::arrays};
const text transpose{"transpose", transpose_text::arrays};

std::unique_ptr<paced_program> program_of(const text& which, const paced_problem& problem) {
  return open_side<paced_device>(test::host_description(), which.name)->program(problem);
}

void expect_right(const text& which, const paced_problem& problem) {
  const auto program = program_of(which, problem);
  for (const paced_variant& one : program->variants()) {
    EXPECT_GT(program->run(one), 0);
    EXPECT_GT(program->run(one), 0);
    const verification found = program->verify(one, false);
    EXPECT_TRUE(found.performed);
    EXPECT_EQ(found.checked, 2 * which.arrays(problem).output_words()) << one.name;
    EXPECT_EQ(found.wrong, 0u) << one.name;
  }
  for (const paced_variant& one : program->clocked()) {
    (void)program->run_clocked(one);
    EXPECT_EQ(program->verify(one, true).wrong, 0u) << one.name;
  }
}

TEST(PacedOnHost, TestsMemory) {
  expect_right(memory_test, problem_of(1, 1, 1, 1));
  expect_right(memory_test, problem_of(2, 3, 1, 1025));
  expect_right(memory_test, problem_of(1, 4, 1, 3079));
}

TEST(PacedOnHost, AddsVectors) {
  for (const uint64_t elements : {0, 1, 7, 12, 13, 12 * 16, 12 * 37 + 5}) {
    expect_right(vector_add, problem_of(3, 4, elements, 1));
  }
}

TEST(PacedOnHost, MultipliesVectors) {
  for (const uint64_t length : {1, 1023, 1024, 5000}) {
    for (const uint32_t percent : {0u, 20u}) {
      expect_right(scalar_product_of_sets, problem_of(2, 3, 5, length, percent));
      expect_right(scalar_product_of_elements, problem_of(2, 3, 3, length, percent));
    }
  }
  expect_right(scalar_product_of_sets, problem_of(2, 2, 0, 100));
}

TEST(PacedOnHost, MultipliesSparseMatrices) {
  for (const uint64_t rows : {1, 63, 65, 200}) {
    for (const uint64_t band : {0, 8}) {
      expect_right(row_a_warp, problem_of(2, 3, rows, 20, 20, band));
      expect_right(row_a_thread, problem_of(2, 3, rows, 20, 50, band));
    }
  }
  expect_right(row_a_thread, problem_of(1, 1, 10, 1));
}

TEST(PacedOnHost, WalksColumns) {
  for (const uint64_t columns : {1, 3, 16, 301}) expect_right(column_walk, problem_of(2, 3, 5, columns));
  expect_right(column_walk, problem_of(1, 1, 1, 5));
}

TEST(PacedOnHost, Transposes) {
  for (const uint64_t size : {1, 31, 33, 70}) {
    for (const uint64_t part : {1, 20, 100}) expect_right(transpose, problem_of(2, 3, size, part));
  }
}

/// Leaves out the last element.
class one_too_few : public vector_add_text {
 public:
  one_too_few(const paced_problem& problem, uint32_t* const* arrays)
      : vector_add_text(problem, arrays), fewer_(less(problem), arrays) {}

  template <uint32_t Every, class Grid, class Pace, class Watch>
  void run(Grid grid, Pace& pace, shared& memory, Watch& watch) const {
    fewer_.run<Every>(grid, pace, memory, watch);
  }

 private:
  static paced_problem less(paced_problem problem) {
    --problem.elements;
    return problem;
  }
  const vector_add_text fewer_;
};

TEST(PacedOnHost, FindsATextThatLeavesAnElementOut) {
  host_paced_program<one_too_few> program(problem_of(2, 2, 101, 1));
  for (const paced_variant& one : program.variants()) {
    (void)program.run(one);
    EXPECT_EQ(program.verify(one, false).wrong, 1u) << one.name;
  }
  for (const paced_variant& one : program.clocked()) {
    (void)program.run_clocked(one);
    EXPECT_EQ(program.verify(one, true).wrong, 1u) << one.name;
  }
}

/// Counts visits, and what stands between them.
struct counting_pace {
  using form = pace::compiler_fence;
  void visit() {
    ++visits;
    at.push_back(bodies);
  }
  uint32_t visits = 0, bodies = 0;
  std::vector<uint32_t> at;
};

template <uint32_t Every>
counting_pace counted(uint64_t trips) {
  counting_pace pace;
  no_watch watch;
  launch(host_device{}, {1, 1},
         [&] { in_epochs<Every, 1>(host_grid::current(), trips, pace, watch, [&] { return ++pace.bodies; }); });
  return pace;
}

TEST(PacedLoop, VisitsBehindEachIntervalAndCarriesOutTheRest) {
  EXPECT_EQ(counted<4>(0).bodies, 0u);
  EXPECT_EQ(counted<4>(3).visits, 0u);
  EXPECT_EQ(counted<4>(3).bodies, 3u);
  const counting_pace pace = counted<4>(11);
  EXPECT_EQ(pace.bodies, 11u);
  EXPECT_EQ(pace.at, (std::vector<uint32_t>{4, 8}));
  EXPECT_EQ(counted<1>(5).at, (std::vector<uint32_t>{1, 2, 3, 4, 5}));
}

TEST(PacedVariants, HaveNamesOfTheirOwn) {
  const std::vector<paced_variant> all = variants_of<transpose_text>();
  std::vector<std::string> names;
  for (const paced_variant& one : all) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "none",       "control-1",  "control-4",  "control-16", "block-1", "block-4", "block-16",
                       "warps8-1",   "warps8-4",   "lead1-1",    "lead1-4",    "lead4-1", "lead4-4", "counted1-1",
                       "counted1-4", "counted4-1", "counted4-4", "arrive-1",   "fence-1", "delay-1", "tiled"}));
  EXPECT_EQ(all.front().role, paced_role::plain);
  EXPECT_EQ(all.back().role, paced_role::rival);
}

TEST(PacedClocks, AreMeansOverWarps) {
  const auto program = program_of(memory_test, problem_of(2, 2, 1, 2048));
  for (const paced_variant& one : program->clocked()) {
    const paced_clocks clocks = program->run_clocked(one);
    EXPECT_EQ(clocks.unit, "ns");
    EXPECT_EQ(clocks.visits, 2048.0 / one.every) << one.name;
    EXPECT_GT(clocks.memory, 0);
    EXPECT_GT(clocks.lifetime, 0);
    EXPECT_LE(clocks.lifetime, 1);
  }
  const paced_clocks mean = mean_clocks({{{10, 2, 0}, 4, 100, 200}, {{30, 4, 8}, 6, 150, 300}}, "cycles");
  EXPECT_EQ(mean.memory, 20);
  EXPECT_EQ(mean.barrier, 3);
  EXPECT_EQ(mean.tree, 4);
  EXPECT_EQ(mean.visits, 5);
  EXPECT_DOUBLE_EQ(mean.lifetime, 125.0 / 200);
  EXPECT_EQ(mean_clocks({}, "ns").lifetime, 0);
}

TEST(PacedRefusals, SayWhyAVariantIsNotTheSameButForItsPace) {
  const paced_resources plain{32, 0, 8, 4};
  EXPECT_EQ(why_not_comparable(plain, plain), "");
  EXPECT_EQ(why_not_comparable({30, 16, 8, 4}, plain), "") << "registers and bytes alone are reported";
  EXPECT_EQ(
      why_not_comparable({32, 16, 7, 4}, plain),
      "It is not the same but for its pace: 7 of its blocks run on a multiprocessor at once, of the plain kernel's 8 "
      "(registers 32 and 32, shared memory 16 and 0 bytes a block).");
  EXPECT_EQ(
      why_not_comparable({32, 0, 8, 0}, plain),
      "It is not the same but for its pace: it asks for 0 % of a multiprocessor's memory as shared memory, the plain "
      "kernel for 4 %, so their L1 caches differ.");
}

// An H200: 228 KiB, of which each block takes 1 KiB besides. 8 blocks and 16 bytes need more than 8 KiB.
TEST(PacedRefusals, TheCarveOutHasRoomForAllVariants) {
  const uint64_t multiprocessor = 228 * 1024;
  for (const auto& [blocks, bytes] : {std::pair{8, 0}, {8, 16}, {2, 24}, {16, 4120}, {1, 4096}}) {
    const auto percent = static_cast<uint64_t>(carve_out_for(blocks, bytes, 1024, multiprocessor));
    EXPECT_GE(percent * multiprocessor / 100 + multiprocessor / 100, uint64_t(blocks) * uint64_t(bytes + 1024));
    EXPECT_LE(percent, 100u);
  }
  EXPECT_EQ(carve_out_for(8, 0, 1024, multiprocessor), 4);
  EXPECT_EQ(carve_out_for(8, 200000, 1024, multiprocessor), 100);
  EXPECT_EQ(carve_out_for(16, 0, 0, 65536), 0) << "where the system takes nothing and the kernels neither";
}

TEST(PacedRefusals, SayWhatIsWanting) {
  EXPECT_EQ(test::refusal([] { require_room(100, 100, "free"); }), "");
  EXPECT_EQ(test::refusal([] { require_room(uint64_t{3} << 30, uint64_t{1} << 30, "free"); }),
            "It needs 3 GiB of memory, what its output is compared with among it, and there are 1 GiB free.");
  paced_problem problem = problem_of(1, 48, 1, 1);
  problem.warp_size = 32;
  EXPECT_EQ(test::refusal([&] { require_whole_warps(problem.shape, problem.warp_size); }),
            "Its blocks are whole warps: multiples of 32 threads, and not 48.");
  EXPECT_NE(test::refusal([] { program_of(vector_add, problem_of(1, 1, uint64_t{1} << 31, 1)); }), "");
  EXPECT_NE(test::refusal([] { program_of(scalar_product_of_sets, problem_of(1, 1, 1, 1 << 21)); }), "");
  EXPECT_NE(test::refusal([] { program_of(row_a_warp, problem_of(1, 1, 4, 8, 60)); }), "");
  EXPECT_NE(test::refusal([] { program_of(vector_add, problem_of(1, 33, 1, 1)); }), "");
  EXPECT_NE(test::refusal([] { program_of(transpose, problem_of(1, 1, 4, 0)); }), "");
}

TEST(JitteredRows, VaryByAsMuchAsIsSaid) {
  const jittered_rows rows(1000, 20), even(1000, 0);
  uint64_t least = UINT64_MAX, most = 0;
  for (uint64_t row = 0; row < 4096; ++row) {
    EXPECT_EQ(even.length(row), 1000u);
    least = std::min(least, rows.length(row));
    most = std::max(most, rows.length(row));
  }
  EXPECT_GE(least, 800u);
  EXPECT_LE(most, 1200u);
  EXPECT_LT(least, 850u);
  EXPECT_GT(most, 1150u);
  EXPECT_LE(rows.begin(4096), rows.elements(4096));
}

}  // namespace
}  // namespace gpusync::tool::paced_workloads
