// What every portable grid barrier promises, on host threads: the text that also runs on GPUs.
#include <chrono>
#include <random>

#include "support/host_barriers.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;

template <class Algorithm>
class HostBarrier : public ::testing::Test {
 public:
  using barrier = basic_grid_barrier<Algorithm, host_grid>;
  using storage = host_barrier_storage<Algorithm>;

  /// Every thread writes its own word, then reads every other thread's word, in each of `phases` phases. The words are
  /// atomic and relaxed here, so that also a barrier that orders no data must pass: what is tested is the waiting.
  static uint64_t early_releases(storage& memory, launch_shape shape, uint32_t phases) {
    const auto threads = static_cast<uint32_t>(shape.threads.count());
    std::vector<uint32_t> slots(shape.blocks.count() * threads, 0);
    uint64_t early = 0;
    launch(
        host_device{}, shape,
        [&](barrier b) {
          const auto grid = host_grid::current();
          const uint32_t own = grid.block() * threads + grid.thread();
          std::minstd_rand random(own + 1);
          for (uint32_t phase = 1; phase <= phases; ++phase) {
            if (random() % 8 == 0) std::this_thread::yield();
            __atomic_store_n(&slots[own], phase, __ATOMIC_RELAXED);
            b.sync();
            for (const uint32_t& slot : slots) {
              if (__atomic_load_n(&slot, __ATOMIC_RELAXED) < phase) __atomic_fetch_add(&early, 1, __ATOMIC_RELAXED);
            }
          }
        },
        memory.barrier());
    return early;
  }
};

TYPED_TEST_SUITE(HostBarrier, test::portable_types, test::algorithm_names);

TYPED_TEST(HostBarrier, ReleasesNobodyBeforeAllHaveArrived) {
  for (const launch_shape shape : {launch_shape{1, 1}, {2, 1}, {3, 2}, {4, 4}, {7, 1}, {{2, 2, 2}, {2, 1, 1}}}) {
    typename TestFixture::storage memory(static_cast<uint32_t>(shape.blocks.count()));
    EXPECT_EQ(TestFixture::early_releases(memory, shape, 300), 0u)
        << shape.blocks.count() << " blocks of " << shape.threads.count();
  }
}

TYPED_TEST(HostBarrier, NeedsNoResetBetweenLaunchesOfAnyNumberOfBlocks) {
  typename TestFixture::storage memory(5);
  for (const uint32_t blocks : {5u, 2u, 1u, 3u, 5u, 4u}) {
    EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 1}, 50), 0u) << blocks;
  }
}

TYPED_TEST(HostBarrier, PassesTheWrapOfItsPhase) {
  typename TestFixture::storage memory(3, 0xffff - 20);
  EXPECT_EQ(TestFixture::early_releases(memory, {3, 1}, 100), 0u);
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
        for (uint32_t phase = 1; phase <= 200; ++phase) {
          __atomic_store_n(&slots[own], phase, __ATOMIC_RELAXED);
          (phase % 3 == 0 ? a : b).sync();
          for (const uint32_t& slot : slots) early += __atomic_load_n(&slot, __ATOMIC_RELAXED) < phase ? 1 : 0;
        }
      },
      first.barrier(), second.barrier());
  EXPECT_EQ(early, 0u);
}

TYPED_TEST(HostBarrier, NamesTheBlockAndThePhaseThatADeadlineMissed) {
  typename TestFixture::storage memory(4);
  constexpr auto limit = 40ms;
  std::atomic<int64_t> longest{0};
  std::atomic<int> timed_out{0};
  launch(
      host_device{}, {4, 2},
      [&](typename TestFixture::barrier b) {
        for (int phase = 0; phase < 3; ++phase) b.sync();
        if (host_grid::current().block() == 2) return;
        const auto begin = std::chrono::steady_clock::now();
        if (b.sync_for(limit) == wait_status::timed_out) ++timed_out;
        const int64_t spent = (std::chrono::steady_clock::now() - begin) / 1us;
        int64_t seen = longest;
        while (spent > seen && !longest.compare_exchange_weak(seen, spent)) {
        }
      },
      memory.barrier());
  EXPECT_EQ(timed_out, 6) << "every thread of every block that waited";
  EXPECT_LT(longest, 2 * limit / 1us);
  EXPECT_EQ(memory.missing(), (std::vector<missing_block>{{2, 3}}));
}

TYPED_TEST(HostBarrier, NamesSeveralMissingBlocksAndEarlierLaunchesDoNotConfuseIt) {
  typename TestFixture::storage memory(6);
  EXPECT_EQ(TestFixture::early_releases(memory, {6, 1}, 10), 0u);
  launch(
      host_device{}, {6, 1},
      [&](typename TestFixture::barrier b) {
        const uint32_t block = host_grid::current().block();
        if (block == 0 || block == 5) return;
        EXPECT_EQ(b.sync_for(20ms), wait_status::timed_out);
      },
      memory.barrier());
  EXPECT_EQ(memory.missing(), (std::vector<missing_block>{{0, 0}, {5, 0}}));
}

TYPED_TEST(HostBarrier, KeepsItsReportWhenTheLateBlockComesAfterAll) {
  typename TestFixture::storage memory(2);
  launch(
      host_device{}, {2, 1},
      [&](typename TestFixture::barrier b) {
        if (host_grid::current().block() == 1) std::this_thread::sleep_for(60ms);
        (void)b.sync_for(15ms);
      },
      memory.barrier());
  EXPECT_EQ(memory.missing(), (std::vector<missing_block>{{1, 0}}));
}

TYPED_TEST(HostBarrier, CompletesABoundedWaitInTime) {
  typename TestFixture::storage memory(3);
  std::atomic<int> completed{0};
  launch(
      host_device{}, {3, 1},
      [&](typename TestFixture::barrier b) {
        for (int phase = 0; phase < 100; ++phase) completed += b.sync_for(10s) == wait_status::completed ? 1 : 0;
      },
      memory.barrier());
  EXPECT_EQ(completed, 300);
  EXPECT_TRUE(memory.missing().empty());
}

TYPED_TEST(HostBarrier, RefusesALaunchOnABrokenStorageUntilItIsReset) {
  typename TestFixture::storage memory(2);
  const auto one_misses = [](typename TestFixture::barrier b) {
    if (host_grid::current().block() == 0) (void)b.sync_for(5ms);
  };
  launch(host_device{}, {2, 1}, one_misses, memory.barrier());
  EXPECT_THROW(launch(host_device{}, {2, 1}, one_misses, memory.barrier()), broken_barrier);
  memory.reset();
  EXPECT_TRUE(memory.missing().empty());
  EXPECT_EQ(TestFixture::early_releases(memory, {2, 1}, 20), 0u);
}

TYPED_TEST(HostBarrier, RefusesAGridLargerThanItsStorage) {
  typename TestFixture::storage memory(2);
  EXPECT_THROW(launch(
                   host_device{}, {3, 1}, [](typename TestFixture::barrier b) { b.sync(); }, memory.barrier()),
               invalid_argument);
}

TYPED_TEST(HostBarrier, RefusesAStorageForNoBlocksOrTooMany) {
  EXPECT_THROW(typename TestFixture::storage(0), invalid_argument);
  EXPECT_THROW(typename TestFixture::storage(TypeParam::max_blocks + 1), invalid_argument);
}

/// Orderings that promise it: plain data written before the barrier is seen after it. ThreadSanitizer runs this too.
template <class Algorithm>
class OrderedHostBarrier : public HostBarrier<Algorithm> {};
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
        for (uint32_t phase = 1; phase <= 200; ++phase) {
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
