// What every portable grid barrier promises, on host threads: the text that also runs on GPUs.
#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>

#include <rapidcheck.h>

#include "support/host_barriers.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;

template <class Algorithm>
class HostBarrier : public ::testing::Test {
 public:
  using barrier = basic_grid_barrier<Algorithm, host_grid>;
  using storage = host_barrier_storage<Algorithm>;

  using dropping_barrier = basic_grid_barrier<Algorithm, host_grid, dropping_blocks>;
  using part_barrier = basic_grid_barrier<Algorithm, host_grid, block_range>;

  static constexpr uint32_t never_leaves = ~0u;
  /// Longer than any test takes: a wait that would hang fails instead.
  static constexpr auto patience = 20s;

  struct outcome {
    uint32_t early = 0;      ///< times that a thread was released before another had arrived
    uint32_t timed_out = 0;  ///< threads that lost patience
    bool operator==(const outcome& other) const { return early == other.early && timed_out == other.timed_out; }
  };

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

  /// The same with blocks that drop out: block i takes part in the phases 1 to last[i], and drops in that, or in all
  /// `phases`. Every third phase is split into arriving and waiting.
  static outcome with_drops(storage& memory, const std::vector<uint32_t>& last, uint32_t threads, uint32_t phases) {
    const auto blocks = static_cast<uint32_t>(last.size());
    std::vector<uint32_t> slots(size_t{blocks} * threads, 0);
    outcome seen;
    launch(
        host_device{}, {blocks, threads},
        [&](dropping_barrier b) {
          const auto grid = host_grid::current();
          const uint32_t own = grid.block() * threads + grid.thread();
          std::minstd_rand random(own + 1);
          for (uint32_t phase = 1; phase <= phases; ++phase) {
            if (random() % 8 == 0) std::this_thread::yield();
            __atomic_store_n(&slots[own], phase, __ATOMIC_RELAXED);
            if constexpr (Algorithm::order != ordering::none) {  // without ordering nobody can drop: all stay
              if (phase == last[grid.block()]) return b.arrive_and_drop();
            }
            wait_status status = wait_status::completed;
            if (phase % 3 == 0) {
              auto token = b.arrive();
              status = b.wait_for(std::move(token), patience);
            } else {
              status = b.sync_for(patience);
            }
            if (status == wait_status::timed_out) {
              __atomic_fetch_add(&seen.timed_out, 1, __ATOMIC_RELAXED);
              return;
            }
            for (uint32_t i = 0; i < slots.size(); ++i) {
              const uint32_t expected = std::min(phase, last[i / threads]);
              if (__atomic_load_n(&slots[i], __ATOMIC_RELAXED) < expected) {
                __atomic_fetch_add(&seen.early, 1, __ATOMIC_RELAXED);
              }
            }
          }
        },
        memory.dropping_barrier());
    return seen;
  }
};

template <class Outcome>
void expect_clean(const Outcome& seen) {
  EXPECT_EQ(seen.early, 0u);
  EXPECT_EQ(seen.timed_out, 0u);
}

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

TYPED_TEST(HostBarrier, NeedsNoResetBetweenLaunchesOfAnyNumberOfBlocks) {
  typename TestFixture::storage memory(9);
  for (const uint32_t blocks : {5u, 2u, 1u, 3u, 9u, 5u, 4u, 1u, 8u, 9u}) {
    EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 1}, 25), 0u) << blocks;
  }
}

TYPED_TEST(HostBarrier, PassesTheWrapOfItsPhase) {
  for (const uint32_t first : {0xffffu - 20, 0xffffffffu - 20, 0x7fffffffu - 20}) {
    typename TestFixture::storage memory(5, first);
    for (const uint32_t blocks : {3u, 5u, 2u, 5u}) {
      EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 1}, 13), 0u) << first << ", " << blocks << " blocks";
    }
  }
}

TYPED_TEST(HostBarrier, ReleasesTheOthersOfABlockThatHasArrivedOnlyIfItNeedNotWait) {
  if constexpr (!TypeParam::waiting_forwards) {
    typename TestFixture::storage memory(4);
    std::atomic<int> released{0};
    launch(
        host_device{}, {4, 2},
        [&](typename TestFixture::barrier b) {
          auto token = b.arrive();
          if (host_grid::current().block() == 0) {
            while (released != 6) std::this_thread::yield();
            b.wait(std::move(token));
          } else {
            b.wait(std::move(token));
            ++released;
          }
        },
        memory.barrier());
    EXPECT_EQ(released, 6);
  }
}

TYPED_TEST(HostBarrier, LetsBlocksDropOut) {
  if constexpr (TypeParam::order == ordering::none) {
    SUCCEED() << "without ordering, the news of a drop may come late";
  } else {
    constexpr uint32_t never = TestFixture::never_leaves;
    typename TestFixture::storage memory(6);
    const std::vector<std::vector<uint32_t>> cases = {
        {1, never, never},                           // the first, at once
        {never, 5, never, 5},                        // two in one phase
        {4, 4, never, never},                        // the first two in one phase
        {3, 4, never, 5, 6, never},                  // in phases that follow each other
        {2, 3, 4, 5, 6, never},                      // until one is left
        {7, 7, 7, 7, 7},                             // all at once
        {never, never, never, never, never, never},  // none, after launches with drops
        {9, never, 1, 9, 2, never},
    };
    for (const std::vector<uint32_t>& last : cases) {
      for (const uint32_t threads : {1u, 2u}) {
        SCOPED_TRACE(::testing::PrintToString(last) + " of " + std::to_string(threads));
        expect_clean(TestFixture::with_drops(memory, last, threads, 15));
      }
    }
  }
}

TYPED_TEST(HostBarrier, LetsBlocksDropOutAroundTheWrapOfItsPhase) {
  if constexpr (TypeParam::order == ordering::none) {
    SUCCEED() << "without ordering, the news of a drop may come late";
  } else {
    constexpr uint32_t never = TestFixture::never_leaves;
    for (const uint32_t first : {0xffffu - 4, 0xffffffffu - 4}) {
      typename TestFixture::storage memory(5, first);
      expect_clean(TestFixture::with_drops(memory, {3, 4, 5, never, 6}, 1, 10));
      expect_clean(TestFixture::with_drops(memory, {never, 2, never, never, 2}, 1, 10));
    }
  }
}

TYPED_TEST(HostBarrier, NamesTheMissingButNotThoseThatHaveDroppedOut) {
  if constexpr (TypeParam::order == ordering::none) {
    SUCCEED() << "without ordering, the news of a drop may come late";
  } else {
    typename TestFixture::storage memory(5);
    launch(
        host_device{}, {5, 2},
        [&](typename TestFixture::dropping_barrier b) {
          const uint32_t block = host_grid::current().block();
          if (block == 1) return b.arrive_and_drop();
          b.sync();
          if (block == 0) return b.arrive_and_drop();
          b.sync();
          if (block == 3) return;
          EXPECT_EQ(b.sync_for(30ms), wait_status::timed_out);
        },
        memory.dropping_barrier());
    EXPECT_EQ(memory.missing(), (std::vector<missing_block>{{3, 2}}));
  }
}

TYPED_TEST(HostBarrier, JoinsPartsOfAGrid) {
  constexpr uint32_t threads = 2;
  typename TestFixture::storage lower(3);
  typename TestFixture::storage upper(4);
  std::vector<uint32_t> slots(8 * threads, 0);
  std::atomic<uint32_t> early{0};
  launch(
      host_device{}, {8, threads},  // the last is in neither part
      [&](typename TestFixture::part_barrier low, typename TestFixture::part_barrier high) {
        const auto grid = host_grid::current();
        if (grid.block() == 7) return;
        const bool is_low = grid.block() < 3;
        const uint32_t begin = is_low ? 0 : 3 * threads;
        const uint32_t end = is_low ? 3 * threads : 7 * threads;
        for (uint32_t phase = 1; phase <= (is_low ? 40u : 60u); ++phase) {
          __atomic_store_n(&slots[grid.block() * threads + grid.thread()], phase, __ATOMIC_RELAXED);
          (is_low ? low : high).sync();
          for (uint32_t i = begin; i < end; ++i) early += __atomic_load_n(&slots[i], __ATOMIC_RELAXED) < phase ? 1 : 0;
        }
      },
      lower.barrier(block_range{0, 3}), upper.barrier(block_range{3, 4}));
  EXPECT_EQ(early, 0u);
}

TYPED_TEST(HostBarrier, NamesTheMissingBlocksOfAPartByTheirPlaceInTheGrid) {
  typename TestFixture::storage memory(3);
  launch(
      host_device{}, {5, 1},
      [&](typename TestFixture::part_barrier b) {
        const uint32_t block = host_grid::current().block();
        if (block < 2) return;
        b.sync();
        if (block == 3) return;
        EXPECT_EQ(b.sync_for(20ms), wait_status::timed_out);
      },
      memory.barrier(block_range{2, 3}));
  EXPECT_EQ(memory.missing(), (std::vector<missing_block>{{3, 1}}));
}

TYPED_TEST(HostBarrier, AnyLaunchesWithAnyDropsFollowEachOther) {
  ::rc::detail::TestParams few;
  few.maxSuccess = 6;
  few.maxSize = 20;
  const auto result = ::rc::detail::checkTestable(
      [] {
        const auto capacity = *::rc::gen::inRange(1u, 8u);
        const auto first = *::rc::gen::element(0u, 0xffffu - 10, 0xffffffffu - 10);
        typename TestFixture::storage memory(capacity, first);
        for (int launches = 0; launches < 3; ++launches) {
          const auto blocks = *::rc::gen::inRange(1u, capacity + 1);
          const auto threads = *::rc::gen::inRange(1u, 4u);
          const auto last =
              *::rc::gen::container<std::vector<uint32_t>>(blocks, ::rc::gen::inRange(1u, 16u));  // above 10: never
          const auto seen = TestFixture::with_drops(memory, last, threads, 10);
          RC_ASSERT(seen.early == 0u);
          RC_ASSERT(seen.timed_out == 0u);
        }
      },
      ::rc::detail::TestMetadata{}, few);
  std::ostringstream text;
  ::rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.template is<::rc::detail::SuccessResult>()) << text.str();
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
        EXPECT_EQ(b.sync_for(100ms), wait_status::timed_out);
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

TYPED_TEST(HostBarrier, RefusesABlockThatIsNotAMember) {
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

TYPED_TEST(HostBarrier, RefusesTwoPartsThatShareAStorage) {
  using part = typename TestFixture::part_barrier;
  typename TestFixture::storage memory(4), other(4);
  const auto nothing = [](part, part) {};
  const auto start = [&](part a, part b) { launch(host_device{}, {4, 1}, nothing, a, b); };
  EXPECT_THROW(start(memory.barrier(block_range{0, 2}), memory.barrier(block_range{2, 2})), invalid_argument);
  EXPECT_THROW(start(memory.barrier(block_range{0, 2}), memory.barrier(block_range{0, 3})), invalid_argument);
  EXPECT_NO_THROW(start(memory.barrier(block_range{0, 2}), other.barrier(block_range{2, 2})));
  EXPECT_NO_THROW(start(memory.barrier(block_range{0, 2}), memory.barrier(block_range{0, 2})));
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

TYPED_TEST(OrderedHostBarrier, PublishesPlainDataWhileBlocksDropOut) {
  const std::vector<uint32_t> last = {3, 3, ~0u, 7, ~0u};
  const auto blocks = static_cast<uint32_t>(last.size());
  typename TestFixture::storage memory(blocks);
  std::vector<uint32_t> halves(size_t{2} * blocks, 0);
  std::atomic<uint32_t> wrong{0};
  launch(
      host_device{}, {blocks, 1},
      [&](typename TestFixture::dropping_barrier b) {
        const uint32_t own = host_grid::current().block();
        for (uint32_t phase = 1; phase <= 30; ++phase) {
          uint32_t* half = halves.data() + phase % 2 * blocks;
          half[own] = phase;
          if (phase == last[own]) return b.arrive_and_drop();
          b.sync();
          for (uint32_t i = 0; i < blocks; ++i) wrong += phase <= last[i] && half[i] != phase ? 1 : 0;
        }
      },
      memory.dropping_barrier());
  EXPECT_EQ(wrong, 0u);
}

/// Placed counters are used by plans and places, which must not matter to anything but speed.
template <class Algorithm>
class PlannedHostBarrier : public HostBarrier<Algorithm> {
 public:
  static grid::counter_table& table(typename HostBarrier<Algorithm>::storage& memory) {
    return *reinterpret_cast<grid::counter_table*>(memory.state());
  }
};
using planned_types =
    ::testing::Types<grid::placed_counters<ordering::none>, grid::placed_counters<ordering::acquire_release>>;
TYPED_TEST_SUITE(PlannedHostBarrier, planned_types, test::algorithm_names);

TYPED_TEST(PlannedHostBarrier, IsCorrectWithAnyPlan) {
  constexpr uint32_t never = TestFixture::never_leaves;
  for (const uint16_t sub_counters : {uint16_t{1}, uint16_t{2}, uint16_t{4}}) {
    for (const uint16_t copies : {uint16_t{1}, uint16_t{2}}) {
      for (const uint16_t sides : {uint16_t{1}, uint16_t{2}}) {
        for (const uint16_t second_warp : {uint16_t{0}, uint16_t{1}}) {
          typename TestFixture::storage memory(6);
          grid::counter_plan& plan = TestFixture::table(memory).rules.rules[0].plan;
          plan.sub_counters = sub_counters;
          plan.copies = copies;
          plan.sides = sides;
          plan.second_warp = second_warp;
          SCOPED_TRACE(std::to_string(sub_counters) + " x " + std::to_string(copies) + " x " + std::to_string(sides) +
                       (second_warp != 0 ? ", second warp" : ""));
          for (const uint32_t blocks : {6u, 3u, 5u}) {
            EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 5}, 8), 0u) << blocks;
            EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 1}, 8), 0u) << blocks;
          }
          expect_clean(TestFixture::with_drops(memory, {3, 3, never, 4, never, 5}, 5, 8));
          expect_clean(TestFixture::with_drops(memory, {never, 1, 2, never, 2, never}, 4, 8));
        }
      }
    }
  }
}

TYPED_TEST(PlannedHostBarrier, IsCorrectWithWrongSidesAndSharedLines) {
  alignas(uint32_t) static const unsigned char sides[4] = {1, 1, 7, 0};
  for (const bool shared : {false, true}) {
    typename TestFixture::storage memory(6);
    grid::counter_table& table = TestFixture::table(memory);
    table.rules.rules[0].plan.copies = 2;
    table.rules.rules[0].plan.sides = 2;
    // Three entries for six blocks, and one that is no side's number.
    table.sides = reinterpret_cast<const uint32_t*>(sides) - memory.state();
    table.processors = 3;
    // Both sides' counters on the same lines, at different words: sides that turn out to be one.
    for (uint32_t i = 0; shared && i < grid::counter_table::most_lines; ++i) table.line[1][i] = table.line[0][i] + 16;
    EXPECT_EQ(TestFixture::early_releases(memory, {6, 4}, 20), 0u) << shared;
    EXPECT_EQ(TestFixture::early_releases(memory, {2, 5}, 20), 0u) << shared;
  }
}

TYPED_TEST(PlannedHostBarrier, ChangesItsPlanWithTheNumberOfBlocks) {
  typename TestFixture::storage memory(6);
  grid::counter_table& table = TestFixture::table(memory);
  const grid::counter_plan small = table.rules.rules[0].plan;
  grid::counter_plan large = small;
  large.sub_counters = 2;
  large.sides = 1;
  table.rules.count = 2;
  table.rules.rules[0] = {3 * grid::counter_rule::unit, grid::counter_rules::any,
                          small};  // a device of one processor: up to 3 blocks
  table.rules.rules[1] = {grid::counter_rules::any, grid::counter_rules::any, large};
  for (const uint32_t blocks : {6u, 3u, 5u, 2u, 6u}) {
    EXPECT_EQ(TestFixture::early_releases(memory, {blocks, 3}, 20), 0u) << blocks;
  }
  expect_clean(TestFixture::with_drops(memory, {2, 3, 4, 5, ~0u, ~0u}, 3, 10));
  EXPECT_EQ(TestFixture::early_releases(memory, {6, 3}, 20), 0u);
}

}  // namespace
}  // namespace gpusync
