// Workload "rmw calls": the check of the answers passes what an object can answer, and nothing else.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "workloads/rmw_calls/call_script.hpp"

namespace gpusync::tool {
namespace {

using rmw::operation_kind;

const operation_kind all_kinds[] = {
    operation_kind::add,     operation_kind::subtract,  operation_kind::exchange,  operation_kind::minimum,
    operation_kind::maximum, operation_kind::increment, operation_kind::decrement, operation_kind::compare_exchange};
constexpr uint32_t participants = 4, calls = 200;

/// What an answer becomes on its way: `call` counts all calls of all participants.
using distortion = std::function<uint32_t(uint32_t call, uint32_t answer)>;

/// All calls, one after the other, by participants in random order, on an object that is right but for the distortion;
/// returns the number of wrong answers found. `lost`: the call, counted from 0, whose operation does not take place.
template <class T>
uint64_t wrong_found(operation_kind kind, const distortion& distort, uint32_t lost = ~0u) {
  const uint32_t all = participants * calls;
  std::vector<call_script<T>> scripts;
  for (uint32_t self = 0; self < participants; ++self) scripts.emplace_back(kind, self, participants, calls);
  std::vector<uint32_t> made(participants, 0);
  auto state = static_cast<T>(call_script<T>::first_state(kind, all));
  std::mt19937 random(7);
  for (uint32_t call = 0; call < all; ++call) {
    uint32_t self = static_cast<uint32_t>(random()) % participants;
    while (made[self] == calls) self = (self + 1) % participants;
    const auto operation = scripts[self].operation(made[self]++);
    const T answer = state;
    if (call != lost) state = operation(state);
    scripts[self].note(static_cast<T>(distort(call, static_cast<uint32_t>(answer))));
  }
  call_tally sum;
  for (const auto& script : scripts) sum.add(script.tally());
  return check_calls(kind, all, sum, static_cast<uint32_t>(state));
}

uint32_t nothing(uint32_t, uint32_t answer) {
  return answer;
}

TEST(CallScript, PassesWhatIsRight) {
  for (const operation_kind kind : all_kinds) {
    SCOPED_TRACE(to_string(kind));
    EXPECT_EQ(wrong_found<uint32_t>(kind, nothing), 0u);
    EXPECT_EQ(wrong_found<float>(kind, nothing), 0u);
    EXPECT_EQ(wrong_found<double>(kind, nothing), 0u);
  }
}

TEST(CallScript, FindsAnAnswerThatIsOffByOne) {
  for (const operation_kind kind : {operation_kind::add, operation_kind::subtract, operation_kind::exchange,
                                    operation_kind::increment, operation_kind::decrement}) {
    for (const uint32_t call : {1u, 100u, 799u}) {
      SCOPED_TRACE(std::string(to_string(kind)) + " " + std::to_string(call));
      EXPECT_NE(wrong_found<uint32_t>(kind, [&](uint32_t now, uint32_t answer) { return answer + (now == call); }), 0u);
    }
  }
}

TEST(CallScript, FindsAnAnswerThatComesTwice) {
  for (const operation_kind kind : all_kinds) {
    SCOPED_TRACE(to_string(kind));
    uint32_t kept = 0;
    const auto repeats = [&](uint32_t now, uint32_t answer) {
      if (now == 300) kept = answer;
      return now == 500 ? kept : answer;
    };
    EXPECT_NE(wrong_found<uint32_t>(kind, repeats), 0u);
  }
}

TEST(CallScript, FindsAnOperationThatWasLost) {
  for (const operation_kind kind : {operation_kind::add, operation_kind::subtract, operation_kind::exchange,
                                    operation_kind::increment, operation_kind::decrement}) {
    SCOPED_TRACE(to_string(kind));
    EXPECT_NE(wrong_found<uint32_t>(kind, nothing, 400), 0u);
  }
  // The extremes themselves, which come from the last call of all or the one before.
  uint64_t found = 0;
  for (uint32_t call = 0; call < participants * calls; ++call) {
    found += wrong_found<uint32_t>(operation_kind::maximum, nothing, call) != 0;
  }
  EXPECT_GE(found, 1u);
}

TEST(CallScript, FindsASwapThatClaimsToHaveTakenPlace) {
  // An answer that looks like success to its caller, but the state did not change: the next answer repeats the number.
  EXPECT_NE(wrong_found<uint32_t>(operation_kind::compare_exchange, nothing, 0), 0u);
}

TEST(CallScript, FindsTwoAnswersThatWereSwapped) {
  uint32_t first = 0;
  EXPECT_NE(wrong_found<uint32_t>(operation_kind::add,
                                  [&](uint32_t now, uint32_t answer) {
                                    if (now == 0) first = answer;
                                    return now == 0 ? 799u : now == 799 ? first : answer;
                                  }),
            0u);
}

}  // namespace
}  // namespace gpusync::tool
