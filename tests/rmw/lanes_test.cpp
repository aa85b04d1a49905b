// The text of the objects as a warp runs it: several lanes act for one participant.
#include <gtest/gtest.h>

#include "support/rmw_crews.hpp"

namespace gpusync {
namespace {

using rmw::operation_kind;

/// N participants of so many lanes; calls body(participant, number, lane) in each lane.
template <uint32_t N, uint32_t Lanes, class State, class Consensus, class Operation, class Body>
void with_lanes(host_rmw_storage<State, N, Consensus, Operation, test::lanes_machine<Lanes>>& storage, Body&& body) {
  std::array<test::lane_team<Lanes>, N> teams;
  test::in_threads(N * Lanes, [&](uint32_t i) {
    test::lanes_machine<Lanes> on;
    on.team = &teams[i / Lanes];
    on.own = i % Lanes;
    auto me = storage.object().join(i / Lanes, on);
    body(me, i / Lanes, i % Lanes);
  });
}

template <uint32_t N, uint32_t Lanes, class Consensus>
void count_up(uint32_t calls) {
  host_rmw_storage<uint32_t, N, Consensus, rmw::named_operation<uint32_t>, test::lanes_machine<Lanes>> storage;
  std::vector<std::vector<uint32_t>> answers(N * Lanes);
  with_lanes<N, Lanes>(storage, [&](auto& me, uint32_t number, uint32_t lane) {
    for (uint32_t i = 0; i < calls; ++i) answers[number * Lanes + lane].push_back(me.add(1));
  });
  std::vector<std::vector<uint32_t>> of_first_lanes;
  for (uint32_t i = 0; i < N; ++i) {
    for (uint32_t lane = 1; lane < Lanes; ++lane) EXPECT_EQ(answers[i * Lanes], answers[i * Lanes + lane]);
    of_first_lanes.push_back(answers[i * Lanes]);
  }
  test::expect_a_chain(of_first_lanes);
  EXPECT_EQ(storage.state(), N * calls);
}

TEST(RmwLanes, CountUpWithCompareAndSwap) {
  count_up<3, 4, rmw::cas<>>(test::scaled(200));                           // fewer participants than lanes
  count_up<5, 2, rmw::cas<rmw::publication::ordered>>(test::scaled(200));  // several slots in a lane
  count_up<4, 2, rmw::cas<rmw::publication::tagged, 2>>(test::scaled(200));
}

TEST(RmwLanes, CountUpWithCompareAndSwapOf128Bits) {
  count_up<3, 2, rmw::cas128<>>(test::scaled(200));
  count_up<2, 4, rmw::cas128<>>(test::scaled(200));
}

TEST(RmwLanes, CountUpWithMaskedStores) {
  count_up<3, 4, test::global_store>(test::scaled(200));
  count_up<5, 2, test::global_store>(test::scaled(200));
  count_up<6, 2, test::shared_store>(test::scaled(200));
}

/// Pending operations of several kinds, some of them with an expected value: none of these may go the way of sums.
template <class T, class Consensus>
void mix(uint32_t calls) {
  constexpr uint32_t participants = 3;
  constexpr uint32_t lanes = 2;
  using operation = rmw::named_operation<T>;
  host_rmw_storage<T, participants, Consensus, operation, test::lanes_machine<lanes>> storage;
  std::vector<std::pair<T, T>> steps[participants];
  with_lanes<participants, lanes>(storage, [&](auto& me, uint32_t number, uint32_t lane) {
    for (uint32_t i = 0; i < calls; ++i) {
      const uint32_t choice = (i * 7 + number * 3) % 5;
      // Each makes a value that nobody has made before, so the answers can be put into their order.
      const auto next = static_cast<T>(1 + i * participants + number);
      const auto made = choice == 0 ? operation::make(operation_kind::compare_exchange, next, T{1})
                                    : operation::make(operation_kind::exchange, next);
      const T old = me.apply(made);
      if (lane == 0) steps[number].emplace_back(old, made(old));
    }
  });
  std::vector<T> from;
  std::vector<T> to = {T{}};
  for (const auto& of_one : steps) {
    for (const auto& [old, next] : of_one) {
      from.push_back(old);
      to.push_back(next);
    }
  }
  from.push_back(storage.state());
  std::sort(from.begin(), from.end());
  std::sort(to.begin(), to.end());
  EXPECT_EQ(from, to);
}

TEST(RmwLanes, ApplyOperationsOfDifferentKinds) {
  mix<int32_t, rmw::cas<>>(test::scaled(200));
  mix<uint64_t, rmw::cas<>>(test::scaled(200));
  mix<double, rmw::cas128<>>(test::scaled(200));
  mix<float, test::global_store>(test::scaled(200));
}

struct wide_state {
  uint64_t parts[8] = {};
};
struct multiply {
  uint64_t by;
  wide_state operator()(wide_state old) const {
    for (uint64_t& part : old.parts) part = part * 5 + by;
    return old;
  }
};

TEST(RmwLanes, CarryAStateOf64Bytes) {
  host_rmw_storage<wide_state, 3, rmw::cas<>, multiply, test::lanes_machine<2>> storage;
  const uint32_t calls = test::scaled(200);
  with_lanes<3, 2>(storage, [&](auto& me, uint32_t number, uint32_t) {
    for (uint32_t i = 0; i < calls; ++i) {
      const wide_state old = me.apply(multiply{number});
      for (const uint64_t part : old.parts) ASSERT_EQ(part, old.parts[0]);
    }
  });
}

}  // namespace
}  // namespace gpusync
