// Waits with deadlines across GPUs: who is named, how soon the others learn of it, and what comes after.
#include "support/gpus.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::launch_on_each;

template <class Algorithm>
class AcrossGpusDeadlines : public ::testing::Test {
 public:
  using storage = host_multi_gpu_storage<Algorithm>;
  using barrier = typename storage::barrier_type;

  static constexpr auto soon = 60ms;
  /// Longer than any test takes: a wait that would hang fails instead.
  static constexpr auto patience = 20s;

  /// What waiting threads were answered, and how long the longest wait took.
  struct outcome {
    std::atomic<uint32_t> completed{0}, timed_out{0};
    std::atomic<int64_t> longest{0};

    /// Whether it timed out.
    bool wait(barrier& b, timeout limit) {
      const auto begin = std::chrono::steady_clock::now();
      const wait_status status = b.sync_for(limit);
      const int64_t spent = (std::chrono::steady_clock::now() - begin) / 1ms;
      for (int64_t seen = longest; spent > seen && !longest.compare_exchange_weak(seen, spent);) {
      }
      ++(status == wait_status::completed ? completed : timed_out);
      return status == wait_status::timed_out;
    }
  };

  static void expect_words(const std::string& words, const std::string& part) {
    EXPECT_NE(words.find(part), std::string::npos) << "\"" << part << "\" in: " << words;
  }
  static void expect_working(storage& memory) {
    EXPECT_EQ(test::mismatches(memory, std::vector<uint32_t>(memory.gpus(), memory.capacity()), 2, 10), 0u);
  }
};
TYPED_TEST_SUITE(AcrossGpusDeadlines, test::multi_gpu_types, test::algorithm_names);

TYPED_TEST(AcrossGpusDeadlines, NameAGpuThatIsNotLaunched) {
  typename TestFixture::storage memory(3, 4);
  memory.expect_blocks(0, 2);
  memory.expect_blocks(1, 3);
  typename TestFixture::outcome seen;
  // Of the two that wait, one alone has a short deadline: the other one must not wait for its own.
  launch_on_each(memory, {2, 0, 4}, 2, [&](auto& b, uint32_t gpu, uint32_t) {
    EXPECT_TRUE(seen.wait(b, gpu == 0 ? timeout(TestFixture::soon) : timeout(TestFixture::patience)));
  });
  EXPECT_EQ(seen.timed_out, 12u);
  EXPECT_LT(seen.longest, 5000);
  EXPECT_EQ(memory.missing(), (std::vector<missing_gpu_block>{{1, 0, 0, false}, {1, 1, 0, false}, {1, 2, 0, false}}));
  for (const missing_gpu_block& one : memory.missing()) EXPECT_FALSE(one.started);
  TestFixture::expect_words(memory.report(),
                            "timed out in phase 0 of an earlier launch, missing GPU 1, of which no block was seen in "
                            "that launch: it may not have been launched yet, so its count");
  EXPECT_EQ(memory.report(0), memory.report());
  EXPECT_EQ(memory.report(1), "") << "nothing ran there";
  TestFixture::expect_words(memory.report(2), "missing GPU 1");
}

TYPED_TEST(AcrossGpusDeadlines, NameABlockThatIsMissingAndThePhase) {
  for (const uint32_t late : {0u, 1u, 2u}) {
    typename TestFixture::storage memory(2, 3);
    typename TestFixture::outcome seen;
    launch_on_each(memory, {3, 3}, 2, [&](auto& b, uint32_t gpu, uint32_t block) {
      for (int phase = 0; phase < 4; ++phase) b.sync();
      if (gpu == 1 && block == late) return;
      seen.wait(b, gpu == 0 ? timeout(TestFixture::soon) : timeout(TestFixture::patience));
    });
    EXPECT_EQ(seen.timed_out, 10u) << late;
    EXPECT_LT(seen.longest, 5000);
    ASSERT_EQ(memory.missing(), (std::vector<missing_gpu_block>{{1, late, 4, true}}));
    EXPECT_TRUE(memory.missing()[0].started);
    TestFixture::expect_words(memory.report(), "timed out in phase 4 of an earlier launch, missing block " +
                                                   std::to_string(late) + " of GPU 1, so its count");
    memory.reset();
    EXPECT_EQ(memory.report(), "");
    EXPECT_TRUE(memory.missing().empty());
    TestFixture::expect_working(memory);
  }
}

/// The GPU of the missing block names it as well as any other.
TYPED_TEST(AcrossGpusDeadlines, NameABlockOfTheSameGpu) {
  typename TestFixture::storage memory(2, 2);
  typename TestFixture::outcome seen;
  launch_on_each(memory, {2, 2}, 1, [&](auto& b, uint32_t gpu, uint32_t block) {
    if (gpu == 1 && block == 0) return;
    seen.wait(b, gpu == 1 ? timeout(TestFixture::soon) : timeout(TestFixture::patience));
  });
  EXPECT_EQ(seen.timed_out, 3u);
  EXPECT_EQ(memory.missing(), (std::vector<missing_gpu_block>{{1, 0, 0, false}}));
  TestFixture::expect_words(memory.report(), "missing block 0 (not seen in that launch) of GPU 1,");
}

TYPED_TEST(AcrossGpusDeadlines, NameAGpuThatLeavesEarly) {
  typename TestFixture::storage memory(3, 2);
  typename TestFixture::outcome seen;
  launch_on_each(memory, {2, 2, 2}, 1, [&](auto& b, uint32_t gpu, uint32_t) {
    for (int phase = 0; phase < 3; ++phase) b.sync();
    if (gpu == 0) return;
    seen.wait(b, TestFixture::soon);
  });
  EXPECT_EQ(seen.timed_out, 4u);
  EXPECT_EQ(memory.missing(), (std::vector<missing_gpu_block>{{0, 0, 3, true}, {0, 1, 3, true}}));
  TestFixture::expect_words(memory.report(), "in phase 3 of an earlier launch, missing block 0, 1 of GPU 0, so");
}

/// A block that has entered is late; one that has not may never have been started.
TYPED_TEST(AcrossGpusDeadlines, TellLateBlocksFromThoseThatWereNotSeen) {
  typename TestFixture::storage memory(2, 2);
  typename TestFixture::outcome seen;
  std::atomic<bool> entered{false};
  launch_on_each(memory, {2, 2}, 1, [&](auto& b, uint32_t gpu, uint32_t block) {
    if (gpu == 1 && block == 1) {
      b.enter();
      entered = true;
      return;
    }
    if (gpu == 1) return;
    while (!entered) std::this_thread::yield();
    seen.wait(b, TestFixture::soon);
  });
  ASSERT_EQ(memory.missing(), (std::vector<missing_gpu_block>{{1, 0, 0, false}, {1, 1, 0, true}}));
  EXPECT_FALSE(memory.missing()[0].started);
  EXPECT_TRUE(memory.missing()[1].started);
  TestFixture::expect_words(memory.report(), "missing block 0 (not seen in that launch), 1 of GPU 1,");
}

TYPED_TEST(AcrossGpusDeadlines, NameNobodyWhoHasArrivedEarly) {
  typename TestFixture::storage memory(2, 2);
  std::atomic<uint32_t> arrived{0};
  std::atomic<bool> gave_up{false};
  launch_on_each(memory, {2, 2}, 1, [&](auto& b, uint32_t gpu, uint32_t block) {
    if (gpu == 0 && block == 1) {
      while (arrived < 2) std::this_thread::yield();
      EXPECT_EQ(b.sync_for(TestFixture::soon), wait_status::timed_out);
      gave_up = true;
      return;
    }
    if (gpu == 1) {
      [[maybe_unused]] const auto token = b.arrive();
      ++arrived;
      while (!gave_up) std::this_thread::yield();
      return;
    }
    while (!gave_up) std::this_thread::yield();
  });
  EXPECT_EQ(memory.missing(), (std::vector<missing_gpu_block>{{0, 0, 0, false}}));
}

TYPED_TEST(AcrossGpusDeadlines, AreMetByWhoComesInTime) {
  typename TestFixture::storage memory(3, 2);
  typename TestFixture::outcome seen;
  launch_on_each(memory, {2, 1, 2}, 2, [&](auto& b, uint32_t, uint32_t) {
    EXPECT_EQ(b.try_enter(), wait_status::completed);
    for (int phase = 0; phase < 50; ++phase) seen.wait(b, TestFixture::patience);
  });
  EXPECT_EQ(seen.completed, 500u);
  EXPECT_EQ(memory.report(), "");
  EXPECT_TRUE(memory.missing().empty());
}

/// Earlier launches leave their marks in the log: they must not be taken for this one's.
TYPED_TEST(AcrossGpusDeadlines, AreNotConfusedByEarlierLaunches) {
  for (const uint32_t first : {0u, 0xfffcu, 0xfffffffcu}) {
    typename TestFixture::storage memory(2, 2, first);
    TestFixture::expect_working(memory);
    launch_on_each(memory, {2, 2}, 1, [&](auto& b, uint32_t gpu, uint32_t block) {
      for (int phase = 0; phase < 2; ++phase) EXPECT_EQ(b.sync_for(TestFixture::patience), wait_status::completed);
      if (gpu == 0 && block == 1) return;
      EXPECT_EQ(b.sync_for(TestFixture::soon), wait_status::timed_out);
    });
    EXPECT_EQ(memory.missing(), (std::vector<missing_gpu_block>{{0, 1, 2, true}})) << first;
  }
}

TYPED_TEST(AcrossGpusDeadlines, LaunchesAreRefusedOnEveryGpuUntilTheStorageIsReset) {
  typename TestFixture::storage memory(3, 1);
  launch_on_each(memory, {1, 0, 1}, 1, [](auto& b, uint32_t gpu, uint32_t) {
    EXPECT_EQ(b.sync_for(gpu == 0 ? timeout(5ms) : timeout(TestFixture::patience)), wait_status::timed_out);
  });
  for (uint32_t gpu = 0; gpu < 3; ++gpu) {
    try {
      launch(
          host_device{}, {1, 1}, [](typename TestFixture::barrier) { FAIL() << "nothing may start"; },
          memory.barrier(gpu));
      FAIL() << "GPU " << gpu;
    } catch (const broken_barrier& refused) {
      TestFixture::expect_words(refused.what(), "missing GPU 1, of which no block was seen");
    }
  }
  memory.reset();
  TestFixture::expect_working(memory);
}

TYPED_TEST(AcrossGpusDeadlines, AWaitWithoutOneEndsItsLaunchAfterALossElsewhere) {
  typename TestFixture::storage memory(2, 2);
  const auto thrown = launch_on_each(memory, {2, 2}, 2, [](auto& b, uint32_t gpu, uint32_t block) {
    b.sync();
    if (gpu == 1) return b.sync();
    if (block == 1) return;
    EXPECT_EQ(b.sync_for(TestFixture::soon), wait_status::timed_out);
  });
  EXPECT_EQ(thrown[0], "");
  TestFixture::expect_words(thrown[1], "waited without a deadline at a barrier of which a phase had been given up");
  EXPECT_EQ(memory.missing(), (std::vector<missing_gpu_block>{{0, 1, 1, true}}));
  TestFixture::expect_words(memory.report(), "missing block 1 of GPU 0,");
  memory.reset();
  TestFixture::expect_working(memory);
}

TYPED_TEST(AcrossGpusDeadlines, AThrowOnOneGpuEndsTheWaitsOnTheOthers) {
  for (const bool bounded : {false, true}) {
    typename TestFixture::storage memory(3, 2);
    const auto thrown = launch_on_each(memory, {2, 2, 2}, 1, [&](auto& b, uint32_t gpu, uint32_t block) {
      // A block that is slow learns of the throw before the end of its own first phase.
      if (!bounded) b.sync();
      if (bounded && b.sync_for(TestFixture::patience) == wait_status::timed_out) return;
      if (gpu == 1 && block == 0) throw std::runtime_error("enough");
      if (!bounded) return b.sync();
      EXPECT_EQ(b.sync_for(TestFixture::patience), wait_status::timed_out);
    });
    EXPECT_EQ(thrown[1], "enough");
    for (const uint32_t gpu : {0u, 2u}) {
      if (bounded) {
        EXPECT_EQ(thrown[gpu], "");
      } else {
        TestFixture::expect_words(thrown[gpu], "waited without a deadline");
      }
    }
    TestFixture::expect_words(memory.report(), "ended in the middle of a phase, because one of its blocks threw");
    memory.reset();
    TestFixture::expect_working(memory);
  }
}

}  // namespace
}  // namespace gpusync
