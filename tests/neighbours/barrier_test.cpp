// The barrier of neighbours on host threads.
#include <gtest/gtest.h>

#include <gpusync/neighbours/host.hpp>

#include <atomic>
#include <chrono>
#include <random>

#include "support/exchanges_of_neighbours.hpp"
#include "support/refusal.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;
using test::meeting;
using test::mixed;
using test::named;
using test::refusal;
using barrier = host_neighbour_barrier;

std::vector<uint64_t> barrier_reference(const neighbourhood& who, uint32_t phases) {
  return test::chains_after(who, phases, [](uint64_t chain, const uint64_t* other) {
    return other == nullptr ? chain : mixed(chain, *other);
  });
}

enum class barrier_way { sync, split, bounded, bounded_split };

/// The same by blocks that write plain words into two buffers in turn, each word by another thread.
std::vector<uint64_t> chains_behind(host_neighbour_storage& storage, const neighbourhood& who, uint32_t threads,
                                    const std::vector<uint32_t>& launches, barrier_way how) {
  std::vector<uint64_t> chains(who.blocks()), buffers[2];
  for (uint32_t block = 0; block < who.blocks(); ++block) chains[block] = block + 1;
  for (auto& buffer : buffers) buffer.resize(who.blocks());
  std::atomic<uint64_t> late{0};
  for (const uint32_t phases : launches) {
    std::vector<uint64_t> last = chains;
    launch(
        host_device{}, {who.blocks(), threads},
        [&](barrier b) {
          const host_grid grid = host_grid::current();
          const uint32_t own = grid.block();
          std::minstd_rand random(own * 37 + grid.thread() + 1);
          uint64_t chain = chains[own];
          for (uint32_t phase = 0; phase < phases; ++phase) {
            if (random() % 8 == 0) std::this_thread::yield();
            auto& buffer = buffers[b.parity()];
            if (grid.thread() == phase % threads) buffer[own] = chain;
            wait_status status = wait_status::completed;
            switch (how) {
              case barrier_way::sync: b.sync(); break;
              case barrier_way::split: {
                auto token = b.arrive();
                if (random() % 4 == 0) std::this_thread::yield();
                b.wait(std::move(token));
                break;
              }
              case barrier_way::bounded: status = b.sync_for(test::patience); break;
              case barrier_way::bounded_split: {
                auto token = b.arrive();
                status = b.wait_for(std::move(token), test::patience);
                break;
              }
            }
            if (status != wait_status::completed) {
              ++late;
              return;
            }
            for (uint32_t slot = 0; slot < who.slots(); ++slot) {
              const uint32_t other = who.neighbour(own, slot);
              if (other != neighbourhood::none) chain = mixed(chain, buffer[other]);
            }
          }
          if (grid.thread() == 0) last[own] = chain;
        },
        storage.barrier());
    chains = last;
  }
  EXPECT_EQ(late, 0u);
  EXPECT_EQ(storage.report(), "");
  return chains;
}

void expect_right(const neighbourhood& who, uint32_t threads, const std::vector<uint32_t>& launches, barrier_way how,
                  uint32_t first_phase = 0) {
  host_neighbour_storage storage(who, first_phase);
  uint32_t phases = 0;
  for (const uint32_t one : launches) phases += one;
  EXPECT_EQ(chains_behind(storage, who, threads, launches, how), barrier_reference(who, phases))
      << who.blocks() << " x " << threads << ", " << who.slots() << " slots, way " << static_cast<int>(how);
}

constexpr barrier_way all_barrier_ways[] = {barrier_way::sync, barrier_way::split, barrier_way::bounded,
                                            barrier_way::bounded_split};

TEST(NeighbourBarrier, OrdersTheDataOfNeighboursInTwoBuffers) {
  for (const barrier_way how : all_barrier_ways) {
    for (const uint32_t threads : {1u, 2u, 4u}) {
      for (const uint32_t blocks : {1u, 2u, 3u}) {
        expect_right(neighbourhood::ring(blocks), threads, {40}, how);
        expect_right(neighbourhood::line(blocks), threads, {40}, how);
      }
      expect_right(neighbourhood::of({{1, 3}, {0, 2}, {1}, {0}, {}}), threads, {40}, how);
    }
  }
}

TEST(NeighbourBarrier, ServesFewerThreadsThanNeighbours) {
  for (const barrier_way how : {barrier_way::sync, barrier_way::bounded}) {
    for (const uint32_t threads : {1u, 2u, 3u}) {
      expect_right(neighbourhood::torus({3, 3}), threads, {20}, how);
      expect_right(neighbourhood::grid({2, 2, 2}, corners::yes), threads, {20}, how);
    }
  }
  std::vector<std::vector<uint32_t>> star(17);
  for (uint32_t b = 1; b < 17; ++b) {
    star[0].push_back(b);
    star[b].push_back(0);
  }
  expect_right(neighbourhood::of(star), 1, {20}, barrier_way::sync);
  expect_right(neighbourhood::of(star), 3, {20}, barrier_way::split);
}

TEST(NeighbourBarrier, GoesOnFromLaunchToLaunch) {
  for (const barrier_way how : all_barrier_ways) expect_right(neighbourhood::ring(3), 2, {1, 2, 0, 5, 1, 1, 8}, how);
}

TEST(NeighbourBarrier, CountsOnAcrossTheWrap) {
  for (const uint32_t first : {0xfffffffau, 0xffffffffu, 0x7ffffffau}) {
    for (const barrier_way how : all_barrier_ways) expect_right(neighbourhood::ring(3), 2, {3, 4, 9}, how, first);
  }
}

/// A block may be one phase ahead of its neighbour, two of that one's, and must not be further.
TEST(NeighbourBarrier, LetsNobodyGoFurtherThanItsDistance) {
  constexpr uint32_t blocks = 5;
  host_neighbour_storage storage(neighbourhood::line(blocks));
  std::atomic<uint32_t> passed[blocks] = {};
  std::atomic<uint32_t> furthest[blocks] = {};
  launch(
      host_device{}, {blocks, 1},
      [&](barrier b) {
        const uint32_t own = host_grid::current().block();
        if (own == 0) {
          // The others go as far as they can without it.
          const auto end = std::chrono::steady_clock::now() + test::patience;
          while (passed[blocks - 1] < blocks - 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
          std::this_thread::sleep_for(20ms);
          for (uint32_t i = 0; i < blocks; ++i) furthest[i] = passed[i].load();
        }
        for (uint32_t phase = 0; phase < 10; ++phase) {
          b.sync();
          ++passed[own];
        }
      },
      storage.barrier());
  for (uint32_t i = 1; i < blocks; ++i) EXPECT_EQ(furthest[i], i - 1) << "block " << i;
}

TEST(NeighbourBarrier, WaitsForNobodyElse) {
  // Two pairs in one grid: one of them is through while the other has not begun.
  host_neighbour_storage storage(neighbourhood::of({{1}, {0}, {3}, {2}}));
  std::atomic<uint32_t> through{0};
  launch(
      host_device{}, {4, 2},
      [&](barrier b) {
        if (host_grid::current().block() >= 2) {
          while (through < 4) std::this_thread::yield();
        }
        for (uint32_t phase = 0; phase < 10; ++phase) b.sync();
        ++through;
      },
      storage.barrier());
  EXPECT_EQ(through, 8u);
}

// ---- Deadlines ----

/// Block `absent` of a ring of 6 passes `phases` and then never comes; who waits for it gives up after a moment, and
/// the others after long.
void lose(host_neighbour_storage& storage, uint32_t absent, uint32_t phases, uint32_t threads, bool split,
          std::atomic<uint32_t>& told) {
  const uint32_t blocks = storage.barrier().capacity();
  meeting all;
  launch(
      host_device{}, {blocks, threads},
      [&](barrier b) {
        const uint32_t own = host_grid::current().block();
        for (uint32_t phase = 0; phase < phases; ++phase) b.sync();
        all.of(blocks * threads);
        if (own == absent) return;
        const bool next_to = own == (absent + 1) % blocks || absent == (own + 1) % blocks;
        const timeout span = next_to ? timeout(30ms) : timeout(test::patience);
        for (uint32_t phase = 0; phase < blocks; ++phase) {
          wait_status status;
          if (split) {
            auto token = b.arrive();
            status = b.wait_for(std::move(token), span);
          } else {
            status = b.sync_for(span);
          }
          if (status == wait_status::timed_out) {
            ++told;
            return;
          }
        }
      },
      storage.barrier());
}

TEST(NeighbourBarrierDeadlines, NameTheNeighbourAndThePhase) {
  for (const bool split : {false, true}) {
    for (const uint32_t phases : {0u, 1u, 4u}) {
      for (const uint32_t threads : {1u, 3u}) {
        for (const uint32_t first : {0u, 0xfffffffdu, 0xfffffffeu, 0xffffffffu}) {
          host_neighbour_storage storage(neighbourhood::ring(6), first);
          std::atomic<uint32_t> told{0};
          lose(storage, 2, phases, threads, split, told);
          EXPECT_EQ(storage.missing(), (named{{2, phases}})) << storage.report();
          EXPECT_EQ(storage.missing().at(0).started, phases != 0);
          EXPECT_EQ(told, 5 * threads) << "the loss is everybody's";
        }
      }
    }
  }
}

TEST(NeighbourBarrierDeadlines, NameTheMissingOnceAndNobodyElse) {
  // In a ring of two, and of one row of a torus, several slots name one block.
  for (const auto& who : {neighbourhood::ring(2), neighbourhood::torus({2, 2}, corners::yes)}) {
    host_neighbour_storage storage(who);
    std::atomic<uint32_t> told{0};
    meeting all;
    launch(
        host_device{}, {who.blocks(), 1},
        [&](barrier b) {
          b.sync();
          all.of(who.blocks());
          if (host_grid::current().block() == 1) return;
          told += b.sync_for(80ms) == wait_status::timed_out ? 1 : 0;
        },
        storage.barrier());
    EXPECT_EQ(storage.missing(), (named{{1, 1}}));
    EXPECT_EQ(told, who.blocks() - 1);
  }
}

TEST(NeighbourBarrierDeadlines, NameAllNeighboursThatAreMissing) {
  host_neighbour_storage storage(neighbourhood::of({{1, 2, 3}, {0}, {0}, {0}, {}}));
  meeting arrived;
  launch(
      host_device{}, {5, 2},
      [&](barrier b) {
        const uint32_t own = host_grid::current().block();
        if (own == 1 || own >= 3) return;  // block 4 is nobody's neighbour
        if (own == 2) {
          auto token = b.arrive();
          arrived.of(4);
          (void)b.wait_for(std::move(token), test::patience);
        } else {
          arrived.of(4);
          EXPECT_EQ(b.sync_for(40ms), wait_status::timed_out);
        }
      },
      storage.barrier());
  EXPECT_EQ(storage.missing(), (named{{1, 0}, {3, 0}}));
  EXPECT_NE(storage.report().find("missing block 1 (not seen in that launch), 3 (not seen in that launch)"),
            std::string::npos)
      << storage.report();
}

TEST(NeighbourBarrierDeadlines, DoNotNameANeighbourThatHasGoneOn) {
  // Block 0 waits for 1 and 2 in phase 0. Block 1 arrives and works long; block 3, its other neighbour, is there too,
  // so it passes; block 2 never comes.
  host_neighbour_storage storage(neighbourhood::of({{1, 2}, {0, 3}, {0}, {1}}));
  std::atomic<bool> over{false}, on{false};
  launch(
      host_device{}, {4, 1},
      [&](barrier b) {
        const uint32_t own = host_grid::current().block();
        if (own == 2) return;
        if (own == 0) {
          auto token = b.arrive();
          while (!on) std::this_thread::yield();
          EXPECT_EQ(b.wait_for(std::move(token), 20ms), wait_status::timed_out);
          over = true;
          return;
        }
        EXPECT_EQ(b.sync_for(test::patience), wait_status::completed);  // 0 has arrived, and 1 and 3 are there
        if (own == 1) {
          auto token = b.arrive();  // in the next phase already, when block 0 gives up
          on = true;
          while (!over) std::this_thread::yield();
          EXPECT_EQ(b.wait_for(std::move(token), test::patience), wait_status::timed_out);
        }
      },
      storage.barrier());
  EXPECT_EQ(storage.missing(), (named{{2, 0}}));
}

TEST(NeighbourBarrierDeadlines, DoNotNameOneThatHasArrivedAndWorksOn) {
  host_neighbour_storage storage(neighbourhood::line(3));
  std::atomic<bool> over{false}, there{false};
  launch(
      host_device{}, {3, 1},
      [&](barrier b) {
        const uint32_t own = host_grid::current().block();
        if (own == 0) return;
        if (own == 2) {
          auto token = b.arrive();
          there = true;
          while (!over) std::this_thread::yield();
          (void)b.wait_for(std::move(token), test::patience);
          return;
        }
        while (!there) std::this_thread::yield();
        EXPECT_EQ(b.sync_for(20ms), wait_status::timed_out);
        over = true;
      },
      storage.barrier());
  EXPECT_EQ(storage.missing(), (named{{0, 0}}));
}

TEST(NeighbourBarrierDeadlines, ALostBarrierIsRefusedUntilItIsReset) {
  const auto who = neighbourhood::ring(6);
  host_neighbour_storage storage(who, 0xfffffffe);
  std::atomic<uint32_t> told{0};
  lose(storage, 4, 3, 2, false, told);
  const auto again = [&] {
    launch(
        host_device{}, {6, 2}, [](barrier b) { b.sync(); }, storage.barrier());
  };
  EXPECT_THROW(again(), broken_barrier);
  EXPECT_THROW(again(), broken_barrier);
  storage.reset();
  EXPECT_TRUE(storage.missing().empty());
  EXPECT_EQ(chains_behind(storage, who, 2, {7, 3}, barrier_way::sync), barrier_reference(who, 10));
}

TEST(NeighbourBarrierDeadlines, AWaitWithoutOneAfterALossEndsTheLaunch) {
  host_neighbour_storage storage(neighbourhood::line(4));
  EXPECT_THROW(launch(
                   host_device{}, {4, 1},
                   [](barrier b) {
                     const uint32_t own = host_grid::current().block();
                     if (own == 0) return;
                     if (own == 1) {
                       (void)b.sync_for(20ms);
                     } else {
                       for (int phase = 0; phase < 4; ++phase) b.sync();
                     }
                   },
                   storage.barrier()),
               broken_barrier);
  EXPECT_EQ(storage.missing(), (named{{0, 0}}));
}

TEST(NeighbourBarrierDeadlines, EntriesTellALateBlockFromOneThatNeverCame) {
  host_neighbour_storage storage(neighbourhood::of({{1, 2}, {0}, {0}}));
  meeting entered;
  launch(
      host_device{}, {3, 1},
      [&](barrier b) {
        const uint32_t own = host_grid::current().block();
        if (own == 2) return;
        EXPECT_EQ(b.try_enter(), wait_status::completed);
        entered.of(2);
        if (own == 1) return;
        EXPECT_EQ(b.sync_for(20ms), wait_status::timed_out);
        EXPECT_EQ(b.try_enter(), wait_status::timed_out);
      },
      storage.barrier());
  ASSERT_EQ(storage.missing(), (named{{1, 0}, {2, 0}}));
  EXPECT_TRUE(storage.missing()[0].started);
  EXPECT_FALSE(storage.missing()[1].started);
}

// ---- What is refused ----

TEST(NeighbourBarrierRefusals, AGridOfAnotherSize) {
  host_neighbour_storage storage(neighbourhood::ring(3));
  for (const uint32_t blocks : {1u, 2u, 4u}) {
    EXPECT_EQ(refusal([&] {
                launch(
                    host_device{}, {blocks, 1}, [](barrier b) { b.sync(); }, storage.barrier());
              }),
              "The grid has " + std::to_string(blocks) +
                  " blocks, but a handle among its arguments says who waits for whom in a grid of 3. Make its storage "
                  "for this grid.");
  }
}

TEST(NeighbourBarrierRefusals, AGridOfAnotherSizePastTheChecksOfALaunch) {
  host_neighbour_storage storage(neighbourhood::ring(3));
  auto given = storage.barrier().given();
  given.header = {};  // of no storage
  for (const uint32_t blocks : {1u, 2u, 4u}) {
    const barrier unchecked(given, storage.barrier().who());
    EXPECT_NE(refusal([&] {
                launch(
                    host_device{}, {blocks, 1}, [](barrier b) { b.sync(); }, unchecked);
              }).find("blocks that does not join it"),
              std::string::npos);
  }
}

TEST(NeighbourBarrierRefusals, AStorageThatIsGoneOrSharedOrInUse) {
  const auto nothing = [](barrier) {};
  auto storage = std::make_unique<host_neighbour_storage>(neighbourhood::ring(2));
  const auto two = [](barrier, barrier) {};
  EXPECT_NE(refusal([&] {
              launch(host_device{}, {2, 1}, two, storage->barrier(), storage->barrier());
            }).find("share one storage"),
            std::string::npos);
  std::atomic<uint32_t> refused{0};
  launch(
      host_device{}, {2, 1},
      [&](barrier b) {
        b.sync();
        if (host_grid::current().block() == 0) {
          try {
            launch(
                host_device{}, {2, 1}, [](barrier inner) { inner.sync(); }, storage->barrier());
          } catch (const storage_in_use&) {
            ++refused;
          }
        }
        b.sync();
      },
      storage->barrier());
  EXPECT_EQ(refused, 1u);
  const barrier left_behind(storage->barrier().given(), storage->barrier().who());
  storage.reset();
  EXPECT_NE(refusal([&] {
              launch(host_device{}, {2, 1}, nothing, left_behind);
            }).find("has been destroyed"),
            std::string::npos);
}

TEST(NeighbourBarrierRefusals, AHandleThatThreadsShareAndArrivalsOutOfTurn) {
  host_neighbour_storage storage(neighbourhood::ring(2));
  auto shared = storage.barrier();
  EXPECT_NE(refusal([&] {
              launch(
                  host_device{}, {2, 1}, [&](barrier) { shared.sync(); }, storage.barrier());
            }).find("used a barrier that all threads share"),
            std::string::npos);
  storage.reset();
  EXPECT_NE(refusal([&] {
              launch(
                  host_device{}, {2, 1},
                  [&](barrier b) {
                    (void)b.arrive();
                    b.sync();
                  },
                  storage.barrier());
            }).find("arrived again before it had waited"),
            std::string::npos);
}

TEST(NeighbourBarrier, ItsStorageMayBeMoved) {
  const auto who = neighbourhood::ring(3);
  host_neighbour_storage first(who);
  auto left = first.barrier().given().words;
  host_neighbour_storage second(std::move(first));
  EXPECT_EQ(second.barrier().given().words, left);
  EXPECT_EQ(chains_behind(second, who, 2, {4, 4}, barrier_way::sync), barrier_reference(who, 8));
}

}  // namespace
}  // namespace gpusync
