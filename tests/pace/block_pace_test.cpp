// What keeps the threads of a block in step, on host threads: the text that also runs on GPUs, where its members are
// warps.
#include <gpusync/pace/host.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "support/refusal.hpp"

namespace gpusync {
namespace {

/// Visits of each thread of each block, and how far apart they were seen.
struct visits {
  visits(uint32_t block_count, uint32_t thread_count)
      : threads(thread_count), made(size_t{block_count} * thread_count) {}
  std::atomic<uint32_t>& of(const host_grid& at) { return made[size_t{at.block()} * threads + at.thread()]; }
  /// The least of the threads [first, last) of the calling thread's block.
  uint32_t least(const host_grid& at, uint32_t first, uint32_t last) {
    uint32_t least = ~0u;
    for (uint32_t t = first; t < last; ++t) least = std::min(least, made[size_t{at.block()} * threads + t].load());
    return least;
  }
  uint32_t threads;
  std::vector<std::atomic<uint32_t>> made;
};

constexpr uint32_t rounds = 60;

/// Runs two blocks that visit, and returns how often a thread was further ahead of the slowest of its group than
/// `lead`.
template <class Form>
uint32_t too_far_ahead(uint32_t threads, uint32_t lead, uint32_t group) {
  constexpr uint32_t blocks = 2;
  visits all(blocks, threads);
  std::vector<host_pace_memory<Form>> memory(blocks);
  std::atomic<uint32_t> wrong{0};
  launch(host_device{}, {blocks, threads}, [&] {
    const host_grid grid = host_grid::current();
    for (int twice = 0; twice < 2; ++twice) {  // in the same memory
      host_block_pace<Form> pace(memory[grid.block()]);
      const uint32_t first = grid.thread() / group * group, last = std::min(threads, first + group);
      for (uint32_t round = 1; round <= rounds; ++round) {
        const uint32_t own = all.of(grid).fetch_add(1) + 1;
        pace.visit();
        if (own > all.least(grid, first, last) + lead) ++wrong;
      }
    }
  });
  for (const std::atomic<uint32_t>& each : all.made) EXPECT_EQ(each, 2 * rounds);
  return wrong;
}

TEST(HostBlockPace, OfTheBlockHoldsAllThreadsTogether) {
  for (const uint32_t threads : {1u, 2u, 5u}) EXPECT_EQ(too_far_ahead<pace::block>(threads, 0, threads), 0u);
}

TEST(HostBlockPace, OfGroupsHoldsEachGroupTogether) {
  for (const uint32_t threads : {1u, 3u, 4u, 8u}) EXPECT_EQ(too_far_ahead<pace::warps<3>>(threads, 0, 3), 0u);
}

TEST(HostBlockPace, OfALeadBoundsIt) {
  for (const uint32_t threads : {1u, 2u, 5u}) {
    EXPECT_EQ(too_far_ahead<pace::lead<1>>(threads, 1, threads), 0u);
    EXPECT_EQ(too_far_ahead<pace::lead<4>>(threads, 4, threads), 0u);
  }
}

TEST(HostBlockPace, OfALeadLetsThreadsPartAndLeave) {
  visits all(1, 2);
  host_pace_memory<pace::lead<3>> memory;
  std::atomic<bool> waited{false};
  launch(host_device{}, {1, 2}, [&] {
    const host_grid grid = host_grid::current();
    host_block_pace<pace::lead<3>> pace(memory);
    if (grid.thread() == 0) {
      pace.visit();
      pace.visit();  // two ahead of one that has not begun: allowed
      waited = true;
      for (int i = 0; i < 50; ++i) pace.visit();
      return;
    }
    while (!waited) std::this_thread::yield();
    pace.visit();
    pace.leave();
  });
  EXPECT_TRUE(waited);
}

TEST(HostBlockPace, WithMoreThanThirtyTwoMembersOfGroupsEndsTheLaunch) {
  host_pace_memory<pace::warps<3>> memory;
  const std::string said = test::refusal([&] {
    launch(host_device{}, {1, 33}, [&] { host_block_pace<pace::warps<3>> pace(memory); });
  });
  EXPECT_NE(said.find("has 33 warps, of which at most 32 can meet"), std::string::npos) << said;
}

TEST(HostBlockPace, ThatIsOffOrTheCompilersLeavesNothing) {
  static_assert(std::is_empty_v<host_block_pace<pace::off>> && std::is_empty_v<host_block_pace<pace::compiler_fence>>);
  static_assert(std::is_empty_v<host_pace_memory<pace::off>> && std::is_empty_v<host_pace_memory<pace::block>>);
  launch(host_device{}, {1, 2}, [] {
    host_pace_memory<pace::off> nothing;
    host_block_pace<pace::off> off(nothing);
    host_pace_memory<pace::compiler_fence> none;
    host_block_pace<pace::compiler_fence> fence(none);
    if (host_grid::current().thread() == 0) {  // alone
      off.visit();
      fence.visit();
    }
    EXPECT_TRUE(off.any(true));
    EXPECT_FALSE(off.any(false));
    EXPECT_TRUE(fence.any(true));
    EXPECT_FALSE(fence.any(false));
  });
}

TEST(HostBlockPace, LetsLoopsOfUnlikeLengthEndTogether) {
  for (const uint32_t threads : {1u, 2u, 6u}) {
    std::vector<uint32_t> done(threads);
    std::atomic<uint32_t> wrong{0}, left{threads};
    host_pace_memory<> memory;
    launch(host_device{}, {1, threads}, [&] {
      const uint32_t own = host_grid::current().thread(), trips = 7 * own;
      host_block_pace<> pace(memory);
      uint32_t made = 0;
      while (pace.any(made < trips)) {
        if (made < trips) ++made;
      }
      done[own] = made;
      --left;
      if (pace.any(false)) ++wrong;
    });
    EXPECT_EQ(wrong, 0u);
    for (uint32_t t = 0; t < threads; ++t) EXPECT_EQ(done[t], 7 * t);
  }
}

}  // namespace
}  // namespace gpusync
