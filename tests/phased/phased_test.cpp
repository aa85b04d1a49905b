// What phased grids promise under every schedule, on host threads: the text that also runs on GPUs.
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <gpusync/gpusync.hpp>

#include "support/refusal.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;

/// Longer than any test takes: what would hang fails instead.
constexpr auto phase_patience = 20s;

uint32_t mixed(uint32_t a, uint32_t b, uint32_t c, uint32_t phase) {
  uint32_t value = a * 0x9e3779b1u ^ (b + 0x85ebca77u) * 0xc2b2ae3du ^ (c << 7 | c >> 25);
  value += phase;
  return value ^ value >> 15;
}

/// What the virtual blocks work on: each thread's value of a phase follows from three of the phase before, so that a
/// word that is read too early or too late changes all that comes after it. Plain words: ThreadSanitizer looks on.
struct relay {
  relay(uint32_t virtual_blocks, uint32_t block_threads)
      : blocks(virtual_blocks),
        threads(block_threads),
        values(2 * size_t{blocks} * threads),
        runs(virtual_blocks, block_threads) {}

  uint32_t& value(uint32_t phase, uint32_t block, uint32_t thread) {
    return values[(size_t{phase % 2} * blocks + block) * threads + thread];
  }

  /// One thread's part of one virtual block in one phase.
  void step(uint32_t block, uint32_t thread, uint32_t phase) {
    const uint32_t before = phase + 1;  // the other half
    const uint32_t next = value(before, (block + 1) % blocks, thread);
    const uint32_t far = value(before, (block + phase) % blocks, (thread + 1) % threads);
    value(phase, block, thread) = mixed(value(before, block, thread), next, far, phase);
    ++runs.view().of(block)[thread];
  }

  uint32_t blocks, threads;
  std::vector<uint32_t> values;
  host_phased_state<uint32_t> runs;
};

/// What came of launches, compared with the same work done by one thread.
struct faults {
  uint64_t wrong_values = 0;
  uint64_t wrong_runs = 0;  ///< virtual blocks that a thread did not run exactly once in each phase
  uint32_t timed_out = 0;   ///< threads that lost patience
  bool none() const { return wrong_values == 0 && wrong_runs == 0 && timed_out == 0; }
};

faults compare(relay& done, uint32_t phases) {
  relay expected(done.blocks, done.threads);
  for (uint32_t phase = 0; phase < phases; ++phase) {
    for (uint32_t block = 0; block < done.blocks; ++block) {
      for (uint32_t thread = 0; thread < done.threads; ++thread) expected.step(block, thread, phase);
    }
  }
  faults found;
  for (size_t i = 0; i < done.values.size(); ++i) found.wrong_values += done.values[i] != expected.values[i] ? 1 : 0;
  for (uint32_t block = 0; block < done.blocks; ++block) {
    for (uint32_t thread = 0; thread < done.threads; ++thread) {
      found.wrong_runs += done.runs.view().of(block)[thread] != phases ? 1 : 0;
    }
  }
  return found;
}

/// Launches that go on with each other's work. Some virtual blocks take longer than others.
template <class Storage>
faults relay_race(Storage& storage, const phased_shape& shape, std::vector<uint32_t> launches) {
  relay work(shape.virtual_blocks, static_cast<uint32_t>(shape.threads.count()));
  uint32_t done = 0, timed_out = 0;
  for (const uint32_t phases : launches) {
    launch_phased(
        host_device{}, shape,
        [&](typename Storage::grid_type grid) {
          const auto here = host_grid::current();
          const auto status = grid.run_for(timeout(phase_patience), phases, [&](uint32_t block, uint32_t phase) {
            if ((block * 7 + phase) % 16 == 3) std::this_thread::yield();
            work.step(block, here.thread(), done + phase);
          });
          if (status == wait_status::timed_out) __atomic_fetch_add(&timed_out, 1u, __ATOMIC_RELAXED);
        },
        storage);
    done += phases;
  }
  faults found = compare(work, done);
  found.timed_out = timed_out;
  return found;
}

template <class Schedule>
class HostPhased : public ::testing::Test {};

struct schedule_names {
  template <class Schedule>
  static std::string GetName(int) {
    std::string name = Schedule::name;
    for (char& c : name) c = c == '-' ? '_' : c;
    return name;
  }
};

using schedules = ::testing::Types<phased::striding, phased::claiming, phased::flag_claiming>;
TYPED_TEST_SUITE(HostPhased, schedules, schedule_names);

TYPED_TEST(HostPhased, RunsEveryVirtualBlockOncePerPhaseAndAfterAllOfThePhaseBefore) {
  for (const uint32_t resident : {1u, 2u, 3u, 5u}) {
    for (const uint32_t blocks : {1u, resident - 1, resident, resident + 1, 4 * resident, 64 * resident}) {
      if (blocks == 0) continue;
      host_phased_storage<TypeParam> storage(blocks, resident);
      for (const uint32_t phases : {0u, 1u, 2u, 40u}) {
        const faults found = relay_race(storage, {blocks, 1, 0, resident}, {phases, phases, 1});
        EXPECT_TRUE(found.none()) << blocks << " on " << resident << ", " << phases << " phases: " << found.wrong_values
                                  << " wrong values, " << found.wrong_runs << " wrong runs, " << found.timed_out
                                  << " timed out";
      }
    }
  }
}

TYPED_TEST(HostPhased, SaysInTimeThatAPhaseWasLostBeforeItsFirst) {
  host_phased_storage<TypeParam> storage(2, 2);
  std::atomic<int> told{0};
  std::atomic<bool> given_up{false};
  launch_phased(
      host_device{}, {2u, 1u, 0, 2u},
      [&](typename host_phased_storage<TypeParam>::grid_type grid) {
        const bool late = host_grid::current().block() == 1;
        while (late && !given_up) std::this_thread::yield();
        const auto status = grid.run_for(timeout(late ? 10'000'000'000 : 1'000'000), 2, [](uint32_t, uint32_t) {});
        if (!late) given_up = true;
        if (status == wait_status::timed_out) ++told;
      },
      storage);
  EXPECT_EQ(told, 2) << "who gave up, and who came after";
}

TYPED_TEST(HostPhased, HoldsForAnyShapeAndAnyLaunchesOnOneStorage) {
  EXPECT_TRUE(rc::check("any virtual blocks, resident blocks, threads and phases", [] {
    const auto capacity = *rc::gen::inRange(1u, 41u);
    const auto most = *rc::gen::inRange(1u, 6u);
    host_phased_storage<TypeParam> storage(capacity, most);
    for (int shape = *rc::gen::inRange(1, 4); shape != 0; --shape) {
      const auto blocks = *rc::gen::inRange(1u, capacity + 1), threads = *rc::gen::inRange(1u, 4u);
      const auto resident = *rc::gen::inRange(1u, most + 1);
      const auto launches = *rc::gen::container<std::vector<uint32_t>>(2, rc::gen::inRange(0u, 6u));
      RC_ASSERT(relay_race(storage, {blocks, threads, 0, resident}, launches).none());
    }
  }));
}

TYPED_TEST(HostPhased, SeparatesTheVirtualBlocksThatABlockRunsByABlockBarrier) {
  constexpr uint32_t blocks = 50, threads = 3, resident = 2;
  host_phased_storage<TypeParam> storage(blocks, resident);
  uint32_t shared[resident][threads] = {};
  uint32_t wrong = 0;
  launch_phased(
      host_device{}, {blocks, threads, 0, resident},
      [&](typename host_phased_storage<TypeParam>::grid_type grid) {
        const auto here = host_grid::current();
        uint32_t* const own = shared[here.block()];
        grid.run(20, [&](uint32_t block, uint32_t phase) {
          own[here.thread()] = block * 1000 + phase;
          here.sync_block();
          for (uint32_t thread = 0; thread < threads; ++thread) {
            if (own[thread] != block * 1000 + phase) __atomic_fetch_add(&wrong, 1u, __ATOMIC_RELAXED);
          }
        });
      },
      storage);
  EXPECT_EQ(wrong, 0u);
}

TYPED_TEST(HostPhased, GoesOnByHandUntilTheWorkIsDone) {
  constexpr uint32_t blocks = 23, resident = 3;
  host_phased_storage<TypeParam> storage(blocks, resident);
  relay work(blocks, 1);
  std::vector<uint32_t> phases(resident);
  // What a phase decides has a word of its own: the next phase may be under way when it is read.
  std::vector<uint32_t> enough(17);
  launch_phased(
      host_device{}, {blocks, 1, 0, resident},
      [&](typename host_phased_storage<TypeParam>::grid_type grid) {
        EXPECT_EQ(grid.virtual_blocks(), blocks);
        do {
          grid.for_each_block([&](uint32_t block) {
            work.step(block, 0, grid.phase());
            if (block == blocks - 1) enough[grid.phase()] = grid.phase() == 16 ? 1 : 0;
          });
          grid.end_phase();
        } while (enough[grid.phase() - 1] == 0);
        phases[host_grid::current().block()] = grid.phase();
      },
      storage);
  EXPECT_EQ(phases, std::vector<uint32_t>(resident, 17));
  EXPECT_TRUE(compare(work, 17).none());
}

TYPED_TEST(HostPhased, CountsPhasesOnFromOneRunToTheNext) {
  constexpr uint32_t blocks = 9, resident = 2;
  host_phased_storage<TypeParam> storage(blocks, resident);
  relay work(blocks, 2);
  launch_phased(
      host_device{}, {blocks, 2, 0, resident},
      [&](typename host_phased_storage<TypeParam>::grid_type grid) {
        const auto step = [&](uint32_t block, uint32_t phase) {
          work.step(block, host_grid::current().thread(), phase);
        };
        grid.run(3, step);
        grid.run(0, step);
        grid.run(4, step);
      },
      storage);
  EXPECT_TRUE(compare(work, 7).none());
}

/// More resident blocks than virtual ones would have nothing to run, and run what is not there.
TYPED_TEST(HostPhased, RefusesMoreBlocksThanVirtualOnes) {
  host_phased_storage<TypeParam> storage(10, 4);
  std::atomic<uint32_t> bodies{0};
  const auto kernel = [&](typename host_phased_storage<TypeParam>::grid_type grid) {
    grid.run(1, [&](uint32_t, uint32_t) { ++bodies; });
  };
  const std::string said = test::refusal([&] { launch(host_device{}, {4, 1}, kernel, storage.grid(3)); });
  EXPECT_NE(said.find("The grid has 4 blocks, but a phased grid among its arguments has no more than 3"),
            std::string::npos)
      << said;
  EXPECT_EQ(bodies, 0u);
  launch(host_device{}, {3, 1}, kernel, storage.grid(3));
  EXPECT_EQ(bodies, 3u);
}

/// A resident block that stays away from a phase is named, and the storage refused until it is reset.
TYPED_TEST(HostPhased, NamesTheResidentBlockThatIsMissingAndThePhase) {
  constexpr uint32_t blocks = 10, resident = 3, absent = 1, last = 2;
  host_phased_storage<TypeParam> storage(blocks, resident);
  uint32_t timed_out = 0;
  launch_phased(
      host_device{}, {blocks, 1, 0, resident},
      [&](typename host_phased_storage<TypeParam>::grid_type grid) {
        while (grid.phase() < 5) {
          if (host_grid::current().block() == absent && grid.phase() == last) return;
          if (grid.for_each_block_for(timeout(50ms), [](uint32_t) {}) == wait_status::timed_out ||
              grid.end_phase_for(timeout(50ms)) == wait_status::timed_out) {
            __atomic_fetch_add(&timed_out, 1u, __ATOMIC_RELAXED);
            return;
          }
        }
      },
      storage);
  EXPECT_EQ(timed_out, resident - 1);
  EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{absent, last}}));
  EXPECT_NE(storage.report().find("in phase " + std::to_string(last) + " of"), std::string::npos) << storage.report();
  EXPECT_THROW(relay_race(storage, {blocks, 1, 0, resident}, {1}), broken_barrier);
  storage.reset();
  EXPECT_TRUE(storage.missing().empty());
  EXPECT_TRUE(relay_race(storage, {blocks, 1, 0, resident}, {5, 5}).none());
}

TYPED_TEST(HostPhased, IsBrokenByABlockThatThrowsAndMendedByAReset) {
  constexpr uint32_t blocks = 12, resident = 3;
  host_phased_storage<TypeParam> storage(blocks, resident);
  EXPECT_THROW(launch_phased(
                   host_device{}, {blocks, 1, 0, resident},
                   [](typename host_phased_storage<TypeParam>::grid_type grid) {
                     grid.run(5, [](uint32_t block, uint32_t phase) {
                       if (block == 7 && phase == 2) throw std::runtime_error("enough");
                     });
                   },
                   storage),
               std::runtime_error);
  EXPECT_THROW(relay_race(storage, {blocks, 1, 0, resident}, {1}), broken_barrier);
  storage.reset();
  EXPECT_TRUE(relay_race(storage, {blocks, 1, 0, resident}, {5}).none());
}

TEST(HostPhasedLaunch, SizesTheResidentGridItself) {
  const uint32_t cores = host_device{}.cores();
  host_phased_grid_storage storage(10'000);
  const auto resident = [&](const phased_shape& shape) {
    return launch_phased(
        host_device{}, shape, [](host_phased_grid grid) { grid.run(1, [](uint32_t, uint32_t) {}); }, storage);
  };
  EXPECT_EQ(resident({10'000, 1}), std::min(10'000u, cores));
  EXPECT_EQ(resident({1, 1}), 1u);
  EXPECT_EQ(resident({10'000, 1, 0, 1}), 1u);
  EXPECT_EQ(resident({10'000, cores}), 1u);
  EXPECT_EQ(resident({10'000, 2 * cores}), 1u);
}

TEST(HostPhasedLaunch, RefusesWhatIsNoGridAndWhatTheStorageDoesNotServe) {
  host_claiming_phased_grid_storage storage(8, 2);
  const auto nothing = [](const host_claiming_phased_grid&) {};
  EXPECT_THROW(launch_phased(host_device{}, {0, 1}, nothing, storage), invalid_argument);
  EXPECT_THROW(launch_phased(host_device{}, {8, 0}, nothing, storage), invalid_argument);
  EXPECT_THROW(host_claiming_phased_grid_storage(0), invalid_argument);
  try {
    launch_phased(host_device{}, {9, 1}, nothing, storage);
    FAIL() << "nine virtual blocks in a storage for eight";
  } catch (const invalid_argument& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "The phased grid has 9 virtual blocks, but its storage was made for 8. Make a larger storage.");
  }
  EXPECT_TRUE(relay_race(storage, {8, 1, 0, 2}, {3}).none()) << "a refusal breaks nothing";
}

TEST(HostPhasedState, GivesEachVirtualBlockAPlaceOfItsOwn) {
  host_phased_state<uint32_t> memory(5, 3);
  const phased_state<uint32_t> state = memory.view();
  EXPECT_EQ(state.per_block(), 3u);
  for (uint32_t block = 0; block < 5; ++block) EXPECT_EQ(state.of(block), state.of(0) + 3 * block);
  EXPECT_EQ(memory.bytes(), 5 * 3 * sizeof(uint32_t));
}

/// Mutants: what the tests above look for, they find.

/// Its counter is never put back.
struct claiming_without_reset : phased::claiming {
  template <class Grid, class Sync, class Body>
  static bool for_each(const phased::resident_block<Grid>& at, Sync&&, Body&& body) {
    for (uint32_t block = at.grid.block(); block < at.virtual_blocks;) {
      body(block);
      block = at.told_by_first(at.grid.blocks() +
                               Grid::memory::template fetch_add<memory_order::relaxed, scope::device>(at.words, 1u));
    }
    return true;
  }
};

/// Looks first and takes then: two blocks may run the same virtual one.
struct claiming_without_atomics : phased::claiming {
  template <class Grid, class Sync, class Body>
  static bool for_each(const phased::resident_block<Grid>& at, Sync&&, Body&& body) {
    using memory = typename Grid::memory;
    for (uint32_t block = at.grid.block(); block < at.virtual_blocks;) {
      body(block);
      const uint32_t taken = memory::template load<memory_order::relaxed, scope::device>(at.words);
      std::this_thread::sleep_for(1ms);
      memory::template store<memory_order::relaxed, scope::device>(at.words, taken + 1);
      block = at.grid.blocks() + taken;
    }
    return true;
  }
};

TEST(HostPhasedMutant, WithoutAResetOfItsCounterLeavesVirtualBlocksOutInTheSecondPhase) {
  host_phased_storage<claiming_without_reset> storage(20, 2);
  EXPECT_TRUE(relay_race(storage, {20, 1, 0, 2}, {1}).none());
  EXPECT_NE(relay_race(storage, {20, 1, 0, 2}, {2}).wrong_runs, 0u);
}

#if !defined(GPUSYNC_THREAD_SANITIZER)  // these race, as they should
TEST(HostPhasedMutant, WithoutAtomicClaimsRunsVirtualBlocksTwice) {
  host_phased_storage<claiming_without_atomics> storage(20, 2);
  EXPECT_NE(relay_race(storage, {20, 1, 0, 2}, {1}).wrong_runs, 0u);
}

TEST(HostPhasedMutant, WithoutABarrierBetweenPhasesReadsWordsTooEarly) {
  constexpr uint32_t blocks = 6, resident = 2;
  host_phased_storage<phased::striding> storage(blocks, resident);
  relay work(blocks, 1);
  launch_phased(
      host_device{}, {blocks, 1, 0, resident},
      [&](host_phased_grid grid) {
        if (host_grid::current().block() == 0) std::this_thread::sleep_for(100ms);
        for (uint32_t phase = 0; phase < 3; ++phase) {
          grid.for_each_block([&](uint32_t block) { work.step(block, 0, phase); });
        }
      },
      storage);
  const faults found = compare(work, 3);
  EXPECT_NE(found.wrong_values, 0u);
  EXPECT_EQ(found.wrong_runs, 0u);
}
#endif

}  // namespace
}  // namespace gpusync
