// What windows promise, on blocks that are host threads: the text that also runs on GPUs.
#include <gpusync/pace/host.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/refusal.hpp"

namespace gpusync {
namespace {

/// How far each block has come. Sequentially consistent, for a window orders nothing.
class progress {
 public:
  explicit progress(uint32_t blocks) : ended_(blocks) {}
  void end(uint32_t block) { ended_[block].fetch_add(1); }
  void leave(uint32_t block) { ended_[block].store(~0u); }
  uint32_t least() const {
    uint32_t least = ~0u;
    for (const std::atomic<uint32_t>& each : ended_) least = std::min(least, each.load());
    return least;
  }

 private:
  std::vector<std::atomic<uint32_t>> ended_;
};

struct outcome {
  uint32_t wrong = 0;   ///< epochs that were begun too early
  uint32_t epochs = 0;  ///< that all blocks have ended together
};

/// Runs blocks that end so many epochs each, and leave if others go on.
template <class Policy>
outcome run(host_window_storage<Policy>& storage, const std::vector<uint32_t>& epochs, uint32_t threads) {
  const auto blocks = static_cast<uint32_t>(epochs.size());
  const uint32_t most = *std::max_element(epochs.begin(), epochs.end());
  progress all(blocks);
  std::atomic<uint32_t> wrong{0}, ended{0};
  launch(
      host_device{}, {blocks, threads},
      [&](host_grid_window<Policy> window) {
        const host_grid grid = host_grid::current();
        const uint32_t own = epochs[grid.block()];
        for (uint32_t epoch = 0; epoch < own; ++epoch) {
          if (grid.thread() == 0) {
            const uint32_t least = all.least();
            if (least != ~0u && uint64_t{least} + storage.lead() <= epoch) ++wrong;
            all.end(grid.block());
            ++ended;
          }
          window.end_epoch();
        }
        if (own < most) {
          if (grid.thread() == 0) all.leave(grid.block());
          window.leave();
        }
      },
      storage.window());
  return {wrong.load(), ended.load()};
}

RC_GTEST_PROP(HostWindow, HoldsBlocksTogetherWhateverTheShapeAndWhoeverLeaves, ())
{
  const uint32_t lead = *rc::gen::inRange(1u, 7u), threads = *rc::gen::inRange(1u, 3u);
  host_window_storage<pace::strict> storage(lead);
  for (int launches = 0; launches < 3; ++launches) {  // of unlike grids on one storage
    const auto epochs =
        *rc::gen::container<std::vector<uint32_t>>(*rc::gen::inRange(1u, 6u), rc::gen::inRange(0u, 30u));
    uint32_t all = 0;
    for (const uint32_t each : epochs) all += each;
    const outcome found = run(storage, epochs, threads);
    RC_ASSERT(found.wrong == 0u);
    RC_ASSERT(found.epochs == all);
    RC_ASSERT(storage.given_up() == 0u);
  }
}

TEST(HostWindow, LetsBlocksDriftAsFarAsItsLeadAndNoFurther) {
  constexpr uint32_t lead = 5;
  host_window_storage<pace::strict> storage(lead);
  std::atomic<uint32_t> fast{0};
  uint32_t reached = 0;
  launch(
      host_device{}, {2, 1},
      [&](host_grid_window<pace::strict> window) {
        if (host_grid::current().block() == 0) {
          for (uint32_t epoch = 0; epoch < 20; ++epoch) {
            fast = epoch;
            window.end_epoch();
          }
          return;
        }
        while (fast < lead - 1) std::this_thread::yield();  // the other may come so far
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        reached = fast;
        for (uint32_t epoch = 0; epoch < 20; ++epoch) window.end_epoch();
      },
      storage.window());
  EXPECT_EQ(reached, lead - 1);
}

TEST(HostWindow, WaitsNoLongerThanItsLimitForABlockThatNeverComes) {
  using namespace literals;
  host_window_storage<> storage(2, 5_ms);
  std::atomic<uint32_t> ended{0};
  const auto begin = std::chrono::steady_clock::now();
  launch(
      host_device{}, {3, 2},
      [&](host_grid_window<> window) {
        if (host_grid::current().block() == 1) return;  // without a word
        for (uint32_t epoch = 0; epoch < 1000; ++epoch) window.end_epoch();
        ++ended;
      },
      storage.window());
  EXPECT_EQ(ended, 4u);
  EXPECT_EQ(storage.given_up(), 2u);
  // Each lost its limit once, and not once for each epoch.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  // The next launch begins anew.
  const outcome found = [&] {
    outcome all;
    launch(
        host_device{}, {2, 1},
        [](host_grid_window<> window) {
          for (int i = 0; i < 50; ++i) window.end_epoch();
        },
        storage.window());
    return all;
  }();
  EXPECT_EQ(found.wrong, 0u);
  EXPECT_EQ(storage.given_up(), 0u);
}

TEST(HostWindow, OfOneBlockOfNoEpochsAndOfTheLongestLeadEnds) {
  host_window_storage<pace::strict> one(1), longest(4096);
  EXPECT_EQ(run(one, {100}, 3).wrong, 0u);
  EXPECT_EQ(run(one, {0, 0, 0}, 1).epochs, 0u);
  EXPECT_EQ(run(longest, {5000, 5000}, 1).wrong, 0u);
  EXPECT_EQ(longest.lead(), 4096u);
  EXPECT_EQ(longest.bytes(), sizeof(uint32_t) * (4096 * 32 + 2));
}

TEST(HostWindow, RefusesALeadThatCannotBe) {
  for (const uint64_t lead : {uint64_t{0}, uint64_t{4097}, uint64_t{1} << 32 | 1}) {
    try {
      host_window_storage<> storage(lead);
      FAIL() << lead;
    } catch (const invalid_argument& refused) {
      EXPECT_EQ(std::string(refused.what()),
                "A window has a lead of 1 to 4096 epochs, not " + std::to_string(lead) + ".");
    }
  }
}

TEST(HostWindow, ThatAllThreadsShareEndsTheLaunch) {
  host_window_storage<> storage;
  host_grid_window<> window = storage.window();
  for (const bool leaves : {false, true}) {
    const std::string said = test::refusal([&] {
      launch(host_device{}, {2, 1}, [&] { leaves ? window.leave() : window.end_epoch(); });
    });
    EXPECT_NE(said.find("that all threads share"), std::string::npos) << said;
  }
}

TEST(HostWindow, ServesOneLaunchAtATimeByOneHandle) {
  host_window_storage<> storage;
  EXPECT_THROW(
      launch(
          host_device{}, {1, 1}, [](host_grid_window<>, host_grid_window<>) {}, storage.window(), storage.window()),
      invalid_argument);
  EXPECT_THROW(launch(
                   host_device{}, {1, 1},
                   [&](host_grid_window<>) {
                     launch(
                         host_device{}, {1, 1}, [](host_grid_window<>) {}, storage.window());
                   },
                   storage.window()),
               storage_in_use);
  launch(
      host_device{}, {1, 1}, [](host_grid_window<> window) { window.end_epoch(); }, storage.window());
}

TEST(HostWindow, ThatIsOffNeedsNoStorageAndDoesNothing) {
  using none = host_grid_window<pace::off>;
  static_assert(std::is_empty_v<none>);
  std::atomic<uint32_t> done{0};
  launch(
      host_device{}, {2, 1},
      [&](none window) {
        if (host_grid::current().block() == 0) return;
        for (int i = 0; i < 100; ++i) window.end_epoch();
        window.leave();
        ++done;
      },
      none());
  EXPECT_EQ(done, 1u);
}

TEST(HostWindow, OfALaunchThatThrowsServesTheNextOne) {
  host_window_storage<pace::strict> storage(1);
  EXPECT_THROW(launch(
                   host_device{}, {2, 1},
                   [](host_grid_window<pace::strict> window) {
                     window.end_epoch();
                     if (host_grid::current().block() == 0) throw std::runtime_error("gone");
                     for (int i = 0; i < 10; ++i) window.end_epoch();
                   },
                   storage.window()),
               std::runtime_error);
  EXPECT_EQ(run(storage, {7, 7, 7}, 1).wrong, 0u);
}

}  // namespace
}  // namespace gpusync
