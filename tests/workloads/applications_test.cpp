// Workloads "bitonic sort", "Smith-Waterman" and "stencil" on every device of this machine, under every method that
// orders data.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <random>
#include <utility>

#include <gpusync/core/error.hpp>
#include "support/refusal.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"
#include "workloads/smith_waterman/alignment_problem.hpp"
#include "workloads/smith_waterman/generated.hpp"
#include "workloads/smith_waterman/reference.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

void PrintTo(const device_description& device, std::ostream* out) {
  *out << device.id;
}

namespace {

class OnDevice : public testing::TestWithParam<device_description> {
 protected:
  bool is(device_kind kind) const { return GetParam().kind == kind; }
  /// Grids that every device has room for, among them one thread alone and more than the work needs.
  std::vector<step_shape> shapes() const {
    const auto shape = [](uint32_t blocks, uint32_t threads) {
      step_shape made;
      made.blocks = blocks;
      made.threads = threads;
      return made;
    };
#if defined(__SANITIZE_ADDRESS__)
    // It looks at memory, not at schedules, and makes more threads than processors wait for minutes.
    if (is(device_kind::host)) return {shape(1, 1), shape(2, 1)};
#endif
    if (is(device_kind::host)) return {shape(1, 1), shape(3, 2)};
    if (is(device_kind::opencl)) return {shape(1, 1), shape(2, 16)};
    return {shape(1, 32), shape(3, 64), shape(132, 256)};
  }

  /// Runs a workload twice under each method that orders data. A launch for each step is for few steps.
  static void expect_right(workload& workload, const step_shape& shape, const std::string& what, bool launches = true) {
    size_t ran = 0, barriers = 0;
    for (const step_method& method : workload.methods()) {
      if (!method.ordered || (!launches && !method.needs_co_residency)) continue;
      std::unique_ptr<program> program;
      try {
        program = workload.prepare(method, shape);
      } catch (const invalid_argument&) {
        continue;  // clusters of 4 in a grid of 3
      } catch (const not_co_resident&) {
        continue;
      }
      (void)program->run();
      (void)program->run();
      const verification found = program->verify();
      EXPECT_TRUE(found.performed);
      EXPECT_EQ(found.wrong, 0u) << what << ", " << method.name << ", " << shape.blocks << " x " << shape.threads
                                 << ": of " << found.checked;
      ran += 1;
      barriers += method.needs_co_residency;
    }
    EXPECT_GE(ran, launches ? 4u : 3u) << what;
    EXPECT_GE(barriers, 1u) << what;
  }
};

TEST_P(OnDevice, SortsAnyNumberOfElements) {
  const auto device = open_side<bitonic_device>(GetParam());
  for (const uint64_t count : {0, 1, 2, 3, 31, 64, 500}) {
    const sort_input input = make_sort_input({count, "uint32", false, "random"});
    const auto workload = device->sorting(input, sort_form::memory);
    for (const step_shape& shape : shapes()) {
      expect_right(*workload, shape, std::to_string(count) + " elements", count < 4 || !is(device_kind::host));
    }
  }
}

TEST_P(OnDevice, SortsEveryTypeAndInput) {
  const auto device = open_side<bitonic_device>(GetParam());
  for (const std::string& type : sort_types()) {
    for (const bool values : {false, true}) {
      for (const std::string& input_name : sort_inputs()) {
        const sort_input input = make_sort_input({100, type, values, input_name});
        const auto workload = device->sorting(input, sort_form::memory);
        const auto all = workload->methods();
        // One method: how elements are compared does not depend on it.
        const auto barrier = std::find_if(all.begin(), all.end(), [](const step_method& method) {
          return method.name == "lock-based-acquire-release";
        });
        const auto program = workload->prepare(*barrier, shapes().back());
        (void)program->run();
        EXPECT_EQ(program->verify().wrong, 0u) << type << (values ? " with values, " : ", ") << input_name;
        EXPECT_EQ(program->verify().checked, input.sorted.size());
      }
    }
  }
}

TEST_P(OnDevice, SortsInRegisters) {
  const auto device = open_side<bitonic_device>(GetParam());
  if (!device->has(sort_form::registers)) GTEST_SKIP() << "elements are not kept in registers here";
  for (const auto& [type, values] :
       {std::pair{"float32", false}, std::pair{"int64", false}, std::pair{"float64", true}}) {
    for (const uint64_t count : {0, 1, 33, 1024, 5000, 20000, 65536}) {
      const sort_input input = make_sort_input({count, type, values, "special"});
      const auto workload = device->sorting(input, sort_form::registers);
      for (const auto& [blocks, threads] : {std::pair{132u, 256u}, std::pair{200u, 128u}, std::pair{512u, 32u}}) {
        step_shape shape;
        shape.blocks = blocks;
        shape.threads = threads;
        expect_right(*workload, shape, std::to_string(count) + " of " + type, true);
      }
    }
  }
  const sort_input many = make_sort_input({100000, "float32", false, "random"});
  step_shape small;
  small.blocks = 4;
  small.threads = 128;
  const auto workload = device->sorting(many, sort_form::registers);
  EXPECT_THROW((void)workload->prepare(workload->methods().front(), small), invalid_argument);
}

/// A kernel that waits for nothing, each time after one that computed the right result: what that one left where blocks
/// hand on what they have must not make it right too. Now and then luck may.
void expect_wrong_without_barrier(workload& workload, const step_shape& shape, const std::string& what) {
  const auto all = workload.methods();
  const auto good = std::find_if(all.begin(), all.end(),
                                 [](const step_method& method) { return method.name == "lock-based-acquire-release"; });
  step_method none = *good;
  none.name = method_names::none;
  const auto before = workload.prepare(*good, shape);
  const auto without = workload.prepare(none, shape);
  for (int run = 0; run < 1000 && without->verify().wrong == 0; ++run) {  // two blocks may keep step by chance
    (void)before->run();
    (void)without->run();
  }
  EXPECT_EQ(before->verify().wrong, 0u) << what;
  EXPECT_GT(without->verify().wrong, 0u) << what;
}

TEST_P(OnDevice, RelaxesRodsPlatesAndBlocks) {
  const auto device = open_side<stencil_device>(GetParam());
  for (const stencil_size& size :
       {stencil_size{3, 1, 1}, stencil_size{100, 1, 1}, stencil_size{3, 3, 1}, stencil_size{17, 9, 1},
        stencil_size{3, 3, 3}, stencil_size{5, 4, 3}, stencil_size{11, 7, 5}, stencil_size{12, 9, 7}}) {
    for (const stencil_real real : {stencil_real::single, stencil_real::twice}) {
      if (!device->has(real)) continue;
      const auto workload = device->relaxing(stencil_body(size, real, 10));
      const std::string what = std::to_string(size.width) + "x" + std::to_string(size.height) + "x" +
                               std::to_string(size.depth) + (real == stencil_real::twice ? " doubles" : "");
      for (const step_shape& shape : shapes()) expect_right(*workload, shape, what);
    }
  }
}

TEST_P(OnDevice, RelaxesTilesOnTheChip) {
  if (!is(device_kind::cuda)) GTEST_SKIP() << "tiles are kept on the chip by CUDA devices alone";
  const auto device = open_side<stencil_device>(GetParam());
  step_shape shape;
  shape.threads = 512;
  for (const uint32_t blocks : {1u, 5u, 16u}) {
    shape.blocks = blocks;
    for (const stencil_size& size : {stencil_size{4, 3, 1}, stencil_size{256, 13, 1}, stencil_size{1024, 62, 1},
                                     stencil_size{4, 3, 3}, stencil_size{40, 21, 17}, stencil_size{102, 9, 30}}) {
      for (const stencil_real real : {stencil_real::single, stencil_real::twice}) {
        const auto workload = device->relaxing(stencil_body(size, real, 20));
        size_t ran = 0;
        for (const step_method& method : workload->methods()) {
          if (method.name.find("-on-chip") == std::string::npos) continue;
          try {
            const auto program = workload->prepare(method, shape);
            (void)program->run();
            (void)program->run();
            EXPECT_EQ(program->verify().wrong, 0u) << method.name << ", " << blocks << " blocks, " << size.width << "x"
                                                   << size.height << "x" << size.depth;
            ran += 1;
          } catch (const error& refusal) {
            EXPECT_NE(blocks, 16u) << "there is room: " << refusal.what();
          }
        }
        EXPECT_TRUE(ran == 0 || ran == 8) << "three barriers, and that of neighbours, whole and split";
      }
    }
  }
}

TEST_P(OnDevice, RelaxesUntilConverged) {
  if (is(device_kind::opencl)) GTEST_SKIP() << "no method there brings an answer";
  const auto device = open_side<stencil_device>(GetParam());
  for (const stencil_size& size : {stencil_size{8, 8, 1}, stencil_size{17, 9, 1}, stencil_size{40, 6, 1},
                                   stencil_size{5, 4, 3}, stencil_size{12, 9, 7}}) {
    for (const stencil_real real : {stencil_real::single, stencil_real::twice}) {
      for (const uint32_t steps : {4u, 9u}) {
        const auto workload = device->relaxing(stencil_body::until_converged(size, real, steps));
        const std::string what = std::to_string(size.width) + "x" + std::to_string(size.height) + "x" +
                                 std::to_string(size.depth) + ", " + std::to_string(steps) + " steps";
        for (const step_shape& shape : shapes()) expect_right(*workload, shape, what);
      }
    }
  }
}

TEST_P(OnDevice, RelaxesStripsUntilConverged) {
  if (!is(device_kind::cuda)) GTEST_SKIP() << "strips are kept on the chip by CUDA devices alone";
  const auto device = open_side<stencil_device>(GetParam());
  for (const auto& [size, threads] : {std::pair{stencil_size{256, 64, 1}, 128u},
                                      {{256, 1016, 1}, 64u},
                                      {{1024, 1024, 1}, 256u},
                                      {{2048, 512, 1}, 512u}}) {
    for (const stencil_real real : {stencil_real::single, stencil_real::twice}) {
      for (const uint32_t steps : {63u, 64u, 65u, 70u}) {  // about what a graph has
        const auto workload = device->relaxing(stencil_body::until_converged(size, real, steps));
        step_shape shape;
        shape.blocks = 132;
        shape.threads = threads;
        size_t strips = 0;
        for (const step_method& method : workload->methods()) {
          if (method.name.find("-strips") == std::string::npos) continue;
          const auto program = workload->prepare(method, shape);
          (void)program->run();
          (void)program->run();
          EXPECT_EQ(program->verify().wrong, 0u) << method.name << ", " << size.width << "x" << size.height;
          ++strips;
        }
        EXPECT_EQ(strips, 3u);
        expect_right(*workload, shape, "a plate as wide as strips");
      }
    }
  }
}

TEST(StencilBody, EndsBeforeWhatWentWrongIsSmoothedAway) {
  EXPECT_EQ(stencil_steps_of({65536, 1, 1}), 1000u);
  EXPECT_EQ(stencil_steps_of({256, 256, 1}), 1000u);
  EXPECT_EQ(stencil_steps_of({40, 40, 40}), 1000u);
  EXPECT_EQ(stencil_steps_of({20, 20, 20}), 400u);
  EXPECT_EQ(stencil_steps_of({9, 1000, 1}), 80u);
  EXPECT_EQ(stencil_steps_of({3, 1, 1}), 8u);
  EXPECT_EQ(stencil_steps_of({4096, 4096, 1}), 238u) << "the host has to compute them too";
}

/// A point of a rod, a plate and a block after one step, by hand.
TEST(StencilText, TakesTheMeanOfTheNeighbours) {
  std::vector<float> a(27), b(27);
  for (uint32_t i = 0; i < 27; ++i) a[i] = static_cast<float>(i * i);
  const auto middle = [&](const stencil_size& size, size_t at) {
    b = a;
    stencil_kept<float> now = stencil_load(a.data(), b.data(), 0);
    stencil_kept<float> again = now;
    EXPECT_EQ(stencil_step(stencil_dimensions(size), size, &again, 1e4f, {1, 0, 1, 0}), 0u)
        << "no point changes so much";
    EXPECT_NE(stencil_step(stencil_dimensions(size), size, &now, 0.0f, {1, 0, 1, 0}), 0u);
    EXPECT_EQ(now.from, b.data());
    return b[at];
  };
  EXPECT_EQ(middle({3, 1, 1}, 1), (0 + 4) / 2.0f);
  EXPECT_EQ(middle({3, 3, 1}, 4), (1 + 49 + 9 + 25) / 4.0f);
  EXPECT_EQ(middle({3, 3, 3}, 13), (12 * 12 + 14 * 14 + 10 * 10 + 16 * 16 + 4 * 4 + 22 * 22) * (1.0f / 6.0f));
}

TEST_P(OnDevice, FindsWhatAMissingBarrierSpoilsAlsoAfterARightRun) {
  const auto device = open_side<bitonic_device>(GetParam());
  const sort_input input = make_sort_input({1 << 14, "uint32", false, "random"});
  expect_wrong_without_barrier(*device->sorting(input, sort_form::memory), shapes().back(), "sort in memory");
  const auto stencils = open_side<stencil_device>(GetParam());
  step_shape pair = shapes().back();
  if (is(device_kind::host)) pair = {2, 1};
  // On a GPU of the sizes that are measured: the blocks of small ones may keep step by chance.
  const std::vector<stencil_size> small{{2000, 1, 1}, {64, 64, 1}, {20, 20, 20}};
  const std::vector<stencil_size> usual{{65536, 1, 1}, {256, 256, 1}, {40, 40, 40}};
  for (const stencil_size& size : is(device_kind::cuda) ? usual : small) {
    expect_wrong_without_barrier(*stencils->relaxing(stencil_body(size)), pair,
                                 "stencil of " + std::to_string(stencil_dimensions(size)) + " dimensions");
  }
  if (!device->has(sort_form::registers)) return;
  // Blocks exchange a few times: all that a right run wrote then would still stand there. Two of them often keep step.
  step_shape several;
  several.blocks = 16;
  several.threads = 32;
  const sort_input few = make_sort_input({16384, "uint32", false, "random"});
  expect_wrong_without_barrier(*device->sorting(few, sort_form::registers), several, "sort in registers");
}

TEST_P(OnDevice, EndsARunOnTheHostBeforeItIsDone) {
  if (!is(device_kind::host)) GTEST_SKIP() << "a device's own runs are soon over";
  const auto device = open_side<bitonic_device>(GetParam());
  const sort_input input = make_sort_input({1 << 14, "uint32", false, "random"});
  const auto workload = device->sorting(input, sort_form::memory);
  step_shape shape;
  shape.blocks = 3;
  for (const step_method& method : workload->methods()) {
    if (method.name != "launch-wait" && method.name.rfind("lock-", 0) != 0) continue;
    const auto program = workload->prepare(method, shape);
    for (const int questions : {1, 5}) {
      std::atomic<int> asked{0};
      program->end_when([&] { return ++asked >= questions; });
      EXPECT_THROW((void)program->run(), run_interrupted) << method.name;
      // As many steps as there are would have been as many questions.
      EXPECT_LT(asked, 14 * 15 / 2) << method.name;
    }
    EXPECT_EQ(program->verify().checked, 0u) << "what was cut short is not checked";
    program->end_when([] { return false; });
    (void)program->run();
    EXPECT_EQ(program->verify().checked, input.count);
    if (method.ordered) {
      EXPECT_EQ(program->verify().wrong, 0u) << method.name << " after a run that was cut short";
    }
  }
}

alignment_problem problem_of(std::vector<uint8_t> query, std::vector<uint8_t> reference,
                             const alignment_scoring& scoring = {}) {
  alignment_problem problem{std::move(query), std::move(reference), scoring, {}};
  problem.expected = *align_rows(problem.query, problem.reference, scoring, [] { return false; });
  return problem;
}

std::vector<alignment_problem> problems() {
  const auto letters = [](uint32_t count, uint8_t letter) { return std::vector<uint8_t>(count, letter); };
  const auto [query, reference] = generated_pair(90);
  const std::vector<uint8_t> some(query.bases.begin(), query.bases.begin() + 40);
  std::vector<alignment_problem> all;
  for (const alignment_scoring& scoring :
       {alignment_scoring{}, alignment_scoring{3, -3, 0, 2}, alignment_scoring{1, 0, 1, 0}}) {
    all.push_back(problem_of(query.bases, reference.bases, scoring));
    all.push_back(problem_of(some, reference.bases, scoring));
    all.push_back(problem_of(reference.bases, some, scoring));
  }
  all.push_back(problem_of({}, reference.bases));
  all.push_back(problem_of(some, {}));
  all.push_back(problem_of({0}, {0}));
  all.push_back(problem_of({0}, {1}));
  all.push_back(problem_of({2}, reference.bases));
  all.push_back(problem_of(letters(50, 3), letters(60, 3)));
  all.push_back(problem_of(letters(50, unknown_base), letters(60, unknown_base)));
  all.push_back(problem_of(letters(50, unknown_base), reference.bases));
  return all;
}

TEST_P(OnDevice, AlignsWhateverTheSequences) {
  const auto device = open_side<smith_waterman_device>(GetParam());
  size_t number = 0;
  for (const alignment_problem& problem : problems()) {
    const auto workload = device->aligning(problem, alignment_form::memory);
    const bool few = problem.query.size() * problem.reference.size() < 2;
    number += 1;
    for (const step_shape& shape : shapes()) {
      // Two of PoCL's work-groups wait long for each other where other work has the processors.
      if (is(device_kind::opencl) && shape.blocks > 1 && number > 2) continue;
      const std::string what =
          std::to_string(problem.query.size()) + " with " + std::to_string(problem.reference.size());
      expect_right(*workload, shape, what, few || is(device_kind::cuda));
    }
  }
}

TEST_P(OnDevice, AlignsInRegisters) {
  const auto device = open_side<smith_waterman_device>(GetParam());
  if (!device->has(alignment_form::registers)) GTEST_SKIP() << "rows are not kept in registers here";
  std::vector<alignment_problem> all = problems();
  const auto [query, reference] = generated_pair(3000);  // many warps and blocks; one, two and four rows a thread
  all.push_back(problem_of(query.bases, reference.bases));
  for (const alignment_problem& problem : all) {
    const auto workload = device->aligning(problem, alignment_form::registers);
    for (const auto& [blocks, threads] :
         {std::pair{132u, 256u}, std::pair{12u, 256u}, std::pair{3u, 512u}, std::pair{1u, 1024u}}) {
      if (problem.query.size() > 4u * blocks * threads) continue;
      step_shape shape;
      shape.blocks = blocks;
      shape.threads = threads;
      expect_right(*workload, shape, std::to_string(problem.query.size()) + " rows in registers", true);
    }
  }
}

/// Two sequences of up to so many letters: random, or one that came from the other.
std::pair<std::vector<uint8_t>, std::vector<uint8_t>> random_pair(std::mt19937& random, uint32_t longest) {
  const auto below = [&random](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  std::vector<uint8_t> query(1 + below(longest)), reference(1 + below(longest));
  const uint32_t letters = 2 + below(4);  // with the fifth, unknown ones
  for (uint8_t& letter : query) letter = static_cast<uint8_t>(below(letters));
  for (uint8_t& letter : reference) letter = static_cast<uint8_t>(below(letters));
  if (below(2) == 0) {
    for (size_t i = 0; i < reference.size(); ++i) {
      if (below(12) != 0) reference[i] = query[(i + below(20) / 19) % query.size()];
    }
  }
  return {query, reference};
}

TEST_P(OnDevice, AlignsInAPipeline) {
  const auto device = open_side<smith_waterman_device>(GetParam());
  if (!device->has(alignment_form::pipeline)) GTEST_SKIP() << "rows are not handed from block to block here";
  std::vector<alignment_problem> all = problems();
  std::mt19937 random(2010);
  const bool gpu = is(device_kind::cuda);
  const alignment_scoring scorings[] = {{},
                                        {3, -3, 0, 2},
                                        {1, 0, 1, 0},
                                        {5, -4, 10, 1},
                                        {127, -128, 0, 1},
                                        {128, -129, 3, 1},
                                        {2, -1, 1000, 1000},
                                        {1000, -5, 7, 0},
                                        {1, -(1 << 20), 1 << 20, 1 << 20}};
  for (int i = 0; i < (gpu ? 300 : 40); ++i) {
    auto [query, reference] = random_pair(random, gpu ? 5000 : 200);
    all.push_back(
        problem_of(std::move(query), std::move(reference), scorings[static_cast<size_t>(i) % std::size(scorings)]));
  }
  const auto [query, reference] = generated_pair(gpu ? 20000 : 700);
  all.push_back(problem_of(query.bases, reference.bases));
  all.push_back(problem_of({query.bases.begin(), query.bases.begin() + 7}, reference.bases));
  all.push_back(problem_of(query.bases, {reference.bases.begin(), reference.bases.begin() + 5}));
  size_t number = 0;
  for (const alignment_problem& problem : all) {
    const auto workload = device->aligning(problem, alignment_form::pipeline);
    ASSERT_EQ(workload->methods().size(), 1u);
    // Few blocks make several passes; of many, most have no rows.
    const auto most = static_cast<uint32_t>(gpu ? workload->max_co_resident(device->pipeline_threads()) : 3);
    for (const uint32_t blocks : distinct({1, 2, 3, 132, most}, most)) {
      if (number++ % 3 != 0 && blocks != 2) continue;
      step_shape shape;
      shape.blocks = blocks;
      shape.threads = device->pipeline_threads();
      const auto program = workload->prepare(workload->methods().front(), shape);
      for (int again = 0; again < 2; ++again) (void)program->run();
      const verification check = program->verify();
      EXPECT_EQ(check.wrong, 0u) << problem.query.size() << " with " << problem.reference.size() << ", " << blocks
                                 << " blocks, match " << problem.scoring.match << ", mismatch "
                                 << problem.scoring.mismatch;
      if (!problem.query.empty() && !problem.reference.empty()) {
        EXPECT_GT(check.checked, 0u);
        EXPECT_EQ(program->found(), findings_of(end_of(problem.expected)));
      }
    }
  }
}

TEST_P(OnDevice, RefusesWhatThePipelineCannotDoInWords) {
  const auto device = open_side<smith_waterman_device>(GetParam());
  if (!device->has(alignment_form::pipeline)) GTEST_SKIP() << "rows are not handed from block to block here";
  const std::vector<uint8_t> letters(300, 1);
  const alignment_problem large = problem_of(letters, letters, {1 << 19, -1, 3, 1});
  const alignment_problem small = problem_of(letters, letters);
  const auto refusal = [&](const alignment_problem& problem, uint32_t threads) {
    step_shape shape;
    shape.threads = threads;
    const auto workload = device->aligning(problem, alignment_form::pipeline);
    return test::refusal([&] { (void)workload->prepare(workload->methods().front(), shape); });
  };
  EXPECT_NE(refusal(large, device->pipeline_threads()).find("2^27"), std::string::npos);
  EXPECT_NE(refusal(small, device->pipeline_threads() * 2).find("threads, not"), std::string::npos);
  EXPECT_EQ(refusal(small, device->pipeline_threads()), "");
}

TEST_P(OnDevice, FindsWrongBestCellsOfAPipeline) {
  const auto device = open_side<smith_waterman_device>(GetParam());
  if (!device->has(alignment_form::pipeline)) GTEST_SKIP() << "rows are not handed from block to block here";
  const auto [query, reference] = generated_pair(300);
  alignment_problem problem = problem_of(query.bases, reference.bases);
  const auto workload = device->aligning(problem, alignment_form::pipeline);
  step_shape shape;
  shape.threads = device->pipeline_threads();
  const auto program = workload->prepare(workload->methods().front(), shape);
  (void)program->run();
  EXPECT_EQ(program->verify().wrong, 0u);
  problem.expected[150].score += 1000;
  (void)program->run();
  EXPECT_EQ(program->verify().wrong, 1u);
}

TEST_P(OnDevice, FindsAlignmentsWithoutABarrierWrongAlsoAfterARightRun) {
  const auto device = open_side<smith_waterman_device>(GetParam());
  const auto [query, reference] = generated_pair(is(device_kind::cuda) ? 3000 : 300);
  const alignment_problem problem = problem_of(query.bases, reference.bases);
  expect_wrong_without_barrier(*device->aligning(problem, alignment_form::memory), shapes().back(), "in memory");
  if (!device->has(alignment_form::registers)) return;
  step_shape shape;
  shape.blocks = 8;
  shape.threads = 256;
  expect_wrong_without_barrier(*device->aligning(problem, alignment_form::registers), shape, "in registers");
}

TEST_P(OnDevice, SaysWhereTheAlignmentEnds) {
  const auto device = open_side<smith_waterman_device>(GetParam());
  // TGTTACGG with GGTTGACTA, +3/-3, 2 for each letter of a gap: 13, the textbooks' example.
  const alignment_problem problem = problem_of({3, 2, 3, 3, 0, 1, 2, 2}, {2, 2, 3, 3, 2, 0, 1, 3, 0}, {3, -3, 0, 2});
  const auto workload = device->aligning(problem, alignment_form::memory);
  const auto program = workload->prepare(workload->methods().front(), shapes().front());
  (void)program->run();
  const findings found = program->found();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], (std::pair<std::string, std::optional<double>>{"score", 13}));
  EXPECT_EQ(found[1], (std::pair<std::string, std::optional<double>>{"query_end", 5}));
  EXPECT_EQ(found[2], (std::pair<std::string, std::optional<double>>{"reference_end", 6}));
  EXPECT_EQ(program->verify().checked, 8u);
}

TEST(AlignmentProblem, ComparisonCountsRowsThatDiffer) {
  const alignment_problem problem = problem_of({0, 1, 2, 3}, {0, 1, 2, 3});
  std::vector<row_best> found = problem.expected;
  EXPECT_EQ(compare_rows(problem, found).wrong, 0u);
  found[2].column += 1;
  found[3].score -= 1;
  EXPECT_EQ(compare_rows(problem, found).wrong, 2u);
  EXPECT_EQ(end_of(problem.expected), (alignment_end{8, 3, 3}));
}

INSTANTIATE_TEST_SUITE_P(All, OnDevice, testing::ValuesIn(all_devices()), [](const auto& which) {
  std::string name = which.param.id;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

}  // namespace
}  // namespace gpusync::tool
