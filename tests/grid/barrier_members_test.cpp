// Grid barriers whose members are a part of the grid, or leave early, on host threads.
#include <rapidcheck.h>

#include <sstream>

#include "support/host_barrier_fixture.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::expect_clean;

template <class Algorithm>
class HostBarrierMembers : public test::HostBarrierTest<Algorithm> {};
TYPED_TEST_SUITE(HostBarrierMembers, test::portable_types, test::algorithm_names);

TYPED_TEST(HostBarrierMembers, ReleasesTheOthersOfABlockThatHasArrivedOnlyIfItNeedNotWait) {
  if constexpr (!TypeParam::wait_needed_by_others) {
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

TYPED_TEST(HostBarrierMembers, LetsBlocksDropOut) {
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

TYPED_TEST(HostBarrierMembers, LetsBlocksDropOutAroundTheWrapOfItsPhase) {
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

/// host_memory in which a thread's loads can be held up.
struct memory_with_slow_readers : host_memory {
  static inline thread_local const std::atomic<bool>* until = nullptr;

  template <memory_order Order, scope Scope, class T>
  static T load(const T* address) {
    while (until != nullptr && !*until) std::this_thread::yield();
    return host_memory::load<Order, Scope>(address);
  }
};

TYPED_TEST(HostBarrierMembers, LetsABlockDropOutThatSeesTheEndOfItsPhaseMuchLater) {
  if constexpr (TypeParam::order == ordering::none) {
    SUCCEED() << "without ordering, the news of a drop may come late";
  } else {
    using grid = test::grid_with_memory<memory_with_slow_readers>;
    host_barrier_storage<TypeParam, grid> memory(2);
    std::atomic<bool> over{false};
    launch(
        host_device{}, {2, 1},
        [&](basic_grid_barrier<TypeParam, grid, dropping_blocks> b) {
          b.sync();
          if (host_grid::current().block() == 1) {
            memory_with_slow_readers::until = &over;
            EXPECT_EQ(b.arrive_and_drop_for(TestFixture::patience), wait_status::completed);
            memory_with_slow_readers::until = nullptr;
          } else {
            for (int phase = 0; phase < 40000; ++phase) b.sync();  // beyond half of what 16 bits can count
            over = true;
          }
        },
        memory.dropping_barrier());
  }
}

TYPED_TEST(HostBarrierMembers, NamesTheMissingButNotThoseThatHaveDroppedOut) {
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

TYPED_TEST(HostBarrierMembers, JoinsPartsOfAGrid) {
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

TYPED_TEST(HostBarrierMembers, NamesTheMissingBlocksOfAPartByTheirPlaceInTheGrid) {
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

TYPED_TEST(HostBarrierMembers, AnyLaunchesWithAnyDropsFollowEachOther) {
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

template <class Algorithm>
class OrderedHostBarrierMembers : public test::HostBarrierTest<Algorithm> {};
TYPED_TEST_SUITE(OrderedHostBarrierMembers, test::ordered_types, test::algorithm_names);

TYPED_TEST(OrderedHostBarrierMembers, PublishesPlainDataWhileBlocksDropOut) {
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

}  // namespace
}  // namespace gpusync
