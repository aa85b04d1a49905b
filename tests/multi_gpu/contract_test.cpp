// What a barrier across GPUs serves and what it refuses, on host threads.
#include "support/gpus.hpp"
#include "support/refusal.hpp"

namespace gpusync {
namespace {

using test::launch_on_each;
using test::mismatches;

/// A block's threads in warps, which the host has not: they only take their parts of the leading block's work.
template <uint32_t Lanes>
class grid_of_warps : public host_grid {
 public:
  static constexpr uint32_t warp_size = Lanes;
  static grid_of_warps current() { return grid_of_warps(host_grid::current()); }

 private:
  explicit grid_of_warps(const host_grid& grid) : host_grid(grid) {}
};

template <class Algorithm>
class AcrossGpusContract : public ::testing::Test {
 public:
  using storage = host_multi_gpu_storage<Algorithm>;
  using barrier = typename storage::barrier_type;

  template <uint32_t Lanes>
  static void serves_warps() {
    for (const uint32_t leaders : {1u, 2u, 3u}) {
      host_multi_gpu_storage<Algorithm, grid_of_warps<Lanes>> memory(3, 2);
      for (uint32_t gpu = 0; gpu < 3; ++gpu) memory.places(gpu).plan = {leaders, 1, 1};
      for (const uint32_t threads : {1u, Lanes, 2 * Lanes, 2 * Lanes + 1, 3 * Lanes}) {
        EXPECT_EQ(mismatches(memory, {2, 1, 2}, threads, 8, threads % 2 == 0), 0u)
            << leaders << " of " << threads << " threads in warps of " << Lanes;
      }
    }
  }
};
TYPED_TEST_SUITE(AcrossGpusContract, test::multi_gpu_types, test::algorithm_names);

TYPED_TEST(AcrossGpusContract, ServesOneToSixteenGpusOfFewThreads) {
  for (const uint32_t gpus : {1u, 5u, 6u, 7u, 16u}) {
    typename TestFixture::storage memory(gpus, 2);
    for (const uint32_t threads : {1u, 3u}) {
      EXPECT_EQ(mismatches(memory, std::vector<uint32_t>(gpus, 1), threads, 3), 0u) << gpus << " x 1 x " << threads;
    }
    EXPECT_EQ(mismatches(memory, std::vector<uint32_t>(gpus, 2), 1, 3, true), 0u) << gpus << " x 2 x 1";
  }
}

TYPED_TEST(AcrossGpusContract, ServesMoreThreadsThanTwiceTheGpus) {
  typename TestFixture::storage memory(3, 3);
  for (const uint32_t threads : {5u, 6u, 7u, 13u}) EXPECT_EQ(mismatches(memory, {1, 3, 2}, threads, 5), 0u) << threads;
}

TYPED_TEST(AcrossGpusContract, ServesManyBlocks) {
  typename TestFixture::storage memory(2, 70);
  for (const uint32_t blocks : {70u, 33u, 64u}) EXPECT_EQ(mismatches(memory, {blocks, 70 - blocks + 1}, 1, 3), 0u);
}

/// The plan and the places must not matter to anything but speed.
TYPED_TEST(AcrossGpusContract, ServesAnyPlanOnBlocksOfWarps) {
  TestFixture::template serves_warps<2>();
  TestFixture::template serves_warps<4>();
}

TYPED_TEST(AcrossGpusContract, ServesBlocksOnOnePartitionOnly) {
  for (const uint32_t pairs : {0u, ~0u}) {
    typename TestFixture::storage memory(3, 4);
    for (uint32_t gpu = 0; gpu < 3; ++gpu) {
      for (uint32_t& word : memory.places(gpu).partitions.bits) word = pairs;
    }
    for (int launches = 0; launches < 10; ++launches) EXPECT_EQ(mismatches(memory, {4, 1, 2}, 6, 1), 0u);
    EXPECT_EQ(mismatches(memory, {1, 1, 1}, 6, 20), 0u);
  }
}

/// Many short launches: a GPU begins the next while others are still at the end of the last.
TYPED_TEST(AcrossGpusContract, LaunchesOfOneGpuOvertakeThoseOfOthers) {
  constexpr uint32_t gpus = 3, rounds = 60;
  for (const uint32_t first : {0u, 0xffe0u, 0xffffffe0u}) {
    typename TestFixture::storage memory(gpus, 2, first);
    test::board shared({2, 2, 2});
    std::atomic<uint32_t> wrong{0};
    const auto thrown = test::on_each(gpus, [&](uint32_t gpu) {
      for (uint32_t round = 0; round < rounds; ++round) {
        launch(
            host_device{}, {2, 2},
            [&](typename TestFixture::barrier b) {
              const host_grid grid = host_grid::current();
              if (grid.thread() == 1) shared.write(gpu, grid.block(), round);
              b.sync();
              if (grid.thread() == 0) wrong += shared.wrong(round);
            },
            memory.barrier(gpu));
      }
    });
    EXPECT_EQ(thrown, std::vector<std::string>(gpus));
    EXPECT_EQ(wrong, 0u) << first;
  }
}

/// Phases count in 16 bits, and in 32: across both wraps, many times 2^16 phases apart for a block that was away.
TYPED_TEST(AcrossGpusContract, DoesNotTakeWhatWasLeft65536PhasesAgoForNew) {
  typename TestFixture::storage memory(1, 3);
  EXPECT_EQ(mismatches(memory, {3}, 1, 5), 0u);
  EXPECT_EQ(mismatches(memory, {1}, 1, 0xffff), 0u);
  EXPECT_EQ(mismatches(memory, {3}, 1, 5), 0u);
}

TYPED_TEST(AcrossGpusContract, PassesEveryWrapWithSplitArrivals) {
  for (const uint32_t first : {0xffffu - 9, 0xffffffffu - 9, 0x7fffffffu - 9, 0x7fffu - 9}) {
    typename TestFixture::storage memory(3, 3, first);
    for (const uint32_t blocks : {3u, 1u, 2u}) {
      EXPECT_EQ(mismatches(memory, {blocks, 3, 1}, 2, 7, true), 0u) << first << ", " << blocks << " blocks";
    }
  }
}

/// Storages over the GPUs 0 and 1, over 1 and 2, and over all: the second GPU's kernel has three.
TYPED_TEST(AcrossGpusContract, KeepsBarriersOfSubsetsApart) {
  using handle = typename TestFixture::barrier;
  typename TestFixture::storage left(2, 2), right(2, 2), all(3, 2);
  test::board of_left({2, 2}), of_right({2, 2}), of_all({2, 2, 2});
  std::atomic<uint32_t> wrong{0};
  const auto phase_of = [&wrong](handle& b, test::board& shared, uint32_t rank, uint32_t phase) {
    const host_grid grid = host_grid::current();
    if (grid.thread() == 0) shared.write(rank, grid.block(), phase);
    b.sync();
    if (grid.thread() == 1) wrong += shared.wrong(phase);
  };
  const auto thrown = test::on_each(3, [&](uint32_t gpu) {
    if (gpu == 1) {
      return launch(
          host_device{}, {2, 2},
          [&](handle a, handle b, handle c) {
            for (uint32_t phase = 0; phase < 30; ++phase) {
              phase_of(a, of_left, 1, phase);
              phase_of(b, of_right, 0, phase);
              if (phase % 3 == 0) phase_of(c, of_all, 1, phase / 3);
            }
          },
          left.barrier(1), right.barrier(0), all.barrier(1));
    }
    launch(
        host_device{}, {2, 2},
        [&](handle a, handle c) {
          for (uint32_t phase = 0; phase < 30; ++phase) {
            phase_of(a, gpu == 0 ? of_left : of_right, gpu == 0 ? 0 : 1, phase);
            if (phase % 3 == 0) phase_of(c, of_all, gpu, phase / 3);
          }
        },
        gpu == 0 ? left.barrier(0) : right.barrier(1), all.barrier(gpu));
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3));
  EXPECT_EQ(wrong, 0u);
}

TYPED_TEST(AcrossGpusContract, RefusesInWordsWhatItCannotServe) {
  using owner = typename TestFixture::storage;
  EXPECT_EQ(test::refusal([] { owner(0, 2); }), "A barrier across GPUs joins 1 to 16 GPUs; it was given 0.");
  EXPECT_EQ(test::refusal([] { owner(17, 2); }), "A barrier across GPUs joins 1 to 16 GPUs; it was given 17.");
  for (const uint64_t blocks : {uint64_t{0}, uint64_t{65536}, ~uint64_t{0}}) {
    EXPECT_THROW(owner(2, blocks), invalid_argument) << blocks;
  }
  owner memory(2, 4);
  EXPECT_EQ(test::refusal([&] { (void)memory.barrier(2); }),
            "There is no GPU 2 in this barrier: it joins 2, counted from 0.");
  EXPECT_THROW(memory.barrier(~0u), invalid_argument);
  EXPECT_THROW((void)memory.report(2), invalid_argument);
  EXPECT_EQ(test::refusal([&] { memory.expect_blocks(0, 5); }),
            "A grid of 5 blocks was announced, but the storage serves 1 to 4 on each GPU.");
  EXPECT_EQ(test::refusal([&] { memory.expect_blocks(1, 0); }),
            "A grid of 0 blocks was announced, but the storage serves 1 to 4 on each GPU.");
  EXPECT_THROW(memory.expect_blocks(2, 1), invalid_argument);
  EXPECT_THROW(memory.expect_blocks(0, (uint64_t{1} << 32) + 1), invalid_argument);
  using handle = typename TestFixture::barrier;
  const auto words = test::refusal([&] {
    launch(
        host_device{}, {5, 1}, [](handle b) { b.sync(); }, memory.barrier(0));
  });
  EXPECT_EQ(words, "The grid has 5 blocks, but the barrier's storage was made for 4. Make a larger storage.");
  EXPECT_EQ(mismatches(memory, {4, 4}, 1, 3), 0u) << "a refusal leaves nothing behind";
}

TEST(AcrossGpusReports, NameTheLastBlockOfTheLastGpu) {
  host_multi_gpu_storage<> memory(16, 65535);
  for (uint32_t gpu = 0; gpu < 15; ++gpu) memory.expect_blocks(gpu, 1);
  const auto thrown = launch_on_each(memory, {1, 0}, 1, [](auto& b, uint32_t, uint32_t) {
    EXPECT_EQ(b.sync_for(std::chrono::milliseconds(5)), wait_status::timed_out);
  });
  EXPECT_EQ(thrown[0], "");
  const std::vector<missing_gpu_block> missing = memory.missing();
  ASSERT_EQ(missing.size(), 14 + 65535u);
  EXPECT_EQ(missing.front(), (missing_gpu_block{1, 0, 0, false}));
  EXPECT_EQ(missing[13], (missing_gpu_block{14, 0, 0, false}));
  EXPECT_EQ(missing.back(), (missing_gpu_block{15, 65534, 0, false}));
  EXPECT_NE(memory.report().find("missing GPU 15, of which no block was seen"), std::string::npos) << memory.report();
}

/// What breaks the contract ends the launch, and with it those of the other GPUs.
TYPED_TEST(AcrossGpusContract, EndsLaunchesThatBreakIt) {
  using handle = typename TestFixture::barrier;
  const auto first_thrown = [](const std::function<void(handle&, handle&)>& wrong) {
    typename TestFixture::storage memory(2, 2), other(2, 2);
    const auto thrown = test::on_each(2, [&](uint32_t gpu) {
      launch(
          host_device{}, {2, 1},
          [&](handle b, handle c) {
            b.sync();
            if (gpu == 1 && host_grid::current().block() == 1) wrong(b, c);
            b.sync();
            b.sync();
          },
          memory.barrier(gpu), other.barrier(gpu));
    });
    EXPECT_NE(thrown[0].find("waited without a deadline"), std::string::npos) << thrown[0];
    return thrown[1];
  };
  EXPECT_EQ(first_thrown([](handle& b, handle&) {
              [[maybe_unused]] const auto token = b.arrive();
              b.sync();
            }),
            misuse_in_words(misuse::unfinished_arrival, 1, 0));
  EXPECT_EQ(first_thrown([](handle& b, handle& c) {
              auto token = c.arrive();
              b.wait(std::move(token));
            }),
            misuse_in_words(misuse::foreign_token, 1, 0));
  EXPECT_EQ(first_thrown([](handle& b, handle&) {
              auto token = b.arrive();
              [[maybe_unused]] const auto moved = std::move(token);
              b.wait(std::move(token));
            }),
            misuse_in_words(misuse::spent_token, 1, 0));
}

/// Two launches that take themselves for the same GPU would count in the same words.
TYPED_TEST(AcrossGpusContract, RefusesTwoLaunchesInThePlaceOfOneGpu) {
  using handle = typename TestFixture::barrier;
  typename TestFixture::storage memory(2, 1);
  std::atomic<bool> running{false}, refused{false};
  const auto thrown = test::on_each(2, [&](uint32_t thread) {
    if (thread == 0) {
      return launch(
          host_device{}, {1, 1},
          [&](handle) {
            running = true;
            while (!refused) std::this_thread::yield();
          },
          memory.barrier(0));
    }
    while (!running) std::this_thread::yield();
    EXPECT_THROW(launch(
                     host_device{}, {1, 1}, [](handle) {}, memory.barrier(0)),
                 storage_in_use);
    refused = true;
  });
  EXPECT_EQ(thrown, std::vector<std::string>(2));
}

}  // namespace
}  // namespace gpusync
