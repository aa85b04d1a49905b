// What dependency counters promise, on blocks that are host threads: the text that also runs on GPUs.
#include <gpusync/neighbours/dependency_counters_host.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/refusal.hpp"

namespace gpusync {
namespace {

using namespace literals;
using counters_type = host_dependency_counters;
using storage_type = host_dependency_counter_storage;

uint32_t mixed(uint32_t a, uint32_t b) {
  uint32_t x = (a ^ (b * 0x9e3779b9u)) * 0x85ebca6bu;
  return (x ^ (x >> 15)) + b;
}

/// Tasks 0 to size - 1, each after some before it; task t is run by block owner[t], in the order of numbers.
struct task_graph {
  std::vector<std::vector<uint32_t>> before, followers, of_block;
  std::vector<uint32_t> owner;

  task_graph(uint32_t blocks, const std::vector<uint32_t>& owners, const std::vector<std::vector<uint32_t>>& needs)
      : before(needs), followers(needs.size()), of_block(blocks), owner(owners) {
    for (uint32_t t = 0; t < needs.size(); ++t) {
      of_block[owner[t]].push_back(t);
      for (const uint32_t b : needs[t]) followers[b].push_back(t);
    }
  }
  uint32_t size() const { return static_cast<uint32_t>(before.size()); }
  std::vector<uint32_t> in_degrees() const {
    std::vector<uint32_t> all;
    for (const auto& each : before) all.push_back(static_cast<uint32_t>(each.size()));
    return all;
  }
  /// What task t makes of what it needs.
  static uint32_t made(const task_graph& graph, const std::vector<uint32_t>& values, uint32_t t, uint32_t epoch) {
    uint32_t value = t * 77 + epoch;
    for (const uint32_t b : graph.before[t]) value = mixed(value, values[b]);
    return value;
  }
  std::vector<uint32_t> expected(uint32_t epoch) const {
    std::vector<uint32_t> values(size());
    for (uint32_t t = 0; t < size(); ++t) values[t] = made(*this, values, t, epoch);
    return values;
  }
};

task_graph any_graph(uint32_t blocks) {
  const uint32_t tasks = *rc::gen::inRange(1u, 40u);
  std::vector<uint32_t> owners(tasks);
  std::vector<std::vector<uint32_t>> needs(tasks);
  for (uint32_t t = 0; t < tasks; ++t) {
    owners[t] = *rc::gen::inRange(0u, blocks);
    const uint32_t count = t == 0 ? 0 : *rc::gen::inRange(0u, 5u);
    // The same task may be needed twice: then it publishes twice.
    for (uint32_t i = 0; i < count; ++i) needs[t].push_back(*rc::gen::inRange(0u, t));
  }
  return {blocks, owners, needs};
}

/// Goes through the graph `epochs` times in one launch. Values of each epoch are in an array of their own, plain words,
/// so that ThreadSanitizer sees what the counters order. Returns how many values are wrong.
uint32_t run(const task_graph& graph, storage_type& storage, uint32_t threads, uint32_t epochs, bool bounded) {
  std::vector<std::vector<uint32_t>> values(epochs, std::vector<uint32_t>(graph.size()));
  launch(
      host_device{}, {graph.of_block.size(), threads},
      [&](counters_type counters) {
        const host_grid grid = host_grid::current();
        counters.enter();
        for (uint32_t epoch = 0; epoch < epochs; ++epoch) {
          if (epoch != 0) counters.next_epoch();
          for (const uint32_t t : graph.of_block[grid.block()]) {
            if (bounded) {
              if (counters.await_for(t, 100_s) == wait_status::timed_out) return;
            } else {
              counters.await(t);
            }
            // The last thread works, the first one counts.
            if (grid.thread() + 1 == grid.threads()) {
              values[epoch][t] = task_graph::made(graph, values[epoch], t, epoch);
            }
            const auto& next = graph.followers[t];
            if (bounded) {
              if (counters.publish_for(next.data(), static_cast<uint32_t>(next.size()), 100_s) ==
                  wait_status::timed_out)
                return;
            } else if (next.size() == 1) {
              counters.publish(next[0]);
            } else {
              counters.publish(next.data(), static_cast<uint32_t>(next.size()));
            }
          }
        }
      },
      storage.counters());
  uint32_t wrong = 0;
  for (uint32_t epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<uint32_t> right = graph.expected(epoch);
    for (uint32_t t = 0; t < graph.size(); ++t) wrong += values[epoch][t] != right[t] ? 1 : 0;
  }
  return wrong;
}

RC_GTEST_PROP(DependencyCounters, RunAnyGraphInOrderEpochAfterEpochLaunchAfterLaunch, ())
{
  const uint32_t blocks = *rc::gen::inRange(1u, 5u), threads = *rc::gen::inRange(1u, 4u);
  const task_graph graph = any_graph(blocks);
  const auto spacing = *rc::gen::element(counter_spacing::packed, counter_spacing::lines);
  storage_type storage(blocks, graph.in_degrees(), {}, spacing);
  for (int launches = 0; launches < 3; ++launches) {
    const uint32_t epochs = *rc::gen::inRange(1u, 5u);
    RC_ASSERT(run(graph, storage, threads, epochs, *rc::gen::arbitrary<bool>()) == 0u);
  }
  RC_ASSERT(storage.report().empty());
}

/// Two publish to one counter, and one of them is slow: an epoch ahead, the other must not stand in for it.
TEST(DependencyCounters, NeverTakeAPublishOfOneEpochForOneOfAnother) {
  constexpr uint32_t epochs = 20;
  storage_type storage(3, {2});
  std::vector<uint32_t> slow(epochs), quick(epochs);
  std::atomic<uint32_t> wrong{0};
  launch(
      host_device{}, {3, 2},
      [&](counters_type counters) {
        const host_grid grid = host_grid::current();
        for (uint32_t epoch = 0; epoch < epochs; ++epoch) {
          if (epoch != 0) counters.next_epoch();
          if (grid.block() == 2) {
            counters.await(0);
            if (slow[epoch] != epoch + 1 || quick[epoch] != epoch + 1) ++wrong;
            continue;
          }
          if (grid.block() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          if (grid.thread() == 0) (grid.block() == 0 ? slow : quick)[epoch] = epoch + 1;
          counters.publish(0);
        }
      },
      storage.counters());
  EXPECT_EQ(wrong, 0u);
}

TEST(DependencyCounters, CountOnAcrossTheEndOfTheirWords) {
  const task_graph graph(3, {0, 1, 2, 0, 1}, {{}, {0}, {0, 1}, {1, 2, 2}, {0, 1, 2, 3}});
  for (const uint32_t first : {~0u, ~0u - 3, (1u << 31) - 2, (1u << 30) - 1, 0x55555554u}) {
    storage_type storage(3, graph.in_degrees(), {}, counter_spacing::automatic, first);
    EXPECT_EQ(run(graph, storage, 2, 9, false), 0u) << first;
    EXPECT_EQ(run(graph, storage, 1, 2, true), 0u) << first;
  }
}

TEST(DependencyCounters, ServeConsumersThatAreManyEpochsBehind) {
  constexpr uint32_t epochs = 300;
  storage_type storage(2, {1, 0});
  std::vector<uint32_t> values(epochs);
  std::atomic<bool> done{false};
  uint32_t wrong = 0;
  launch(
      host_device{}, {2, 1},
      [&](counters_type counters) {
        for (uint32_t epoch = 0; epoch < epochs; ++epoch) {
          if (epoch != 0) counters.next_epoch();
          EXPECT_EQ(counters.epoch(), epoch);
          if (host_grid::current().block() == 0) {
            values[epoch] = epoch;
            counters.publish(0);
          } else {
            while (!done) std::this_thread::yield();  // the other one has gone through all
            counters.await(0);
            counters.await(1);  // expects nothing
            wrong += values[epoch] != epoch ? 1 : 0;
          }
        }
        done = true;
      },
      storage.counters());
  EXPECT_EQ(wrong, 0u);
}

TEST(DependencyCounters, TakeListsLongerThanABlockHasThreads) {
  constexpr uint32_t count = 37;
  std::vector<uint32_t> all(count);
  for (uint32_t i = 0; i < count; ++i) all[i] = i;
  storage_type storage(2, std::vector<uint32_t>(count, 1));
  uint32_t word = 0;
  launch(
      host_device{}, {2, 3},
      [&](counters_type counters) {
        if (host_grid::current().block() == 0) {
          if (host_grid::current().thread() == 2) word = 5;
          counters.publish(all.data(), count);
          counters.publish(all.data(), 0);
        } else {
          counters.await(all.data(), 0);
          counters.await(all.data(), count);
          EXPECT_EQ(word, 5u);
        }
      },
      storage.counters());
}

/// A wait that is given up: by whom, for what.
struct lost_wait {
  uint32_t told = 0;
  std::string report;
  std::vector<missing_block> missing;
  std::optional<missed_counter> missed;
};

/// In epoch 1 block 1 does not publish, and block 3 is never seen.
lost_wait lose(storage_type& storage, bool publishing) {
  std::atomic<uint32_t> told{0};
  launch(
      host_device{}, {4, 2},
      [&](counters_type counters) {
        const uint32_t block = host_grid::current().block();
        if (block == 3) return;
        counters.enter();
        for (uint32_t epoch = 0; epoch < (publishing ? 3u : 2u); ++epoch) {
          if (epoch != 0) counters.next_epoch();
          if (block == 0 || (block == 1 && epoch == 0)) {
            if (counters.publish_for(1, 30_ms) == wait_status::timed_out) {
              ++told;
              if (counters.publish_for(1, 30_ms) == wait_status::timed_out) ++told;
              return;
            }
          }
          if (block == 2 && !publishing) {
            const uint32_t both[] = {0, 1};
            if (counters.await_for(both, 2, 30_ms) == wait_status::timed_out) {
              ++told;
              if (counters.await_for(0, 30_ms) == wait_status::timed_out) ++told;
              return;
            }
          }
        }
      },
      storage.counters());
  return {told, storage.report(), storage.missing(), storage.missed()};
}

TEST(DependencyCounters, SayWhichCounterAndHowManyPublishesWereMissedByAWait) {
  for (const bool known : {true, false}) {
    storage_type storage(
        4, {0, 2, 5},
        known ? std::vector<std::vector<uint32_t>>{{}, {0, 1}, {3}} : std::vector<std::vector<uint32_t>>{});
    EXPECT_FALSE(storage.missed());
    const lost_wait lost = lose(storage, false);
    EXPECT_EQ(lost.told, 4u);
    ASSERT_TRUE(lost.missed);
    EXPECT_EQ(lost.missed->counter, 1u);
    EXPECT_EQ(lost.missed->epoch, 1u);
    EXPECT_EQ(lost.missed->published, 1u);
    EXPECT_EQ(lost.missed->expected, 2u);
    EXPECT_EQ(lost.report,
              "A wait for dependency counter 1 timed out in epoch 1 of an earlier launch: 1 of 2 publishes were there" +
                  std::string(known ? "; of those who publish to it, not gone on to a later epoch: block 0, 1" : "") +
                  ". Call reset() on its storage first.");
    EXPECT_EQ(lost.missing.size(), known ? 2u : 0u);
    EXPECT_THROW(lose(storage, false), broken_barrier);
    storage.reset();
    EXPECT_EQ(storage.report(), "");
    EXPECT_FALSE(storage.missed());
    EXPECT_EQ(lose(storage, false).told, 4u);
  }
}

TEST(DependencyCounters, EndAPublishThatWaitsForAnEpochThatNeverEnds) {
  storage_type storage(4, {0, 2, 5}, {{}, {0, 1}, {3}});
  const lost_wait lost = lose(storage, true);
  EXPECT_EQ(lost.told, 4u);
  ASSERT_TRUE(lost.missed);
  EXPECT_EQ(lost.missed->epoch, 1u) << "the epoch that is not complete";
  // Block 0 has gone on, and block 1 may have too by the time of the report.
  for (const missing_block& one : lost.missing) EXPECT_EQ(one.block, 1u);
}

TEST(DependencyCounters, TellAProducerThatWasNeverSeen) {
  storage_type storage(2, {1}, {{1}});
  for (int round = 0; round < 2; ++round) {
    launch(
        host_device{}, {2, 1},
        [](counters_type counters) {
          if (host_grid::current().block() == 1) return;
          EXPECT_EQ(counters.await_for(0, 5_ms), wait_status::timed_out);
        },
        storage.counters());
    ASSERT_EQ(storage.missing(), (std::vector<missing_block>{{1, 0}}));
    EXPECT_FALSE(storage.missing()[0].started);
    storage.reset();
    // What an earlier launch has left must not count.
    launch(
        host_device{}, {2, 1},
        [](counters_type counters) {
          if (host_grid::current().block() == 1) counters.publish(0);
          counters.await(0);
        },
        storage.counters());
  }
}

template <class Kernel>
std::string thrown(storage_type& storage, uint32_t blocks, const Kernel& kernel) {
  try {
    launch(host_device{}, {blocks, 2}, kernel, storage.counters());
  } catch (const error& failure) {
    return failure.what();
  }
  return "nothing";
}

TEST(DependencyCounters, NameWhatBreaksTheirContract) {
  const auto sentence = [](misuse reason, uint32_t detail) { return misuse_in_words(reason, 0, detail); };
  {
    storage_type storage(1, {1, 1});
    EXPECT_EQ(thrown(storage, 1, [](counters_type c) { c.publish(2); }), sentence(misuse::unknown_counter, 2));
    storage.reset();
    EXPECT_EQ(thrown(storage, 1, [](counters_type c) { c.await(~0u); }), sentence(misuse::unknown_counter, ~0u));
  }
  {
    storage_type storage(1, {1, 2});
    const auto surplus = [](counters_type c) {
      c.publish(0);
      c.publish(0);
      c.await(0);
    };
    EXPECT_EQ(thrown(storage, 1, surplus), sentence(misuse::surplus_publish, 0));
    storage.reset();
    const auto too_few = [](counters_type c) { c.publish(1); };
    EXPECT_EQ(thrown(storage, 1, too_few), "nothing");
    const auto next = [](counters_type c) {
      c.publish(1);
      c.next_epoch();
    };
    EXPECT_EQ(thrown(storage, 1, next), sentence(misuse::incomplete_epoch, 1));
    storage.reset();
    // The last call of a launch: found by the next one.
    EXPECT_EQ(thrown(storage, 1,
                     [](counters_type c) {
                       c.publish(0);
                       c.publish(1);
                       c.publish(1);
                       c.publish(1);
                     }),
              "nothing");
    EXPECT_EQ(thrown(storage, 1,
                     [&](counters_type c) {
                       c.publish(1);
                       c.publish(1);
                       c.next_epoch();
                     }),
              sentence(misuse::surplus_publish, 1));
  }
  {
    storage_type storage(1, {0});
    EXPECT_EQ(thrown(storage, 1,
                     [](counters_type c) {
                       c.publish(0);
                       c.enter();
                     }),
              sentence(misuse::surplus_publish, 0));
  }
  {
    storage_type storage(1, {1});
    const counters_type shared = storage.counters();
    EXPECT_THROW(launch(host_device{}, {1, 1}, [&] { const_cast<counters_type&>(shared).await(0); }), invalid_argument);
  }
}

TEST(DependencyCounters, EndALaunchThatWaitsWithoutADeadlineAfterALoss) {
  storage_type storage(2, {1, 1});
  EXPECT_THROW(launch(
                   host_device{}, {2, 1},
                   [](counters_type counters) {
                     if (host_grid::current().block() == 0) {
                       (void)counters.await_for(0, 5_ms);
                       return;
                     }
                     counters.await(1);
                   },
                   storage.counters()),
               broken_barrier);
}

TEST(DependencyCounters, RefuseGraphsAndLaunchesThatCannotBe) {
  const auto refusal = [](auto&&... arguments) {
    return test::refusal([&] { storage_type storage(std::forward<decltype(arguments)>(arguments)...); });
  };
  using lists = std::vector<std::vector<uint32_t>>;
  using numbers = std::vector<uint32_t>;
  EXPECT_EQ(refusal(2, numbers{}), "A storage has 1 to 268435456 dependency counters, not 0.");
  EXPECT_EQ(refusal(0, numbers{1}), "Dependency counters are for grids of 1 to 16777215 blocks, not 0.");
  EXPECT_EQ(refusal(1 << 24, numbers{1}), "Dependency counters are for grids of 1 to 16777215 blocks, not 16777216.");
  EXPECT_EQ(refusal(2, numbers{1, (1u << 30) + 1}),
            "Dependency counter 1 should expect 1073741825 publishes in an epoch: at most 1073741824.");
  EXPECT_EQ(refusal(2, numbers{1, 1}, lists{{0}}),
            "There are 2 dependency counters, but 1 lists of who publishes to them.");
  EXPECT_EQ(refusal(2, numbers{1}, lists{{2}}),
            "Block 2 should publish to dependency counter 0, but the grid has 2 blocks.");
  EXPECT_EQ(
      refusal(2, numbers{3}, lists{{1, 0, 1}}),
      "Block 1 is listed twice as one that publishes to dependency counter 0. List it once, however often it does.");
  EXPECT_EQ(
      refusal(2, numbers{1}, lists{{0, 1}}),
      "Dependency counter 0 expects 1 publishes in an epoch, but 2 blocks publish to it. List each of them once.");
  EXPECT_EQ(
      refusal(2, numbers{1}, lists{{}}),
      "Dependency counter 0 expects 1 publishes in an epoch, but 0 blocks publish to it. List each of them once.");
  EXPECT_EQ(refusal(2, numbers{0, 3}, lists{{}, {1}}), "");

  storage_type storage(3, {1});
  const auto kernel = [](counters_type counters) { counters.enter(); };
  for (const uint32_t blocks : {2u, 4u}) {
    EXPECT_THROW(launch(host_device{}, {blocks, 1}, kernel, storage.counters()), invalid_argument) << blocks;
  }
  EXPECT_THROW(launch(
                   host_device{}, {3, 1}, [](counters_type, counters_type) {}, storage.counters(), storage.counters()),
               invalid_argument);
  const counters_type orphan = storage_type(3, {1}).counters();
  EXPECT_THROW(launch(host_device{}, {3, 1}, kernel, orphan), invalid_argument);
  EXPECT_THROW(launch(
                   host_device{}, {3, 1},
                   [&](counters_type counters) {
                     counters.enter();
                     if (host_grid::current().block() != 0) return;
                     launch(host_device{}, {3, 1}, kernel, storage.counters());
                   },
                   storage.counters()),
               storage_in_use);
}

TEST(DependencyCounters, LieOnLinesOfTheirOwnIfTheyAreFewAndTogetherIfTheyAreMany) {
  const auto bytes_for = [](uint32_t counters, counter_spacing spacing) {
    return storage_type(1, std::vector<uint32_t>(counters, 1), {}, spacing).bytes();
  };
  const size_t few = bytes_for(4096, counter_spacing::automatic), many = bytes_for(4097, counter_spacing::automatic);
  EXPECT_EQ(few, bytes_for(4096, counter_spacing::lines));
  EXPECT_EQ(many, bytes_for(4097, counter_spacing::packed));
  EXPECT_GT(few, 4096u * 128u);
  EXPECT_LT(many, 4097u * 9u);
  EXPECT_EQ(storage_type(2, {3, 4}).expected(1), 4u);
  EXPECT_THROW((void)storage_type(2, {3, 4}).expected(2), invalid_argument);
}

}  // namespace
}  // namespace gpusync
