// Participants that stop for ever, at every access to memory of a call: the others' calls end, within the bound, and
// all answers still fit into one order.
#include <gtest/gtest.h>

#include <optional>

#include "models/linearizability.hpp"
#include "support/rmw_crews.hpp"

namespace gpusync {
namespace {

using crash_operation = rmw::named_operation<uint32_t>;
using call = tool::recorded_call<crash_operation, uint32_t>;

/// `Victims` of N participants stop at access `at` of their call number `in`; the others make all their calls.
template <uint32_t N, class Consensus>
class crash_case {
 public:
  crash_case(uint32_t victims, uint32_t in, uint64_t at) : victims_(victims), in_(in), at_(at) {}

  /// Whether a victim has come to that access.
  bool run(bool returns) {
    test::in_threads(N, [&](uint32_t i) { take_part(i, returns); });
    std::vector<call> all;
    for (const auto& of_one : calls_) all.insert(all.end(), of_one.begin(), of_one.end());
    const auto perform = [](uint32_t& state, const call& made) {
      const bool right = !made.ended || made.answer == state;
      state = made.operation(state);
      return right;
    };
    tool::linearizability<uint32_t, call> search;
    EXPECT_TRUE(search.holds(0, all, perform)) << "stopped at access " << at_ << " of call " << in_;
    return crashes_ != 0;
  }

 private:
  using machine = test::probed_machine;
  using object = host_rmw_object<uint32_t, N, Consensus, crash_operation, machine>;
  static constexpr uint32_t calls_each = 4;
  /// A participant is not assigned to, so who comes back is made anew in its place.
  struct joined {
    joined(const object& of, uint32_t self, const machine& on) : own(of.join(self, on)) {}
    typename object::participant own;
  };

  void take_part(uint32_t self, bool returns) {
    test::access_probe probe;
    machine on;
    on.probe = &probe;
    std::optional<joined> me;
    me.emplace(storage_.object(), self, on);
    probe.most_accesses = 0;
    for (uint32_t i = 0; i < calls_each; ++i) {
      probe.crash_at = self < victims_ && i == in_ ? at_ : 0;
      call made;
      made.operation = crash_operation::make(rmw::operation_kind::add, uint32_t{1} << 6 * self);
      made.ended = false;
      made.begin = clock_.fetch_add(1);
      try {
        made.answer = me->own.apply(made.operation);
        made.ended = true;
        made.end = clock_.fetch_add(1);
      } catch (const test::crashed&) {
        crashes_.fetch_add(1);
      }
      calls_[self].push_back(made);
      if (made.ended) continue;
      if (!returns) return;
      probe.crash_at = 0;
      me.emplace(storage_.object(), self, on);
      probe.accesses = 0;
    }
    EXPECT_LE(probe.most_accesses, object::max_steps);
    EXPECT_LE(probe.most_passes, object::max_passes);
  }

  const uint32_t victims_;
  const uint32_t in_;
  const uint64_t at_;
  host_rmw_storage<uint32_t, N, Consensus, crash_operation, machine> storage_;
  std::vector<call> calls_[N];
  std::atomic<uint64_t> clock_{0};
  std::atomic<uint32_t> crashes_{0};
};

/// Every number of victims, each of their calls, every access of it.
template <uint32_t N, class Consensus>
void stop_everywhere() {
  uint32_t cases = 0;
  for (uint32_t victims = 1; victims < N; ++victims) {
    for (const bool returns : {false, true}) {
      for (uint32_t in = 0; in < 3; ++in) {
        // The first call may be shorter than a later one that meets others: stop only well behind the longest.
        uint32_t missed = 0;
        for (uint64_t at = 1; missed < 5; ++at) {
          ++cases;
          crash_case<N, Consensus> made(victims, in, at);
          missed = made.run(returns) ? 0 : missed + 1;
          ASSERT_FALSE(::testing::Test::HasFailure());
        }
      }
    }
  }
  std::printf("%u participants, %s: %u cases\n", N, Consensus::name, cases);
}

TEST(RmwCrashes, OthersGoOnWithCompareAndSwap) {
  stop_everywhere<2, rmw::cas<>>();
  stop_everywhere<3, rmw::cas<rmw::publication::ordered, 2>>();
  stop_everywhere<5, rmw::cas<>>();
}

TEST(RmwCrashes, OthersGoOnWithCompareAndSwapOf128Bits) {
  stop_everywhere<2, rmw::cas128<>>();
  stop_everywhere<4, rmw::cas128<>>();
}

TEST(RmwCrashes, OthersGoOnWithMaskedStores) {
  stop_everywhere<2, test::global_store>();
  stop_everywhere<5, test::global_store>();
}

// A crashed participant's operation takes place once at most, though helpers may find it announced for ever.
TEST(RmwCrashes, WhatWasAnnouncedIsDoneOnceAtMost) {
  using machine = test::probed_machine;
  using storage_type = host_rmw_storage<uint32_t, 2, rmw::cas<>, crash_operation, machine>;
  for (uint64_t at = 1; at < 30; ++at) {
    storage_type storage;
    test::access_probe probe;
    machine on;
    on.probe = &probe;
    auto survivor = storage.object().join(1);
    auto victim = storage.object().join(0, on);
    (void)survivor.add(1);  // so that the victim's first attempt fails, and it announces
    probe.crash_at = at;
    bool ended = true;
    try {
      (void)victim.add(1000);
    } catch (const test::crashed&) {
      ended = false;
    }
    for (uint32_t i = 0; i < 10; ++i) (void)survivor.add(1);
    const uint32_t state = storage.state();
    EXPECT_TRUE(state == 1011 || (!ended && state == 11)) << state << " after a stop at access " << at;
  }
}

}  // namespace
}  // namespace gpusync
