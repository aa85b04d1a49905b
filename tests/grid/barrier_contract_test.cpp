// What every portable grid barrier promises, on host threads: the text that also runs on GPUs.
#include "support/host_barrier_fixture.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::expect_clean;

template <class Algorithm>
class HostBarrier : public test::HostBarrierTest<Algorithm> {};
TYPED_TEST_SUITE(HostBarrier, test::portable_types, test::algorithm_names);

TYPED_TEST(HostBarrier, ReleasesNobodyBeforeAllHaveArrived) {
  for (const launch_shape shape : {launch_shape{1, 1}, {2, 1}, {3, 2}, {4, 4}, {7, 1}, {{2, 2, 2}, {2, 1, 1}}}) {
    typename TestFixture::storage memory(static_cast<uint32_t>(shape.blocks.count()));
    EXPECT_EQ(TestFixture::early_releases(memory, shape, 60), 0u)
        << shape.blocks.count() << " blocks of " << shape.threads.count();
  }
}

TYPED_TEST(HostBarrier, ServesOneToNineBlocksOfOneToFiveThreads) {
  typename TestFixture::storage memory(9);
  for (uint32_t blocks = 1; blocks <= 9; ++blocks) {
    for (uint32_t threads = 1; threads <= 5; ++threads) {
      EXPECT_EQ(TestFixture::early_releases(memory, {blocks, threads}, 6), 0u) << blocks << " blocks of " << threads;
    }
  }
}

TYPED_TEST(HostBarrier, ServesMoreBlocksThanALineHasWords) {
  typename TestFixture::storage memory(70);
  for (const uint32_t blocks : {33u, 70u, 64u, 65u, 70u}) {
    EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 1}, 3), 0u) << blocks;
  }
}

TYPED_TEST(HostBarrier, NeedsNoResetBetweenLaunchesOfAnyNumberOfBlocks) {
  typename TestFixture::storage memory(9);
  for (const uint32_t blocks : {5u, 2u, 1u, 3u, 9u, 5u, 4u, 1u, 8u, 9u}) {
    EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 1}, 25), 0u) << blocks;
  }
}

TYPED_TEST(HostBarrier, DoesNotTakeWhatBlocksLeft65536PhasesAgoForNew) {
  typename TestFixture::storage memory(3);
  EXPECT_EQ(TestFixture::early_releases(memory, {3, 1}, 5), 0u);
  EXPECT_EQ(TestFixture::early_releases(memory, {1, 1}, 0xffff), 0u);
  EXPECT_EQ(TestFixture::early_releases(memory, {3, 1}, 5), 0u);
}

TYPED_TEST(HostBarrier, PassesTheWrapOfItsPhase) {
  for (const uint32_t first : {0xffffu - 20, 0xffffffffu - 20, 0x7fffffffu - 20}) {
    typename TestFixture::storage memory(5, first);
    for (const uint32_t blocks : {3u, 5u, 2u, 5u}) {
      EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 1}, 13), 0u) << first << ", " << blocks << " blocks";
    }
  }
}

TYPED_TEST(HostBarrier, LetsABlockWorkBetweenArrivingAndWaiting) {
  typename TestFixture::storage memory(2);
  std::atomic<bool> first_arrived{false};
  launch(
      host_device{}, {2, 1},
      [&](typename TestFixture::barrier b) {
        auto token = b.arrive();  // must not wait for block 1, which arrives only once block 0 has come this far
        if (host_grid::current().block() == 0) {
          first_arrived = true;
        } else {
          while (!first_arrived) std::this_thread::yield();
        }
        b.wait(std::move(token));
      },
      memory.barrier());
}

TYPED_TEST(HostBarrier, KeepsTwoBarriersOfOneKernelApart) {
  typename TestFixture::storage first(3);
  typename TestFixture::storage second(3);
  std::vector<uint32_t> slots(3, 0);
  std::atomic<uint32_t> early{0};
  launch(
      host_device{}, {3, 1},
      [&](typename TestFixture::barrier a, typename TestFixture::barrier b) {
        const uint32_t own = host_grid::current().block();
        for (uint32_t phase = 1; phase <= 60; ++phase) {
          __atomic_store_n(&slots[own], phase, __ATOMIC_RELAXED);
          (phase % 3 == 0 ? a : b).sync();
          for (const uint32_t& slot : slots) early += __atomic_load_n(&slot, __ATOMIC_RELAXED) < phase ? 1 : 0;
        }
      },
      first.barrier(), second.barrier());
  EXPECT_EQ(early, 0u);
}

/// Orderings that promise it: plain data written before the barrier is seen after it. ThreadSanitizer runs this too.
template <class Algorithm>
class OrderedHostBarrier : public test::HostBarrierTest<Algorithm> {};
TYPED_TEST_SUITE(OrderedHostBarrier, test::ordered_types, test::algorithm_names);

TYPED_TEST(OrderedHostBarrier, PublishesPlainDataOfEveryThreadToEveryThread) {
  constexpr uint32_t blocks = 3;
  constexpr uint32_t threads = 2;
  typename TestFixture::storage memory(blocks);
  std::vector<uint32_t> halves(2 * blocks * threads, 0);
  std::atomic<uint32_t> wrong{0};
  launch(
      host_device{}, {blocks, threads},
      [&](typename TestFixture::barrier b) {
        const auto grid = host_grid::current();
        for (uint32_t phase = 1; phase <= 60; ++phase) {
          uint32_t* half = halves.data() + (phase % 2) * blocks * threads;
          half[grid.block() * threads + grid.thread()] = phase;
          if (phase % 2 == 0) {
            b.sync();
          } else {
            auto token = b.arrive();
            b.wait(std::move(token));
          }
          for (uint32_t i = 0; i < blocks * threads; ++i) wrong += half[i] != phase ? 1 : 0;
        }
      },
      memory.barrier());
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace gpusync
