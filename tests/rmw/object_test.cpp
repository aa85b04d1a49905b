// The wait-free object on host threads: one order of all calls, whatever the policy, the state and the participants.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "support/rmw_crews.hpp"
#include "workloads/rivals/atomic_word.hpp"

namespace gpusync {
namespace {

using rmw::publication;

/// Each of N participants adds 1 many times.
template <uint32_t N, class Consensus>
void count_up(uint32_t calls) {
  using machine = test::probed_machine;
  host_rmw_storage<uint32_t, N, Consensus, rmw::named_operation<uint32_t>, machine> storage;
  std::vector<std::vector<uint32_t>> answers(N);
  std::vector<test::access_probe> probes(N);
  test::in_threads(N, [&](uint32_t i) {
    probes[i].pauses = i + 1;
    machine on;
    on.probe = &probes[i];
    auto me = storage.object().join(i, on);
    probes[i].most_accesses = 0;
    for (uint32_t call = 0; call < calls; ++call) answers[i].push_back(me.add(1));
  });
  test::expect_a_chain(answers);
  EXPECT_EQ(storage.state(), N * calls);
  uint64_t most = 0;
  uint32_t passes = 0;
  for (const test::access_probe& probe : probes) {
    most = std::max(most, probe.most_accesses);
    passes = std::max(passes, probe.most_passes);
  }
  using object = typename decltype(storage)::object_type;
  EXPECT_LE(passes, object::max_passes);
  EXPECT_LE(most, object::max_steps);
  ::testing::Test::RecordProperty("passes", static_cast<int>(passes));
  ::testing::Test::RecordProperty("accesses", static_cast<int>(most));
  std::printf("N=%u %s: passes %u of %u, accesses %llu of %llu\n", N, Consensus::name, passes, object::max_passes,
              static_cast<unsigned long long>(most), static_cast<unsigned long long>(object::max_steps));
}

TEST(RmwObject, CountsUpWithCompareAndSwap) {
  count_up<1, rmw::cas<>>(test::scaled(1000));
  count_up<2, rmw::cas<>>(test::scaled(50'000));
  count_up<3, rmw::cas<>>(test::scaled(20'000));
  count_up<5, rmw::cas<>>(test::scaled(10'000));
  count_up<16, rmw::cas<>>(test::scaled(2000));
  count_up<33, rmw::cas<publication::ordered>>(test::scaled(500));
}

TEST(RmwObject, CountsUpWithPatience) {
  count_up<2, rmw::cas<publication::tagged, 16>>(test::scaled(50'000));
  count_up<5, rmw::cas<publication::ordered, 4>>(test::scaled(10'000));
  count_up<132, rmw::cas<publication::tagged, 16>>(test::scaled(100));
}

TEST(RmwObject, CountsUpWithCompareAndSwapOf128Bits) {
  count_up<1, rmw::cas128<>>(test::scaled(1000));
  count_up<2, rmw::cas128<>>(test::scaled(50'000));
  count_up<5, rmw::cas128<publication::ordered>>(test::scaled(10'000));
  count_up<16, rmw::cas128<publication::tagged, 4>>(test::scaled(2000));
}

TEST(RmwObject, CountsUpWithMaskedStores) {
  count_up<1, test::global_store>(test::scaled(1000));
  count_up<2, test::global_store>(test::scaled(20'000));
  count_up<5, test::global_store>(test::scaled(5000));
  count_up<5, test::narrow_store>(test::scaled(5000));
  count_up<16, test::shared_store>(test::scaled(500));
}

/// A state of 64 bytes in which each operation leaves its mark everywhere.
struct large {
  std::array<uint64_t, 8> parts{};
};
struct mark {
  uint64_t by;
  large operator()(large old) const {
    for (uint64_t& part : old.parts) part = part * 3 + by;
    return old;
  }
};

template <class Consensus>
void mark_large_states() {
  constexpr uint32_t participants = 3;
  const uint32_t calls = test::scaled(2000);
  host_rmw_storage<large, participants, Consensus, mark> storage;
  test::in_threads(participants, [&](uint32_t i) {
    auto me = storage.object().join(i);
    for (uint32_t call = 0; call < calls; ++call) {
      const large old = me.apply(mark{i + 1});
      for (const uint64_t part : old.parts) ASSERT_EQ(part, old.parts[0]);
    }
  });
  const large last = storage.state();
  for (const uint64_t part : last.parts) EXPECT_EQ(part, last.parts[0]);
}

TEST(RmwObject, AppliesAnyFunctionToAStateOf64Bytes) {
  mark_large_states<rmw::cas<>>();
  mark_large_states<rmw::cas<publication::ordered, 4>>();
  mark_large_states<test::global_store>();
}

/// A function whose calls can be put back into their order from the answers: appends to a string of base 4.
struct note {
  uint32_t who;
  uint64_t operator()(uint64_t old) const { return (old % (uint64_t{1} << 40)) * 4 + who; }
};

TEST(RmwObject, AnswersAreTheStatesInTheOrderOfTheCalls) {
  constexpr uint32_t participants = 3;
  const uint32_t calls = test::scaled(3000);
  host_rmw_storage<uint64_t, participants, rmw::cas128<>, note> storage(1);
  std::vector<std::pair<uint64_t, uint64_t>> steps[participants];
  test::in_threads(participants, [&](uint32_t i) {
    auto me = storage.object().join(i);
    for (uint32_t call = 0; call < calls; ++call) {
      const uint64_t old = me.apply(note{i + 1});
      steps[i].emplace_back(old, note{i + 1}(old));
    }
  });
  // Every answer but the first is what another call made of its own; each of these is used up once.
  std::vector<uint64_t> made = {1};
  std::vector<uint64_t> got;
  for (const auto& of_one : steps) {
    for (const auto& [old, next] : of_one) {
      got.push_back(old);
      made.push_back(next);
    }
  }
  got.push_back(storage.state());
  std::sort(made.begin(), made.end());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(made, got);
}

/// Participants pass a plain value round: whoever finds its own number in the state owns the value, adds to it, and
/// hands it to the next.
struct pass_on {
  uint32_t from;
  uint32_t to;
  uint32_t operator()(uint32_t old) const { return old == from ? to : old; }
};

template <class Consensus>
void pass_round() {
  constexpr uint32_t participants = 3;
  const uint32_t rounds = test::scaled(300);
  host_rmw_storage<uint32_t, participants, Consensus, pass_on> storage;
  uint64_t value = 0;  // plain: ordered by the object alone
  test::in_threads(participants, [&](uint32_t i) {
    auto me = storage.object().join(i);
    for (uint32_t round = 0; round < rounds; ++round) {
      while (me.apply(pass_on{~0u, 0}) != i) std::this_thread::yield();
      value += i + 1;
      (void)me.apply(pass_on{i, (i + 1) % participants});
    }
  });
  EXPECT_EQ(value, uint64_t{rounds} * 6);
}

TEST(RmwObject, OrderedPublicationHandsOnPlainData) {
  pass_round<rmw::cas<publication::ordered>>();
  pass_round<rmw::cas<publication::ordered, 4>>();
  pass_round<rmw::cas128<publication::ordered>>();
}

template <class Consensus>
void take_part_in_turn() {
  host_rmw_storage<uint32_t, 4, Consensus> storage(100);
  for (uint32_t i = 0; i < 40; ++i) {
    auto me = storage.object().join(i % 3);  // a fresh participant each time, and number 3 never comes
    EXPECT_EQ(me.add(1), 100 + 2 * i);
    EXPECT_EQ(me.add(1), 101 + 2 * i);
  }
  EXPECT_EQ(storage.state(), 180u);
}

TEST(RmwObject, ANumberMayBeTakenOver) {
  take_part_in_turn<rmw::cas<>>();
  take_part_in_turn<rmw::cas<publication::tagged, 2>>();
  take_part_in_turn<rmw::cas128<>>();
  take_part_in_turn<test::global_store>();
  take_part_in_turn<test::shared_store>();
  take_part_in_turn<rivals::hardware>();
}

TEST(RmwObject, BeginsWithTheStateThatItIsGiven) {
  large first;
  first.parts = {1, 2, 3, 4, 5, 6, 7, 8};
  host_rmw_storage<large, 2, rmw::cas<>, mark> storage(first);
  EXPECT_EQ(storage.state().parts, first.parts);
  EXPECT_EQ(storage.object().join(1).apply(mark{1}).parts, first.parts);
  storage.reset();
  EXPECT_EQ(storage.state().parts[7], 0u);
}

TEST(RmwObject, RefusesANumberThatItDoesNotHave) {
  host_rmw_storage<uint32_t, 3> storage;
  EXPECT_NO_THROW((void)storage.object().join(2));
  try {
    (void)storage.object().join(3);
    FAIL();
  } catch (const invalid_argument& refused) {
    EXPECT_STREQ(refused.what(), "There is no participant 3: the object has 3, counted from 0.");
  }
}

TEST(RmwObject, NarrowCellsWearOut) {
  host_rmw_storage<uint32_t, 2, test::narrow_store> storage;
  // As after all rounds but one: participant 0 won the last with its record 1.
  uint64_t* words = storage.object().memory();
  using layout = decltype(storage)::object_type::layout;
  const uint32_t round = 0x7ffffffe;
  reinterpret_cast<uint32_t*>(words)[0] = test::narrow_store::own_cell(round, 1);
  for (uint32_t i = 0; i < layout::record_words; ++i)
    words[layout::record(0, 1) + i] = rmw::detail::tagged(i == 0 ? 5 : 0, round);
  auto me = storage.object().join(1);
  EXPECT_EQ(me.add(1), 5u);
  EXPECT_THROW((void)me.add(1), error);
}

TEST(RmwObject, RoundsOutlastTheirTags) {
  host_rmw_storage<uint32_t, 2> storage;
  uint64_t* words = storage.object().memory();
  using layout = decltype(storage)::object_type::layout;
  const uint64_t round = 0xffff'fffd;
  words[0] = round << 16 | 1;
  for (uint32_t i = 0; i < layout::record_words; ++i) {
    words[layout::record(0, 1) + i] = rmw::detail::tagged(i == 0 ? 5 : 0, static_cast<uint32_t>(round));
  }
  auto me = storage.object().join(0);
  auto other = storage.object().join(1);
  for (uint32_t i = 0; i < 20; ++i) EXPECT_EQ(i % 3 == 0 ? other.add(1) : me.add(1), 5 + i);
  EXPECT_GT(me.known().bits >> 16, uint64_t{0xffff'ffff});
}

// Letters and announcements carry numbers of 24 bits, which come back.
TEST(RmwObject, NumbersOfAnnouncementsMayComeBack) {
  using patient = rmw::cas<publication::tagged, 1>;
  host_rmw_storage<uint32_t, 2, patient> storage;
  using layout = decltype(storage)::object_type::layout;
  uint64_t* words = storage.object().memory();
  for (uint32_t start : {0xfffffdu, 0x7ffffdu}) {
    storage.reset();
    // As after many announcements of participant 1, all done; a response is left that has the number 0, as in a fresh
    // object.
    words[layout::announcement(0, 1)] = rmw::detail::tagged(1, start << 8);
    words[layout::record(0, 0) + layout::numbers + 1] = rmw::detail::tagged(start, 0);
    auto one = storage.object().join(0);
    auto other = storage.object().join(1);
    for (uint32_t i = 0; i < 10; ++i) {
      EXPECT_EQ(one.add(1), 2 * i);
      EXPECT_EQ(other.add(1), 2 * i + 1);  // announces, for it does not know the last round
    }
    EXPECT_NE(rmw::detail::tag_of(words[layout::announcement(0, 1)]) >> 8, start);
  }
}

TEST(RmwObject, TakesTheBytesThatItsContractSays) {
  // 132 participants, a state of 4 bytes.
  using many = host_rmw_object<uint32_t, 132>;
  EXPECT_LT(many::bytes, 32u * 132 * 132 + 90u * 132);
  // 16 warps in shared memory.
  using shared = host_rmw_object<uint32_t, 16, test::shared_store>;
  EXPECT_LT(shared::bytes, 12u * 1024);
}

}  // namespace
}  // namespace gpusync
