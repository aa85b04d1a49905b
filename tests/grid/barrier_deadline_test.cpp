// Waits with deadlines, and what a grid barrier refuses, on host threads.
#include "support/host_barrier_fixture.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::expect_clean;

/// Host threads that never give up a phase: what is asked of those that may is not asked of them.
struct trusting_grid : host_grid {
  static constexpr bool may_lose_phases = false;
  explicit trusting_grid(const host_grid& grid) : host_grid(grid) {}
  static trusting_grid current() { return trusting_grid(host_grid::current()); }
};

template <class Algorithm>
class HostBarrierDeadlines : public test::HostBarrierTest<Algorithm> {};
TYPED_TEST_SUITE(HostBarrierDeadlines, test::portable_types, test::algorithm_names);

TYPED_TEST(HostBarrierDeadlines, NamesTheBlockAndThePhaseThatADeadlineMissed) {
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

TYPED_TEST(HostBarrierDeadlines, EnteringIsNoArrivalWherePhasesCannotBeLostEither) {
  host_barrier_storage<TypeParam, trusting_grid> memory(2);
  std::atomic<bool> there{false}, early{false};
  launch(
      host_device{}, {2, 1},
      [&](basic_grid_barrier<TypeParam, trusting_grid> b) {
        if (b.try_enter() == wait_status::timed_out) return;
        if (host_grid::current().block() == 1) {
          std::this_thread::sleep_for(20ms);
          there = true;
        }
        b.sync();
        if (!there) early = true;
        b.sync();
      },
      memory.barrier());
  EXPECT_TRUE(there);
  EXPECT_FALSE(early);
}

TYPED_TEST(HostBarrierDeadlines, NamesSeveralMissingBlocksAndEarlierLaunchesDoNotConfuseIt) {
  typename TestFixture::storage memory(6);
  EXPECT_EQ(TestFixture::early_releases(memory, {6, 1}, 10), 0u);
  launch(
      host_device{}, {6, 1},
      [&](typename TestFixture::barrier b) {
        const uint32_t block = host_grid::current().block();
        if (block == 0 || block == 5) return;
        EXPECT_EQ(b.sync_for(100ms), wait_status::timed_out);
      },
      memory.barrier());
  EXPECT_EQ(memory.missing(), (std::vector<missing_block>{{0, 0}, {5, 0}}));
}

TYPED_TEST(HostBarrierDeadlines, KeepsItsReportWhenTheLateBlockComesAfterAll) {
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

TYPED_TEST(HostBarrierDeadlines, CompletesABoundedWaitInTime) {
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

TYPED_TEST(HostBarrierDeadlines, RefusesALaunchOnABrokenStorageUntilItIsReset) {
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

TYPED_TEST(HostBarrierDeadlines, RefusesAGridLargerThanItsStorage) {
  typename TestFixture::storage memory(2);
  EXPECT_THROW(launch(
                   host_device{}, {3, 1}, [](typename TestFixture::barrier b) { b.sync(); }, memory.barrier()),
               invalid_argument);
}

TYPED_TEST(HostBarrierDeadlines, RefusesABlockThatIsNotAMember) {
  typename TestFixture::storage memory(2);
  EXPECT_THROW(launch(
                   host_device{}, {4, 1},
                   [](typename TestFixture::part_barrier b) {
                     const uint32_t block = host_grid::current().block();
                     if (block != 1) b.sync();
                   },
                   memory.barrier(block_range{2, 2})),
               invalid_argument);
}

TYPED_TEST(HostBarrierDeadlines, RefusesTwoPartsThatShareAStorage) {
  using part = typename TestFixture::part_barrier;
  typename TestFixture::storage memory(4), other(4);
  const auto nothing = [](part, part) {};
  const auto start = [&](const part& a, const part& b) { launch(host_device{}, {4, 1}, nothing, a, b); };
  EXPECT_THROW(start(memory.barrier(block_range{0, 2}), memory.barrier(block_range{2, 2})), invalid_argument);
  EXPECT_THROW(start(memory.barrier(block_range{0, 2}), memory.barrier(block_range{0, 3})), invalid_argument);
  EXPECT_NO_THROW(start(memory.barrier(block_range{0, 2}), other.barrier(block_range{2, 2})));
  EXPECT_THROW(start(memory.barrier(block_range{0, 2}), memory.barrier(block_range{0, 2})), invalid_argument);
}

TYPED_TEST(HostBarrierDeadlines, RefusesAStorageForNoBlocksOrTooMany) {
  EXPECT_THROW(typename TestFixture::storage(0), invalid_argument);
  EXPECT_THROW(typename TestFixture::storage(uint64_t{TypeParam::max_blocks} + 1), invalid_argument);
  EXPECT_THROW(typename TestFixture::storage(~uint32_t{0}), invalid_argument);
  EXPECT_THROW(typename TestFixture::storage(~uint64_t{0}), invalid_argument);
}

}  // namespace
}  // namespace gpusync
