#include <gpusync/gpusync.hpp>
#include <gpusync/launch/residency.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>

#include "support/refusal.hpp"

namespace gpusync {
namespace {

// The limits of an NVIDIA H200's SM, as its driver reports them.
constexpr sm_resources h200{2048, 32, 65536, 233472, 1024};

TEST(Residency, NamesThreadsAsTheLimitOf256ThreadBlocks) {
  const residency found = explain_residency(132, 8, h200, {256, 32, 0});
  EXPECT_EQ(found.blocks(), 1056u);
  EXPECT_EQ(found.limits_in_words(), "threads per SM and registers");
  EXPECT_EQ(explain_residency(132, 8, h200, {256, 24, 0}).limits_in_words(), "threads per SM");
}

TEST(Residency, NamesRegisters) {
  // 128 registers x 32 threads = 4096 a warp: 16 warps fit, two blocks of eight.
  EXPECT_EQ(explain_residency(132, 2, h200, {256, 128, 0}).limits_in_words(), "registers");
}

TEST(Residency, NamesSharedMemory) {
  // 100 KiB and the reserved 1 KiB, twice, in 228 KiB.
  EXPECT_EQ(explain_residency(132, 2, h200, {128, 16, 100 * 1024}).limits_in_words(), "shared memory");
}

TEST(Residency, NamesBlocksPerSm) {
  EXPECT_EQ(explain_residency(132, 32, h200, {32, 16, 0}).limits_in_words(), "blocks per SM");
}

TEST(Residency, RefusesOneBlockTooManyWithTheLimitAndItsCause) {
  const block_needs needs{256, 24, 0};
  const residency found = explain_residency(132, 8, h200, needs);
  EXPECT_NO_THROW(require_co_resident(found, "NVIDIA H200", {1056, 256}, needs));
  try {
    require_co_resident(found, "NVIDIA H200", {1057, 256}, needs);
    FAIL() << "1057 blocks were not refused";
  } catch (const not_co_resident& refusal) {
    EXPECT_EQ(refusal.requested(), 1057u);
    EXPECT_EQ(refusal.limit(), 1056u);
    EXPECT_STREQ(refusal.what(),
                 "1057 blocks of 256 threads cannot all run at once on NVIDIA H200: at most 1056 (132 SMs x 8 blocks; "
                 "limited by threads per SM). Use fewer blocks.");
  }
}

TEST(Residency, SaysWhyNotOneBlockFits) {
  const block_needs needs{1024, 255, 0};
  const residency found = explain_residency(132, 0, h200, needs);
  try {
    require_co_resident(found, "NVIDIA H200", {1, 1024}, needs);
    FAIL() << "the block was not refused";
  } catch (const not_co_resident& refusal) {
    EXPECT_EQ(refusal.limit(), 0u);
    EXPECT_NE(std::string(refusal.what()).find("limited by registers"), std::string::npos) << refusal.what();
  }
}

TEST(HostLaunch, RunsEveryThreadOfEveryBlockOnceWithItsPlace) {
  std::mutex mutex;
  std::set<std::pair<uint32_t, uint32_t>> seen;
  launch(host_device{}, {{3, 2}, {2, 1, 2}}, [&] {
    const auto grid = host_grid::current();
    EXPECT_EQ(grid.blocks(), 6u);
    EXPECT_EQ(grid.threads(), 4u);
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_TRUE(seen.insert({grid.block(), grid.thread()}).second);
  });
  EXPECT_EQ(seen.size(), 24u);
  EXPECT_LT(seen.rbegin()->first, 6u);
}

TEST(HostLaunch, GivesEveryThreadItsOwnCopyOfTheArguments) {
  int value = 7;
  launch(
      host_device{}, {4, 2}, [](int copy) { EXPECT_EQ(copy++, 7); }, value);
  EXPECT_EQ(value, 7);
}

TEST(HostLaunch, AStorageThatItsKernelDestroysLeavesTheOthersFree) {
  for (const bool throws : {false, true}) {
    auto first = std::make_unique<host_grid_barrier_storage>(1);
    host_grid_barrier_storage second(1);
    const auto kernel = [&](host_grid_barrier, host_grid_barrier) {
      first.reset();
      if (throws) throw std::runtime_error("mine");
    };
    const auto start = [&] { launch(host_device{}, {1, 1}, kernel, first->barrier(), second.barrier()); };
    if (throws) {
      EXPECT_THROW(start(), std::runtime_error);
      EXPECT_NE(second.report(), "") << "the launch ended in a phase";
      second.reset();
    } else {
      start();
    }
    EXPECT_NO_THROW(launch(
        host_device{}, {1, 1}, [](host_grid_barrier barrier) { barrier.sync(); }, second.barrier()));
  }
}

TEST(HostLaunch, ThrowsWhatABlockThrewAndReleasesTheOthersFromTheirWaits) {
  host_grid_barrier_storage storage(3);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(launch(
                   host_device{}, {3, 2},
                   [](host_grid_barrier barrier) {
                     if (host_grid::current().block() == 1) throw std::out_of_range("from block 1");
                     barrier.sync();  // for ever, if nobody released it
                   },
                   storage.barrier()),
               std::out_of_range);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  // The others may have arrived already: what they left must not be taken for a fresh phase.
  const auto sync = [](host_grid_barrier barrier) { barrier.sync(); };
  EXPECT_THROW(launch(host_device{}, {3, 2}, sync, storage.barrier()), broken_barrier);
  EXPECT_TRUE(storage.missing().empty()) << "nobody timed out";
  storage.reset();
  EXPECT_NO_THROW(launch(host_device{}, {3, 2}, sync, storage.barrier()));
}

TEST(HostLaunch, RefusesMoreThreadsThanTheSystemGivesAndSaysWhy) {
  const auto most = host_device{}.max_threads();
  try {
    launch(host_device{}, {static_cast<uint32_t>(most.threads / 2 + 1), 2}, [] { FAIL() << "it ran"; });
    FAIL() << "it was not refused";
  } catch (const not_co_resident& refusal) {
    EXPECT_EQ(refusal.limit(), most.threads / 2);
    EXPECT_NE(std::string(refusal.what()).find(most.cause), std::string::npos) << refusal.what();
  }
}

TEST(HostLaunch, RefusesAnEmptyGrid) {
  EXPECT_THROW(launch(host_device{}, {0, 1}, [] {}), invalid_argument);
  EXPECT_THROW(launch(host_device{}, {1, {2, 0, 1}}, [] {}), invalid_argument);
}

TEST(HostGrid, SyncBlockOrGivesAllThreadsTheSameDisjunctionEveryTime) {
  std::atomic<int> wrong{0};
  launch(host_device{}, {2, 4}, [&] {
    const auto grid = host_grid::current();
    for (uint32_t round = 0; round < 500; ++round) {
      const bool expected = round % 3 == 0;
      if (grid.sync_block_or(expected && grid.thread() == round % 4) != expected) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace gpusync
