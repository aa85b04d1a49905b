// Workload "multi-GPU reduction": how an array is cut into parts, what their sums must be, refusals, and how GPUs tell
// each other their sums, on host threads.
#include "workloads/multi_gpu_reduction/multi_gpu_reduction.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include <gpusync/core/host_memory.hpp>

#include "boundary/gpu_count.hpp"
#include "support/refusal.hpp"
#include "workloads/multi_gpu_reduction/sum_messages.hpp"

namespace gpusync::tool::multi_gpu_reduction_test {
namespace {

std::vector<uint64_t> counts_of(uint64_t elements, uint32_t gpus) {
  std::vector<uint64_t> counts;
  for (uint32_t gpu = 0; gpu < gpus; ++gpu) counts.push_back(part_of_gpu(elements, gpus, gpu).count);
  return counts;
}

across_problem problem_of(uint64_t elements, uint32_t gpus) {
  across_problem problem;
  problem.whole.elements = elements;
  problem.gpus = gpus;
  return problem;
}

using test::refusal;

TEST(PartOfGpu, OfFewElementsSomeGpusHaveNone) {
  EXPECT_EQ(counts_of(0, 3), (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_EQ(counts_of(1, 1), (std::vector<uint64_t>{1}));
  EXPECT_EQ(counts_of(1, 2), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(counts_of(2, 5), (std::vector<uint64_t>{0, 0, 1, 0, 1}));
  EXPECT_EQ(counts_of(7, 2), (std::vector<uint64_t>{3, 4}));
}

RC_GTEST_PROP(PartOfGpu, PartsFollowEachOtherAndAreAsEqualAsCanBe, ())
{
  const auto gpus = *rc::gen::inRange(1u, 17u);
  const auto elements = *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 62);
  uint64_t next = 0;
  for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
    const part_of_array part = part_of_gpu(elements, gpus, gpu);
    RC_ASSERT(part.first == next);
    RC_ASSERT(part.count >= elements / gpus);
    RC_ASSERT(part.count <= elements / gpus + 1);
    next += part.count;
  }
  RC_ASSERT(next == elements);
}

RC_GTEST_PROP(ProblemOfGpu, NoTwoGpusSumTheSameElements, ())
{
  across_problem problem = problem_of(*rc::gen::inRange<uint64_t>(0, uint64_t{1} << 37), *rc::gen::inRange(2u, 17u));
  problem.whole.wide = *rc::gen::arbitrary<bool>();
  const auto gpu = *rc::gen::inRange(0u, problem.gpus - 1);
  const reduction_problem one = problem_of_gpu(problem, gpu), next = problem_of_gpu(problem, gpu + 1);
  RC_ASSERT(one.wide == problem.whole.wide);
  RC_ASSERT(one.elements == part_of_gpu(problem.whole.elements, problem.gpus, gpu).count);
  const reduction_layout layout = layout_of(problem, uint64_t{200} << 30);
  RC_ASSERT(one.first + layout.bytes() / (one.wide ? 8 : 4) <= next.first);
}

RC_GTEST_PROP(LayoutOfProblem, HoldsTheLargestPart, ())
{
  across_problem problem = problem_of(*rc::gen::inRange<uint64_t>(0, uint64_t{1} << 37), *rc::gen::inRange(1u, 17u));
  const reduction_layout layout = layout_of(problem, uint64_t{140} << 30);
  for (uint32_t gpu = 0; gpu < problem.gpus; ++gpu) {
    RC_ASSERT(problem_of_gpu(problem, gpu).bytes() <= layout.stride);
  }
  RC_ASSERT(layout.nodes % 2 == 0u);  // sums of graphs that are replayed take two halves of memory in turn
}

TEST(ReductionSum, OfPartsIsThatOfTheWhole) {
  EXPECT_EQ(reduction_sum(17, 0), 0);
  EXPECT_EQ(reduction_sum(17, 1), reduction_element(17));
  const uint64_t first = uint64_t{3} << 48;
  EXPECT_EQ(reduction_sum(first, 333) + reduction_sum(first + 333, 667), reduction_sum(first, 1000));
  EXPECT_NE(reduction_sum(first, 1000), reduction_sum(0, 1000)) << "a part that is summed twice would not be found";
}

TEST(GpuCount, WhatIsMissingIsSaid) {
  EXPECT_EQ(refusal([] { require_gpus(1, 1); }), "");
  EXPECT_EQ(refusal([] { require_gpus(2, 8); }), "");
  EXPECT_EQ(refusal([] { require_gpus(8, 8); }), "");
  EXPECT_EQ(refusal([] { require_gpus(9, 8); }), "9 GPUs were asked for, but only 8 here reach each other's memory.");
  EXPECT_EQ(refusal([] { require_gpus(2, 1); }), "2 GPUs were asked for, but no other reaches this one's memory.");
  EXPECT_EQ(refusal([] { require_gpus(0, 1); }), "What goes across GPUs takes at least one.");
}

TEST(RoomForParts, WhatIsMissingIsSaid) {
  const reduction_layout layout = layout_of(problem_of(uint64_t{1} << 31, 2), uint64_t{70} << 30);
  ASSERT_EQ(layout.bytes(), uint64_t{4} << 30);
  EXPECT_EQ(refusal([&] { require_room(layout, 1, uint64_t{5} << 30); }), "");
  EXPECT_EQ(refusal([&] { require_room(layout, 1, uint64_t{4} << 30); }),
            "GPU 1 has 4096 MiB of memory left; its inputs and what goes with them take 4608.");
}

TEST(MultiGpuReductionDevice, WithoutADeviceOfItsKindIsRefusedInWords) {
  try {
    (void)open_side<multi_gpu_reduction_device>(find_device("host"));
    FAIL() << "host threads are no GPUs";
  } catch (const error& why) {
    EXPECT_STREQ(why.what(), "This experiment does not run on host devices.");
  }
}

/// Messages of some GPUs in the host's memory.
class message_boxes {
 public:
  explicit message_boxes(uint32_t gpus) : boxes_(gpus) {
    all_.gpus = gpus;
    for (uint32_t gpu = 0; gpu < gpus; ++gpu) all_.on[gpu] = boxes_[gpu].data();
  }
  sum_messages of(uint32_t gpu) const {
    sum_messages own = all_;
    own.gpu = gpu;
    return own;
  }

 private:
  std::vector<std::array<uint64_t, sum_messages::words>> boxes_;
  sum_messages all_{};
};

template <class T>
class SumMessages : public ::testing::Test {};
using sum_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SumMessages, sum_types);

TYPED_TEST(SumMessages, AreThereOnceTheyWereToldAndNotBefore) {
  const message_boxes boxes(3);
  const TypeParam value = TypeParam(-1) / 3;
  TypeParam received = 7;
  EXPECT_FALSE(boxes.of(2).template receive<host_memory>(1, 1, received));
  boxes.of(1).template send<host_memory>(2, 1, value);
  EXPECT_FALSE(boxes.of(2).template receive<host_memory>(0, 1, received)) << "of another GPU";
  EXPECT_FALSE(boxes.of(0).template receive<host_memory>(1, 1, received)) << "to another GPU";
  EXPECT_FALSE(boxes.of(2).template receive<host_memory>(1, 3, received)) << "of a call to come";
  EXPECT_EQ(received, 7) << "nothing was received yet";
  EXPECT_TRUE(boxes.of(2).template receive<host_memory>(1, 1, received));
  EXPECT_EQ(received, value);
  boxes.of(1).template send<host_memory>(2, 2, 2 * value);
  EXPECT_TRUE(boxes.of(2).template receive<host_memory>(1, 1, received)) << "the next call's does not overwrite it";
  EXPECT_EQ(received, value);
}

/// As GPUs go through their calls: each is a thread, of which some dawdle; numbers of calls pass 2^32.
TYPED_TEST(SumMessages, GoFromEachToAllInEveryCall) {
  constexpr uint32_t calls = 20000, first = ~0u - calls / 2 + 1;
  for (const uint32_t gpus : {1u, 2u, 3u}) {
    const message_boxes boxes(gpus);
    const auto part_of = [](uint32_t gpu, uint32_t i) { return TypeParam((gpu + 1) * (i % 1000) + gpu); };
    std::atomic<uint32_t> wrong{0};
    std::vector<std::thread> threads;
    for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
      threads.emplace_back([&, gpu] {
        const sum_messages own = boxes.of(gpu);
        uint32_t random = gpu + 1;
        for (uint32_t i = 0; i < calls; ++i) {
          const uint32_t call = first + i;
          for (uint32_t to = 0; to < gpus; ++to) own.send<host_memory>(to, call, part_of(gpu, i));
          if ((random = random * 1664525 + 1013904223) >> 28 == 0) std::this_thread::yield();
          TypeParam total = 0, expected = 0;
          for (uint32_t from = 0; from < gpus; ++from) {
            TypeParam received = 0;
            while (!own.receive<host_memory>(from, call, received)) std::this_thread::yield();
            total += received;
            expected += part_of(from, i);
          }
          wrong += total == expected ? 0 : 1;
        }
      });
    }
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(wrong, 0u) << gpus << " GPUs";
  }
}

}  // namespace
}  // namespace gpusync::tool::multi_gpu_reduction_test
