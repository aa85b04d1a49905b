// Every operation on every type, under every policy, against what the operations' definitions say.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "support/rmw_machines.hpp"
#include "workloads/rivals/atomic_word.hpp"

namespace gpusync {
namespace {

using rmw::operation_kind;

constexpr operation_kind all_kinds[] = {
    operation_kind::add,     operation_kind::subtract,  operation_kind::exchange,  operation_kind::minimum,
    operation_kind::maximum, operation_kind::increment, operation_kind::decrement, operation_kind::compare_exchange};

/// Written a second time, and in another way: integers in 128 bits and then cut.
template <class T>
T expected_of(operation_kind kind, T old, T operand, T expected) {
  const auto same_bits = [](T one, T other) { return std::memcmp(&one, &other, sizeof(T)) == 0; };
  const auto sum = [](T one, T other, int sign) {
    if constexpr (std::is_floating_point_v<T>) {
      return sign > 0 ? one + other : one - other;
    } else {
      __extension__ using exact = __int128;
      return static_cast<T>(static_cast<exact>(one) + sign * static_cast<exact>(other));
    }
  };
  switch (kind) {
    case operation_kind::add: return sum(old, operand, 1);
    case operation_kind::subtract: return sum(old, operand, -1);
    case operation_kind::exchange: return operand;
    case operation_kind::minimum: return std::isnan(static_cast<double>(operand)) ? old : std::min(old, operand);
    case operation_kind::maximum: return std::isnan(static_cast<double>(operand)) ? old : std::max(old, operand);
    case operation_kind::increment: return old >= operand ? T{0} : sum(old, T{1}, 1);
    case operation_kind::decrement: return old <= T{0} || old > operand ? operand : sum(old, T{1}, -1);
    case operation_kind::compare_exchange: return same_bits(old, expected) ? operand : old;
  }
  return old;
}

template <class T>
std::vector<T> values_of_interest() {
  using limits = std::numeric_limits<T>;
  std::vector<T> values = {
      T{0}, T{1}, T{2}, T{7}, T{100}, limits::max(), limits::lowest(), static_cast<T>(limits::max() - 1)};
  if constexpr (std::is_signed_v<T>) values.insert(values.end(), {T{-1}, T{-2}, T{-100}});
  if constexpr (std::is_floating_point_v<T>) {
    values.insert(values.end(), {T{0.5}, -T{0}, limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                                 limits::denorm_min(), T{0.125}});
  }
  return values;
}

/// Walks operations and values, and compares each answer and each state with the definition.
template <class T, class Policy>
void walk() {
  const std::vector<T> values = values_of_interest<T>();
  host_rmw_storage<T, 2, Policy> storage(T{3});
  auto me = storage.object().join(0);
  auto other = storage.object().join(1);
  T state = T{3};
  std::mt19937 random(7);
  const auto any = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  const auto same = [](T one, T two) { return std::memcmp(&one, &two, sizeof(T)) == 0 || (one != one && two != two); };
  for (uint32_t i = 0; i < 4000; ++i) {
    const operation_kind kind = all_kinds[i < 800 ? i % 8 : any(8)];
    const T operand = values[any(values.size())];
    const T expected = any(2) == 0 ? state : values[any(values.size())];
    const auto operation = rmw::named_operation<T>::make(kind, operand, expected);
    const T old = any(3) == 0 ? other.apply(operation) : me.apply(operation);
    ASSERT_TRUE(same(old, state)) << to_string(kind) << " returned " << old << " of " << state;
    const T next = expected_of(kind, state, operand, expected);
    state = next;
    ASSERT_TRUE(same(storage.state(), state))
        << to_string(kind) << " " << operand << " of " << old << ": " << storage.state() << ", not " << state;
  }
}

template <class T>
void walk_all() {
  walk<T, rmw::cas<>>();
  walk<T, rmw::cas<rmw::publication::ordered, 2>>();
  walk<T, rmw::cas128<>>();
  walk<T, test::global_store>();
  walk<T, rivals::hardware>();
  walk<T, rivals::cas_loop>();
}

TEST(RmwOperations, AreAsDefinedOnInt32) {
  walk_all<int32_t>();
}
TEST(RmwOperations, AreAsDefinedOnUint32) {
  walk_all<uint32_t>();
}
TEST(RmwOperations, AreAsDefinedOnInt64) {
  walk_all<int64_t>();
}
TEST(RmwOperations, AreAsDefinedOnUint64) {
  walk_all<uint64_t>();
}
TEST(RmwOperations, AreAsDefinedOnFloat) {
  walk_all<float>();
}
TEST(RmwOperations, AreAsDefinedOnDouble) {
  walk_all<double>();
}

TEST(RmwOperations, HaveNamesOfTheirOwn) {
  host_rmw_storage<uint32_t, 1> storage(10);
  auto me = storage.object().join(0);
  EXPECT_EQ(me.add(5), 10u);
  EXPECT_EQ(me.subtract(1), 15u);
  EXPECT_EQ(me.minimum(12), 14u);
  EXPECT_EQ(me.maximum(13), 12u);
  EXPECT_EQ(me.increment(13), 13u);  // wraps at its limit
  EXPECT_EQ(me.decrement(9), 0u);    // and so does this
  EXPECT_EQ(me.exchange(4), 9u);
  EXPECT_EQ(me.compare_exchange(5, 6), 4u);
  EXPECT_EQ(me.compare_exchange(4, 6), 4u);
  EXPECT_EQ(storage.state(), 6u);
}

TEST(RmwOperations, CompareExchangeComparesBits) {
  host_rmw_storage<float, 1> storage(-0.0f);
  auto me = storage.object().join(0);
  (void)me.compare_exchange(0.0f, 1.0f);
  EXPECT_TRUE(std::signbit(storage.state()));
  (void)me.compare_exchange(-0.0f, 2.0f);
  EXPECT_EQ(storage.state(), 2.0f);
}

}  // namespace
}  // namespace gpusync
