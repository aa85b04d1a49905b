// Votes and sums of grid barriers on host threads.
#include <functional>
#include <random>

#include <gpusync/grid/tuning.hpp>

#include "support/host_barrier_fixture.hpp"

namespace gpusync {
namespace {

using namespace std::chrono_literals;

template <class Algorithm>
class HostVotes : public test::HostBarrierTest<Algorithm> {
 public:
  using barrier = typename test::HostBarrierTest<Algorithm>::barrier;
  using storage = typename test::HostBarrierTest<Algorithm>::storage;

  /// What a block brings to a call: large, so that sums go beyond 2^32.
  static uint32_t brought(uint32_t block, uint32_t call) { return 0x9e3779b9u * (block + 1) + 0x7f4a7c15u * call; }
  static bool says(uint32_t block, uint32_t thread, uint32_t call) {
    return (block * 7 + thread * 3 + call) % 11 < call % 4;
  }

  /// Makes `calls` calls, chosen alike in all blocks, and counts answers that are wrong. Behind each call that orders
  /// data, plain data of all threads is read.
  template <class Barrier>
  static uint64_t wrong_answers(Barrier&& given, launch_shape shape, uint32_t first, uint32_t members, uint32_t calls,
                                uint32_t seed) {
    const auto threads = static_cast<uint32_t>(shape.threads.count());
    std::vector<uint32_t> slots[2] = {std::vector<uint32_t>(size_t{members} * threads),
                                      std::vector<uint32_t>(size_t{members} * threads)};
    std::atomic<uint64_t> wrong{0};
    launch(
        host_device{}, shape,
        [&](std::decay_t<Barrier> b) {
          const auto grid = host_grid::current();
          const uint32_t block = grid.block() - first, thread = grid.thread();
          if (block >= members) return;
          std::minstd_rand random(seed);
          uint32_t ordered = 0;
          for (uint32_t call = 0; call < calls; ++call) {
            const auto kind = static_cast<uint32_t>(random() % 16);
            const bool asks = random() % 2 == 0;
            const bool mine = says(block, thread, call);
            const uint32_t value = thread == 0 ? brought(block, call) : 0xbad;
            uint32_t sum = 0, count = 0;
            for (uint32_t i = 0; i < members; ++i) {
              sum += brought(i, call);
              for (uint32_t t = 0; t < threads; ++t) count += says(i, t, call) ? 1 : 0;
            }
            const bool orders = kind < 9;
            std::vector<uint32_t>& half = slots[ordered % 2];
            if (orders) half[block * threads + thread] = call + 1;
            uint32_t expected = 0, answer = 0;
            switch (kind) {
              case 0: b.sync(); break;
              case 1: {
                auto token = b.arrive();
                b.wait(std::move(token));
                break;
              }
              case 2: answer = b.sync_add(value), expected = sum; break;
              case 3: answer = b.sync_or(mine), expected = count != 0; break;
              case 4: answer = b.sync_count(mine), expected = count; break;
              case 5: {
                auto token = b.arrive_add(value);
                if (asks) b.ask(token);
                answer = b.wait(std::move(token)), expected = sum;
                break;
              }
              case 6: {
                auto token = b.arrive_or(mine);
                if (asks) b.ask(token);
                answer = b.wait(std::move(token)), expected = count != 0;
                break;
              }
              case 7: {
                auto token = b.arrive_count(mine);
                if (asks) b.ask(token);
                const voted<uint32_t> end = b.wait_for(std::move(token), test::HostBarrierTest<Algorithm>::patience);
                answer = end.answer, expected = count;
                if (end.status != wait_status::completed) ++wrong;
                break;
              }
              case 8: {
                const voted<uint32_t> end = b.sync_add_for(value, test::HostBarrierTest<Algorithm>::patience);
                answer = end.answer, expected = sum;
                if (end.status != wait_status::completed) ++wrong;
                break;
              }
              case 9:
              case 10: answer = b.vote_add(value), expected = sum; break;
              case 11: answer = b.vote_or(mine), expected = count != 0; break;
              case 12: answer = b.vote_count(mine), expected = count; break;
              case 13: {
                auto token = b.cast_add(value);
                if (asks) b.ask(token);
                answer = b.wait(std::move(token)), expected = sum;
                break;
              }
              case 14: {
                auto token = b.cast_or(mine);
                if (asks) b.ask(token);
                answer = b.wait(std::move(token)), expected = count != 0;
                break;
              }
              default: {
                const voted<bool> end = b.vote_or_for(mine, test::HostBarrierTest<Algorithm>::patience);
                answer = end.answer, expected = count != 0;
                if (end.status != wait_status::completed) ++wrong;
              }
            }
            if (answer != expected) ++wrong;
            if (orders) {
              for (const uint32_t slot : half) wrong += slot != call + 1 ? 1 : 0;
              ++ordered;
            }
          }
        },
        given);
    return wrong;
  }
};
using voting_types = ::testing::Types<grid::lock_based<ordering::fence>, grid::lock_based<ordering::acquire_release>,
                                      grid::placed_counters<ordering::acquire_release>>;
TYPED_TEST_SUITE(HostVotes, voting_types, test::algorithm_names);

TYPED_TEST(HostVotes, EveryAnswerIsRightInAnyOrderOfCalls) {
  uint32_t seed = 1;
  for (const auto& [blocks, threads] : {std::pair{1u, 1u}, {1u, 3u}, {2u, 1u}, {3u, 2u}, {6u, 1u}, {4u, 4u}}) {
    typename TestFixture::storage memory(blocks);
    for (int launch = 0; launch < 3; ++launch) {
      EXPECT_EQ(TestFixture::wrong_answers(memory.barrier(), {blocks, threads}, 0, blocks, 60, ++seed), 0u)
          << blocks << " x " << threads << ", seed " << seed;
    }
    EXPECT_TRUE(memory.report().empty());
  }
}

TYPED_TEST(HostVotes, BothHalvesWrap) {
  for (const uint32_t first : {0xfff0u, 0xfffdu, 0xfffeu, 0xffffu}) {
    typename TestFixture::storage memory(3, first);
    for (uint32_t seed = 1; seed < 4; ++seed) {
      EXPECT_EQ(TestFixture::wrong_answers(memory.barrier(), {3, 2}, 0, 3, 40, seed), 0u) << first << ", " << seed;
    }
  }
}

/// Sums for each vote from before the carry to behind it: with sums of 0 and of 2^32 - 1, of which the carry makes the
/// other.
TYPED_TEST(HostVotes, TheCarryIsNoPartOfASum) {
  typename TestFixture::storage memory(2, 0xfffc);
  launch(
      host_device{}, {2, 1},
      [&](typename TestFixture::barrier b) {
        for (uint32_t call = 0; call < 40; ++call) {
          const uint32_t mine = call / 2 % 2 == 0 ? 0 : host_grid::current().block() == 0 ? ~0u : 0;
          EXPECT_EQ(call % 3 == 0 ? b.sync_add(mine) : b.vote_add(mine), call / 2 % 2 == 0 ? 0 : ~0u) << call;
        }
      },
      memory.barrier());
}

TYPED_TEST(HostVotes, PartsOfAGridVoteByThemselves) {
  typename TestFixture::storage one(3), other(2);
  EXPECT_EQ(TestFixture::wrong_answers(one.barrier(block_range{1, 3}), {5, 2}, 1, 3, 50, 5), 0u);
  EXPECT_EQ(TestFixture::wrong_answers(other.barrier(block_range{0, 2}), {5, 2}, 0, 2, 50, 6), 0u);
  EXPECT_EQ(TestFixture::wrong_answers(one.barrier(), {2, 2}, 0, 2, 50, 7), 0u);
  EXPECT_EQ(TestFixture::wrong_answers(one.barrier(), {3, 1}, 0, 3, 50, 8), 0u);
}

/// Two barriers' answers come through the same words of the block.
TYPED_TEST(HostVotes, TwoBarriersInTurn) {
  using given = basic_grid_barrier<TypeParam, host_grid>;
  typename TestFixture::storage one(3), two(3);
  std::atomic<int> wrong{0};
  launch(
      host_device{}, {3, 4},
      [&](given a, given b) {
        const uint32_t block = host_grid::current().block();
        for (uint32_t call = 0; call < 200; ++call) {
          wrong += a.vote_add(block + call) != 3 + 3 * call ? 1 : 0;
          wrong += b.vote_add(block * call) != 3 * call ? 1 : 0;
          auto first = a.cast_add(call);
          auto second = b.cast_add(2 * call);
          wrong += a.wait(std::move(first)) != 3 * call ? 1 : 0;
          wrong += b.wait(std::move(second)) != 6 * call ? 1 : 0;
          auto third = a.arrive_add(call);
          a.ask(third);
          wrong += b.vote_add(call + 1) != 3 * call + 3 ? 1 : 0;
          wrong += a.wait(std::move(third)) != 3 * call ? 1 : 0;
        }
      },
      one.barrier(), two.barrier());
  EXPECT_EQ(wrong, 0);
}

TYPED_TEST(HostVotes, NamesTheBlockAndTheCallThatADeadlineMissed) {
  typename TestFixture::storage memory(4);
  std::atomic<int> timed_out{0}, again{0};
  launch(
      host_device{}, {4, 2},
      [&](typename TestFixture::barrier b) {
        b.sync();
        for (int vote = 0; vote < 3; ++vote) EXPECT_EQ(b.sync_add(1), 4u);
        if (host_grid::current().block() == 2) return;
        if (b.vote_add_for(1, 30ms).status == wait_status::timed_out) ++timed_out;
        // From now on all votes say so.
        if (b.sync_or_for(true, 10s).status == wait_status::timed_out) ++again;
        auto token = b.arrive_count(true);
        if (b.wait_for(std::move(token), 10s).status == wait_status::timed_out) ++again;
        if (b.sync_for(10s) == wait_status::timed_out) ++again;
      },
      memory.barrier());
  EXPECT_EQ(timed_out, 6);
  EXPECT_EQ(again, 18);
  ASSERT_EQ(memory.missing(), (std::vector<missing_block>{{2, 4}}));
  EXPECT_TRUE(memory.missing()[0].started);
  EXPECT_THROW(TestFixture::wrong_answers(memory.barrier(), {4, 1}, 0, 4, 5, 1), broken_barrier);
  memory.reset();
  EXPECT_EQ(TestFixture::wrong_answers(memory.barrier(), {4, 1}, 0, 4, 50, 1), 0u);
}

/// The first vote of a launch is two phases: blocks may be missing in either, and in both it is call 0.
TYPED_TEST(HostVotes, NamesTheBlockThatMissedTheFirstVote) {
  for (const bool comes : {false, true}) {
    typename TestFixture::storage memory(3);
    for (int launch = 0; launch < 5; ++launch) {
      EXPECT_EQ(TestFixture::wrong_answers(memory.barrier(), {3, 1}, 0, 3, 20, 9), 0u);
    }
    launch(
        host_device{}, {3, 1},
        [&](typename TestFixture::barrier b) {
          if (host_grid::current().block() == 1) {
            if (comes) (void)b.enter_votes_for(10s);
            return;
          }
          EXPECT_EQ(b.sync_or_for(false, 30ms).status, wait_status::timed_out);
        },
        memory.barrier());
    ASSERT_EQ(memory.missing(), (std::vector<missing_block>{{1, 0}})) << comes;
    EXPECT_EQ(memory.missing()[0].started, comes);
  }
}

/// A block that waited long in a vote of an earlier launch, of the same number, is missing all the same.
TYPED_TEST(HostVotes, AnEarlierLaunchsVotesAreForgotten) {
  typename TestFixture::storage memory(2);
  launch(
      host_device{}, {2, 1},
      [&](typename TestFixture::barrier b) {
        b.enter_votes();
        if (host_grid::current().block() == 0) std::this_thread::sleep_for(30ms);
        EXPECT_EQ(b.sync_add(1), 2u);  // block 1 waits long, and says so
      },
      memory.barrier());
  launch(
      host_device{}, {2, 1},
      [&](typename TestFixture::barrier b) {
        b.enter_votes();
        if (host_grid::current().block() == 1) return;
        EXPECT_EQ(b.sync_add_for(1, 30ms).status, wait_status::timed_out);
      },
      memory.barrier());
  EXPECT_EQ(memory.missing(), (std::vector<missing_block>{{1, 0}}));
}

TYPED_TEST(HostVotes, WithoutADeadlineALossEndsTheLaunch) {
  typename TestFixture::storage memory(2);
  EXPECT_THROW(launch(
                   host_device{}, {2, 1},
                   [&](typename TestFixture::barrier b) {
                     (void)b.sync_add(1);
                     if (host_grid::current().block() == 1) return;
                     EXPECT_EQ(b.vote_add_for(1, 20ms).status, wait_status::timed_out);
                     (void)b.vote_add(1);
                   },
                   memory.barrier()),
               broken_barrier);
}

template <class Algorithm>
std::string refused(const std::function<void(basic_grid_barrier<Algorithm, host_grid>&)>& kernel) {
  host_barrier_storage<Algorithm> memory(1);
  try {
    launch(
        host_device{}, {1, 1}, [&](basic_grid_barrier<Algorithm, host_grid> b) { kernel(b); }, memory.barrier());
  } catch (const invalid_argument& thrown) {
    return thrown.what();
  }
  return "nothing";
}

TYPED_TEST(HostVotes, RefusesWhatBreaksTheContract) {
  using given = basic_grid_barrier<TypeParam, host_grid>;
  const std::string unfinished = misuse_in_words(misuse::unfinished_arrival, 0, 1);
  EXPECT_EQ(refused<TypeParam>([](given& b) {
              [[maybe_unused]] auto token = b.arrive_add(1);
              (void)b.sync_add(1);
            }),
            unfinished);
  EXPECT_EQ(refused<TypeParam>([](given& b) {
              (void)b.vote_or(true);
              [[maybe_unused]] auto token = b.arrive();
              (void)b.vote_or(true);
            }),
            unfinished);
  EXPECT_EQ(refused<TypeParam>([](given& b) {
              [[maybe_unused]] auto token = b.cast_or(true);
              b.sync();
            }),
            unfinished);
  EXPECT_EQ(refused<TypeParam>([](given& b) {
              auto token = b.arrive_add(1);
              (void)b.wait(std::move(token));
              (void)b.wait(std::move(token));
            }),
            misuse_in_words(misuse::spent_token, 0, 0));
  EXPECT_EQ(refused<TypeParam>([](given& b) {
              auto token = b.arrive_add(1);
              [[maybe_unused]] auto moved = std::move(token);
              (void)b.wait(std::move(token));
            }),
            misuse_in_words(misuse::spent_token, 0, 0));
}

TYPED_TEST(HostVotes, RefusesToAskForWhatIsNotUnderWay) {
  using given = basic_grid_barrier<TypeParam, host_grid>;
  EXPECT_EQ(refused<TypeParam>([](given& b) {
              auto token = b.cast_add(1);
              (void)b.wait(std::move(token));
              b.ask(token);
            }),
            misuse_in_words(misuse::spent_token, 0, 0));
  typename TestFixture::storage one(1), two(1);
  EXPECT_THROW(launch(
                   host_device{}, {1, 1},
                   [](given a, given b) {
                     auto token = a.cast_add(1);
                     b.ask(token);
                   },
                   one.barrier(), two.barrier()),
               error);
}

TYPED_TEST(HostVotes, RefusesATokenOfAnotherBarrier) {
  using given = basic_grid_barrier<TypeParam, host_grid>;
  typename TestFixture::storage one(1), two(1);
  EXPECT_THROW(launch(
                   host_device{}, {1, 1},
                   [](given a, given b) {
                     auto token = a.arrive_add(1);
                     (void)b.wait(std::move(token));
                   },
                   one.barrier(), two.barrier()),
               invalid_argument);
}

/// Plans with several counters and copies, also from launch to launch.
TEST(PlannedVotes, EveryAnswerIsRightUnderAnyPlan) {
  using algorithm = grid::placed_counters<ordering::acquire_release>;
  using fixture = HostVotes<algorithm>;
  typename fixture::storage memory(6, 0xfff0);
  uint32_t seed = 0;
  for (const uint16_t sub_counters : {uint16_t{1}, uint16_t{2}, uint16_t{4}, uint16_t{8}}) {
    for (const uint16_t copies : {uint16_t{1}, uint16_t{2}, uint16_t{4}, uint16_t{8}}) {
      if (sub_counters * copies > 8) continue;
      for (const uint16_t partitions : {uint16_t{1}, uint16_t{2}}) {
        for (const uint16_t second_warp : {uint16_t{0}, uint16_t{1}}) {
          const grid::counter_plan plan{sub_counters, copies, partitions, second_warp, 0};
          for (const auto& [blocks, threads] : {std::pair{6u, 2u}, {3u, 1u}, {4u, 9u}}) {
            for (const bool fitted : {false, true}) {
              memory.places().plan = grid::packed_plan::of(plan);
              if (fitted) memory.places().plan = grid::fit(memory.places().plan, blocks, threads, 1);
              EXPECT_EQ(fixture::wrong_answers(memory.barrier(), {blocks, threads}, 0, blocks, 7, ++seed), 0u)
                  << sub_counters << " x " << copies << " x " << partitions << ", " << second_warp << ", seed " << seed;
            }
          }
        }
      }
    }
  }
}

/// Words 10, 11, 14 and 15 of a line are no plan's.
TEST(PlannedVotes, NoPlanHasItsWordWhereVotesAre) {
  for (uint32_t bits = 0; bits < 32; ++bits) {
    const grid::packed_plan plan{bits};
    if (!grid::valid(plan.unpacked())) continue;
    for (const uint32_t votes : {grid::vote_word::first, grid::vote_word::second}) {
      EXPECT_NE(plan.word(), votes);
      EXPECT_NE(plan.word(), votes + 1);
    }
  }
}

}  // namespace
}  // namespace gpusync
