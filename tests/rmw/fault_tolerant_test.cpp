// The fault-tolerant barrier on host threads: blocks that die at every access, that are slow, that die all at once.
#include <gtest/gtest.h>

#include <gpusync/gpusync.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>

#include "06_lost_blocks/report.hpp"
#include "support/refusal.hpp"
#include "support/rmw_crews.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t most_blocks = 8;
using probed_storage = host_fault_tolerant_storage<most_blocks, test::probed_survivor>;
using probed_barrier = probed_storage::barrier_type;

uint64_t members_of(const probed_barrier& barrier) {
  uint64_t mask = 0;
  for (uint32_t i = 0; i < barrier.blocks(); ++i) mask |= uint64_t{barrier.is_member(i) ? 1u : 0u} << i;
  return mask;
}

/// Blocks that write, meet and read, phase after phase. What each sees is compared when all have ended.
class crew_of_survivors {
 public:
  struct death {
    uint32_t block;
    uint32_t phase;
    uint64_t at;  ///< access of the phase, from 1; 0: between arrive() and wait()
  };

  crew_of_survivors(uint32_t blocks, uint32_t phases) : blocks_(blocks), phases_(phases), watch_(blocks) {}

  /// With the deaths as planned, and nobody else removed.
  void run(const std::vector<death>& deaths) {
    seen_.assign(blocks_, {});
    slots_.assign(size_t{2} * blocks_, 0);
    died_.assign(blocks_, false);
    removed_.assign(blocks_, false);
    steps_.assign(blocks_, 0);
    launch(
        host_device{}, {blocks_, 1}, [&](probed_barrier barrier) { take_part(barrier, deaths); }, storage_.barrier());
  }

  bool died(uint32_t block) const { return died_[block]; }
  /// The members of each phase that a block has passed.
  const std::vector<uint64_t>& seen(uint32_t block) const { return seen_[block]; }

  /// All that have passed a phase have seen the same members; members only leave; those who lived are never removed.
  void expect_agreement() {
    std::vector<uint64_t> agreed(phases_, 0);
    uint64_t alive = 0;
    for (uint32_t i = 0; i < blocks_; ++i) {
      EXPECT_FALSE(removed_[i]) << "block " << i << " was removed alive";
      EXPECT_TRUE(died_[i] || seen_[i].size() == phases_) << "block " << i;
      if (!died_[i]) alive |= uint64_t{1} << i;
      EXPECT_LE(steps_[i], probed_barrier::max_steps(blocks_));
      for (size_t phase = 0; phase < seen_[i].size(); ++phase) {
        if (agreed[phase] == 0) agreed[phase] = seen_[i][phase];
        EXPECT_EQ(agreed[phase], seen_[i][phase]) << "block " << i << ", phase " << phase;
      }
    }
    for (size_t phase = 1; phase < phases_; ++phase) EXPECT_EQ(agreed[phase] & ~agreed[phase - 1], 0u);
    EXPECT_EQ(agreed.back(), alive);
  }

 private:
  void take_part(probed_barrier& barrier, const std::vector<death>& deaths) {
    const uint32_t self = host_grid::current().block();
    test::survivor_probe& probe = test::this_survivor;
    probe = {};
    probe.watch = &watch_;
    probe.self = self;
    try {
      for (uint32_t phase = 0; phase < phases_; ++phase) {
        probe.accesses.accesses = 0;
        probe.accesses.crash_at = 0;
        bool waits = true;
        for (const death& of : deaths) {
          if (of.block != self || of.phase != phase) continue;
          probe.accesses.crash_at = of.at;
          waits = of.at != 0;
        }
        // Plain: the barrier alone orders it.
        slots_[phase % 2 * blocks_ + self] = value_of(self, phase);
        barrier.arrive();
        if (!waits) throw test::crashed{};
        if (barrier.wait(timeout(1)) == phase_outcome::removed) {
          removed_[self] = true;
          return;
        }
        probe.known_losses = blocks_ - barrier.members().count;
        seen_[self].push_back(members_of(barrier));
        for (uint32_t i = 0; i < blocks_; ++i) {
          if (!barrier.is_member(i)) continue;
          EXPECT_EQ(slots_[phase % 2 * blocks_ + i], value_of(i, phase));
        }
      }
    } catch (const test::crashed&) {
      died_[self] = true;
      watch_.die(self);
    }
    steps_[self] = probe.accesses.most_accesses;
  }
  static uint64_t value_of(uint32_t block, uint32_t phase) { return uint64_t{phase} << 32 | (block + 1); }

  const uint32_t blocks_;
  const uint32_t phases_;
  test::survivor_watch watch_;
  probed_storage storage_{blocks_};
  std::vector<std::vector<uint64_t>> seen_;
  std::vector<uint64_t> slots_;
  std::vector<char> died_, removed_;
  std::vector<uint64_t> steps_;
};

/// As many accesses as it takes until the first victim lives, and a few more.
void stop_everywhere(uint32_t blocks, const std::function<std::vector<crew_of_survivors::death>(uint64_t at)>& deaths) {
  uint32_t cases = 0;
  for (uint64_t at = 1, missed = 0; missed < 3; ++at, ++cases) {
    crew_of_survivors crew(blocks, 5);
    const auto planned = deaths(at);
    crew.run(planned);
    crew.expect_agreement();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "stopped at access " << at;
    missed = crew.died(planned[0].block) ? 0 : missed + 1;
  }
  std::printf("%u blocks: %u cases\n", blocks, cases);
}

TEST(FaultTolerantBarrier, OthersGoOnWhereverOneStops) {
  for (uint32_t blocks : {2u, 3u, 5u}) {
    stop_everywhere(blocks, [](uint64_t at) { return std::vector<crew_of_survivors::death>{{1, 2, at}}; });
  }
}

TEST(FaultTolerantBarrier, OthersGoOnWhereverOneStopsInTheMiddleOfAnAgreement) {
  // Block 0 dies on its way, and block 1 while the others agree on that.
  for (uint32_t blocks : {3u, 4u}) {
    for (uint32_t phase : {0u, 2u}) {
      stop_everywhere(blocks, [=](uint64_t at) {
        return std::vector<crew_of_survivors::death>{{1, phase, at}, {0, phase, 1}};
      });
    }
  }
}

TEST(FaultTolerantBarrier, ABlockThatDiesAfterItsArrivalIsAMemberOfThatPhase) {
  crew_of_survivors crew(4, 6);
  crew.run({{2, 3, 0}});
  crew.expect_agreement();
  EXPECT_EQ(crew.seen(0), (std::vector<uint64_t>{15, 15, 15, 15, 11, 11}));
}

TEST(FaultTolerantBarrier, ABlockThatDiesBetweenFlagAndCountIsAMemberOfThatPhase) {
  crew_of_survivors crew(4, 6);
  crew.run({{2, 3, 2}});
  crew.expect_agreement();
  EXPECT_EQ(crew.seen(0), (std::vector<uint64_t>{15, 15, 15, 15, 11, 11}));
}

TEST(FaultTolerantBarrier, LosesOneBlockInEachPhaseUntilOneIsLeft) {
  crew_of_survivors crew(8, 9);
  std::vector<crew_of_survivors::death> deaths;
  for (uint32_t i = 0; i < 7; ++i) deaths.push_back({7 - i, i, 1});
  crew.run(deaths);
  crew.expect_agreement();
  EXPECT_EQ(crew.seen(0), (std::vector<uint64_t>{127, 63, 31, 15, 7, 3, 1, 1, 1}));
}

TEST(FaultTolerantBarrier, LosesManyBlocksAtOnce) {
  crew_of_survivors crew(8, 3);
  crew.run({{0, 1, 1}, {1, 1, 1}, {2, 1, 1}, {4, 1, 1}, {5, 1, 1}, {6, 1, 0}, {7, 1, 2}});
  crew.expect_agreement();
  EXPECT_EQ(crew.seen(3), (std::vector<uint64_t>{255, 0xc8, 8}));
}

// Deadlines so short that the living are removed, too, and phases are closed in which nobody is missing.
TEST(FaultTolerantBarrier, SurvivorsAgreeWhoeverIsRemoved) {
  constexpr uint32_t blocks = 4;
  constexpr uint32_t phases = 12;
  uint64_t losses = 0, survivors_seen = 0;
  std::mt19937 random(1);
  for (uint32_t round = 0; round < test::scaled(1000); ++round) {
    probed_storage storage(blocks);
    std::vector<uint64_t> seen[blocks];
    std::atomic<uint64_t> slots[2][blocks] = {};
    bool removed[blocks] = {};
    const uint32_t seed = static_cast<uint32_t>(random());
    launch(
        host_device{}, {blocks, 1},
        [&](probed_barrier barrier) {
          const uint32_t self = host_grid::current().block();
          std::mt19937 own(seed + self);
          test::survivor_probe& probe = test::this_survivor;
          probe = {};
          probe.accesses.pauses = own() | 1;
          probe.accesses.yields = 8;
          for (uint32_t phase = 0; phase < phases; ++phase) {
            slots[phase % 2][self] = phase + 1;
            const timeout patience(own() % 4 == 0 ? own() % 20'000 : own() % 2'000'000);
            if (barrier.arrive_and_wait(patience) == phase_outcome::removed) {
              removed[self] = true;
              EXPECT_EQ(barrier.arrive_and_wait(patience), phase_outcome::removed);
              return;
            }
            seen[self].push_back(members_of(barrier));
            // Later values, too, if this block has been removed without knowing it yet.
            for (uint32_t i = 0; i < blocks; ++i) {
              EXPECT_TRUE(!barrier.is_member(i) || slots[phase % 2][i].load() >= phase + 1);
            }
          }
        },
        storage.barrier());
    uint64_t agreed[phases] = {};
    for (uint32_t i = 0; i < blocks; ++i) {
      EXPECT_EQ(seen[i].size() == phases, !removed[i]);
      for (size_t phase = 0; phase < seen[i].size(); ++phase) {
        if (agreed[phase] == 0) agreed[phase] = seen[i][phase];
        ASSERT_EQ(agreed[phase], seen[i][phase]) << "round " << round << ", block " << i << ", phase " << phase;
        ASSERT_NE(agreed[phase] >> i & 1, 0u);
      }
      // Nobody is among the members who did not come.
      for (size_t phase = seen[i].size() + 1; phase < phases; ++phase) ASSERT_EQ(agreed[phase] >> i & 1, 0u);
      losses += removed[i] ? 1 : 0;
      survivors_seen += removed[i] ? 0 : 1;
    }
    ASSERT_NE(agreed[phases - 1], 0u) << "somebody is always left";
  }
  std::printf("%llu removed, %llu survived\n", static_cast<unsigned long long>(losses),
              static_cast<unsigned long long>(survivors_seen));
  EXPECT_GT(losses, 10u);
  EXPECT_GT(survivors_seen, 10u);
}

TEST(FaultTolerantBarrier, ASlowBlockLearnsThatItWasRemoved) {
  host_fault_tolerant_storage<3> storage;
  for (const bool arrives_first : {false, true}) {
    std::atomic<bool> lost{false};
    phase_outcome slow = phase_outcome::passed;
    launch(
        host_device{}, {3, 1},
        [&](host_fault_tolerant_barrier<3> barrier) {
          if (host_grid::current().block() == 1) {
            if (arrives_first) barrier.arrive();
            while (!lost.load()) std::this_thread::yield();
            slow = arrives_first ? barrier.wait(10s) : barrier.arrive_and_wait(10s);
            // It has passed phase 0 if it was the last to arrive there, and so need not look any more.
            if (arrives_first && slow == phase_outcome::passed) slow = barrier.arrive_and_wait(10s);
            return;
          }
          uint32_t phases = 0;
          while (barrier.is_member(1)) {
            ASSERT_NE(barrier.arrive_and_wait(phases == 0 && arrives_first ? 10s : 500ms), phase_outcome::removed);
            ++phases;
          }
          EXPECT_EQ(phases, arrives_first ? 2u : 1u);
          lost = true;
          for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(barrier.arrive_and_wait(10s), phase_outcome::passed);
        },
        storage.barrier());
    EXPECT_EQ(slow, phase_outcome::removed);
  }
}

TEST(FaultTolerantBarrier, WithoutFaultsIsABarrierOfAllThreads) {
  constexpr uint32_t blocks = 3, threads = 2;
  const uint32_t phases = test::scaled(1000);
  host_fault_tolerant_storage<40> storage(blocks);
  for (uint32_t launches = 0; launches < 2; ++launches) {
    uint32_t slots[2][blocks][threads] = {};
    launch(
        host_device{}, {blocks, threads},
        [&](host_fault_tolerant_barrier<40> barrier) {
          const host_grid grid = host_grid::current();
          for (uint32_t phase = 0; phase < phases; ++phase) {
            slots[phase % 2][grid.block()][grid.thread()] = phase;
            ASSERT_EQ(barrier.arrive_and_wait(100s), phase_outcome::passed);
            for (const auto& of_block : slots[phase % 2]) {
              for (const uint32_t slot : of_block) ASSERT_EQ(slot, phase);
            }
          }
          EXPECT_EQ(barrier.phase(), phases);
          EXPECT_EQ(barrier.members().epoch, 0u);
          EXPECT_EQ(barrier.members().count, blocks);
        },
        storage.barrier());
  }
}

TEST(FaultTolerantBarrier, TellsAllThreadsOfABlockWhoIsLeft) {
  constexpr uint32_t blocks = 70;  // three words of bits
  host_fault_tolerant_storage<96> storage(blocks);
  const auto dies = [](uint32_t block) { return block % 7 == 3 || block == 31 || block == 32 || block == 69; };
  uint32_t left = 0;
  for (uint32_t i = 0; i < blocks; ++i) left += dies(i) ? 0 : 1;
  std::atomic<uint32_t> told{0};
  launch(
      host_device{}, {blocks, 2},
      [&](host_fault_tolerant_barrier<96> barrier) {
        const uint32_t self = host_grid::current().block();
        ASSERT_EQ(barrier.members().rank, self);
        ASSERT_EQ(barrier.arrive_and_wait(100s), phase_outcome::passed);
        if (dies(self)) return;
        // The dead have all left by then, or are on their way to it without coming here.
        const phase_outcome outcome = barrier.arrive_and_wait(3s);
        ASSERT_EQ(outcome, phase_outcome::members_lost);
        const survivors now = barrier.members();
        EXPECT_EQ(now.epoch, 1u);
        EXPECT_EQ(now.count, left);
        EXPECT_EQ(barrier.count_before(), blocks);
        uint32_t rank = 0;
        for (uint32_t i = 0; i < blocks; ++i) {
          EXPECT_EQ(barrier.is_member(i), !dies(i));
          EXPECT_TRUE(barrier.was_member(i));
          EXPECT_EQ(barrier.rank_before(i), i);
          if (dies(i)) continue;
          EXPECT_EQ(barrier.rank_of(i), rank);
          EXPECT_TRUE(i != self || now.rank == rank);
          ++rank;
        }
        EXPECT_FALSE(barrier.is_member(blocks));
        EXPECT_EQ(barrier.arrive_and_wait(100s), phase_outcome::passed);
        told.fetch_add(1);
      },
      storage.barrier());
  EXPECT_EQ(told.load(), 2 * left);
}

TEST(FaultTolerantBarrier, LosesBlocksThatTheLaunchDoesNotHave) {
  host_fault_tolerant_storage<4> storage;
  launch(
      host_device{}, {3, 1},
      [](host_fault_tolerant_barrier<4> barrier) {
        EXPECT_EQ(barrier.arrive_and_wait(500ms), phase_outcome::members_lost);
        EXPECT_EQ(barrier.members().count, 3u);
        EXPECT_EQ(barrier.arrive_and_wait(100s), phase_outcome::passed);
      },
      storage.barrier());
}

TEST(FaultTolerantBarrier, ThatAllThreadsShareEndsTheLaunch) {
  host_fault_tolerant_storage<4> storage(2);
  host_fault_tolerant_barrier<4> barrier = storage.barrier();
  const std::string said = test::refusal([&] {
    launch(host_device{}, {2, 1}, [&] { (void)barrier.arrive_and_wait(100s); });
  });
  EXPECT_NE(said.find("that all threads share"), std::string::npos) << said;
}

TEST(FaultTolerantBarrier, RefusesWhatItCannotJoin) {
  EXPECT_THROW(host_fault_tolerant_storage<4>(0), invalid_argument);
  EXPECT_NO_THROW(host_fault_tolerant_storage<4>(4));
  try {
    host_fault_tolerant_storage<4> storage(5);
    FAIL();
  } catch (const invalid_argument& refused) {
    EXPECT_STREQ(refused.what(), "A fault-tolerant barrier for up to 4 blocks was asked to join 5.");
  }
  host_fault_tolerant_storage<4> storage(2);
  EXPECT_THROW(
      launch(
          host_device{}, {3, 1}, [](host_fault_tolerant_barrier<4> barrier) { (void)barrier.arrive_and_wait(100s); },
          storage.barrier()),
      invalid_argument);
}

TEST(FaultTolerantBarrier, TakesTheBytesThatItsContractSays) {
  EXPECT_LT(host_fault_tolerant_barrier<132>::bytes(132), 2'700'000u);
  EXPECT_LT(host_fault_tolerant_barrier<32>::bytes(32), 100'000u);
}

// The example's text, with losses at random places.
TEST(FaultTolerantBarrier, ARelaxationSurvivesItsBlocks) {
  using lost_blocks::fate;
  constexpr uint32_t blocks = 6;
  constexpr int width = 14, height = 31, steps = 12;
  using storage_type = host_fault_tolerant_storage<blocks, test::probed_survivor>;
  const std::vector<float> expected = lost_blocks::relaxed_alone(width, height, steps);
  std::mt19937 random(3);
  for (uint32_t round = 0; round < test::scaled(400); ++round) {
    storage_type storage;
    test::survivor_watch watch(blocks);
    std::vector<float> one = lost_blocks::first_plate(width, height), other = one;
    std::vector<lost_blocks::plan> plans(blocks);
    for (uint32_t i = 0; i < blocks - 1; ++i) {
      plans[i] = {static_cast<fate>(random() % 3), static_cast<int>(random() % steps)};  // nobody sleeps
    }
    std::vector<lost_blocks::note> notes(blocks * blocks);
    launch(
        host_device{}, {blocks, 1},
        [&](storage_type::barrier_type barrier) {
          test::survivor_probe& probe = test::this_survivor;
          probe = {};
          probe.watch = &watch;
          probe.self = host_grid::current().block();
          test::counting_losses<storage_type::barrier_type> counted(barrier);
          lost_blocks::relax_with_losses<host_grid>(counted,
                                                    lost_blocks::plate{{one.data(), other.data()}, width, height},
                                                    steps, timeout(1), plans.data(), notes.data(), [] {});
          if (plans[probe.self].what != fate::lives) watch.die(probe.self);
        },
        storage.barrier());
    ASSERT_EQ(one, expected) << "round " << round;
    for (uint32_t i = 0; i < blocks; ++i) {
      EXPECT_EQ(notes[i * blocks + i].told_removed, 0);
      // Who dies after its last arrival is missed only if others were lost in that step.
      const bool may_be_missed = plans[i].what != fate::lives;
      const bool missed = may_be_missed && (plans[i].what == fate::dies_at_work || plans[i].step < steps - 1);
      const bool noted = notes[(blocks - 1) * blocks + i].lost_in != 0;
      EXPECT_TRUE(noted ? may_be_missed : !missed) << "block " << i;
    }
  }
}

}  // namespace
}  // namespace gpusync
