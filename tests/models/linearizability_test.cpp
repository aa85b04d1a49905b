#include "models/linearizability.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace gpusync::tool {
namespace {

/// Calls of a counter: add something and get what was there before.
using call = recorded_call<int, int>;

bool add(int& state, const call& made) {
  const bool right = !made.ended || made.answer == state;
  state += made.operation;
  return right;
}
call ended(int operation, int answer, uint64_t begin, uint64_t end) {
  return {operation, answer, begin, end, true};
}
call pending(int operation, uint64_t begin) {
  return {operation, -1, begin, 0, false};
}
bool holds(const std::vector<call>& calls) {
  return linearizability<int, call>().holds(0, calls, add);
}

TEST(Linearizability, HoldsOfAnEmptyHistory) {
  EXPECT_TRUE(holds({}));
}

TEST(Linearizability, HoldsOfCallsOneAfterTheOther) {
  EXPECT_TRUE(holds({ended(1, 0, 0, 1), ended(1, 1, 2, 3), ended(5, 2, 4, 5), ended(1, 7, 6, 7)}));
}

TEST(Linearizability, FindsAWrongAnswer) {
  EXPECT_FALSE(holds({ended(1, 0, 0, 1), ended(1, 2, 2, 3)}));
}

TEST(Linearizability, OverlappingCallsMayTakePlaceInEitherOrder) {
  EXPECT_TRUE(holds({ended(1, 0, 0, 10), ended(1, 1, 1, 9)}));
  EXPECT_TRUE(holds({ended(1, 1, 0, 10), ended(1, 0, 1, 9)}));
}

TEST(Linearizability, FindsTwoCallsWithTheSameAnswer) {
  EXPECT_FALSE(holds({ended(1, 0, 0, 10), ended(1, 0, 1, 9)}));
}

TEST(Linearizability, FindsACallThatTookPlaceBeforeOneThatHadEndedWhenItBegan) {
  EXPECT_FALSE(holds({ended(1, 1, 0, 1), ended(1, 0, 2, 3)}));
}

TEST(Linearizability, ACallThatBeginsWhenAnotherEndsOverlapsIt) {
  EXPECT_TRUE(holds({ended(1, 1, 0, 2), ended(1, 0, 2, 3)}));
}

TEST(Linearizability, ACallThatHasNotEndedMayHaveTakenPlaceOrNot) {
  EXPECT_TRUE(holds({pending(1, 0), ended(1, 1, 2, 3)}));
  EXPECT_TRUE(holds({pending(1, 0), ended(1, 0, 2, 3)}));
  EXPECT_TRUE(holds({pending(1, 0), ended(1, 0, 2, 3), ended(1, 2, 4, 5)}));
}

TEST(Linearizability, ACallThatHasNotEndedTakesPlaceOnceAtMost) {
  EXPECT_FALSE(holds({pending(1, 0), ended(1, 2, 2, 3)}));
}

TEST(Linearizability, ACallThatHasNotEndedDoesNotTakePlaceBeforeItBegins) {
  EXPECT_FALSE(holds({ended(1, 1, 0, 1), pending(1, 2)}));
}

// Two writers and two readers that see the writes in opposite orders: each reader is right by itself.
TEST(Linearizability, FindsReadersThatDisagree) {
  using access = recorded_call<std::pair<bool, int>, int>;  // whether it writes, and what
  const auto perform = [](int& state, const access& made) {
    if (made.operation.first) {
      state = made.operation.second;
      return true;
    }
    return made.answer == state;
  };
  std::vector<access> calls = {{{true, 1}, 0, 0, 100, true}, {{true, 2}, 0, 0, 100, true}, {{false, 0}, 1, 1, 2, true},
                               {{false, 0}, 2, 3, 4, true},  {{false, 0}, 2, 1, 2, true},  {{false, 0}, 1, 3, 4, true}};
  linearizability<int, access> search;
  EXPECT_FALSE(search.holds(0, calls, perform));
  calls.pop_back();
  EXPECT_TRUE(search.holds(0, calls, perform));
}

TEST(Linearizability, ReturnsTheOrder) {
  const auto order =
      linearizability<int, call>().order_of(0, {ended(1, 2, 0, 9), ended(1, 0, 1, 8), ended(1, 1, 2, 7)}, add);
  ASSERT_TRUE(order);
  EXPECT_EQ(*order, (std::vector<size_t>{1, 2, 0}));
}

TEST(Linearizability, ManyCallsThatOverlapInPairsTakeLittleTime) {
  std::vector<call> calls;
  for (int i = 0; i < 20'000; ++i) {
    const auto begin = static_cast<uint64_t>(i) * 2;
    calls.push_back(ended(1, i ^ 1, begin, begin + 5));
  }
  EXPECT_TRUE(holds(calls));
  calls[10'000].answer = 7;
  EXPECT_FALSE(holds(calls));
}

/// Tries all orders.
bool holds_by_trying(const std::vector<call>& calls) {
  std::vector<size_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    // A call that has not ended may be left out: it is, from wherever it would be wrong on, so try with a prefix mask.
    for (uint32_t left_out = 0; left_out < 1u << calls.size(); ++left_out) {
      bool right = true;
      int state = 0;
      for (size_t i = 0; i < order.size() && right; ++i) {
        const call& made = calls[order[i]];
        if ((left_out >> order[i] & 1) != 0) {
          right = !made.ended;
          continue;
        }
        for (size_t j = i + 1; j < order.size(); ++j) {
          const call& later = calls[order[j]];
          right = right && !((left_out >> order[j] & 1) == 0 && later.ended && later.end < made.begin);
        }
        right = right && add(state, made);
      }
      if (right) return true;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

RC_GTEST_PROP(Linearizability, AgreesWithTryingAllOrders, ())
{
  const size_t count = *rc::gen::inRange<size_t>(0, 5);
  std::vector<call> calls;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = *rc::gen::inRange<uint64_t>(0, 12);
    const auto length = *rc::gen::inRange<uint64_t>(0, 6);
    call made = ended(*rc::gen::inRange(1, 3), *rc::gen::inRange(0, 5), begin, begin + length);
    made.ended = *rc::gen::inRange(0, 4) != 0;
    calls.push_back(made);
  }
  const bool expected = holds_by_trying(calls);
  RC_CLASSIFY(expected, "linearizable");
  RC_ASSERT(holds(calls) == expected);
}

}  // namespace
}  // namespace gpusync::tool
