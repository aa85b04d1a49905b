// The operations of the papers by name, and how an operation is announced to those who help.
#pragma once

#include <gpusync/rmw/words.hpp>

namespace gpusync::rmw {

/// CUDA's atomic operations, which are those of Hagen, Ha and Anshus (item H7).
enum class operation_kind : uint32_t {
  add,               ///< old + operand, modulo 2^bits
  subtract,          ///< old - operand
  exchange,          ///< operand
  minimum,           ///< the lesser; of a NaN and a number: the old value
  maximum,           ///< the greater; likewise
  increment,         ///< old >= operand ? 0 : old + 1
  decrement,         ///< old <= 0 || old > operand ? operand : old - 1
  compare_exchange,  ///< old has the bits of expected ? operand : old
};

/// The name of an operation as it stands in results.
GPUSYNC_HD constexpr const char* to_string(operation_kind kind) {
  switch (kind) {
    case operation_kind::add: return "ADD";
    case operation_kind::subtract: return "SUB";
    case operation_kind::exchange: return "EXCH";
    case operation_kind::minimum: return "MIN";
    case operation_kind::maximum: return "MAX";
    case operation_kind::increment: return "INC";
    case operation_kind::decrement: return "DEC";
    case operation_kind::compare_exchange: return "CAS";
  }
  return "?";
}

namespace detail {

/// The type in which T is added: integers without a sign, for overflow is to wrap; floating point as it is.
template <class T>
struct added_as {
  using type = T;
};
template <>
struct added_as<int32_t> {
  using type = uint32_t;
};
template <>
struct added_as<int64_t> {
  using type = uint64_t;
};

template <class T>
struct is_floating {
  static constexpr bool value = false;
};
template <>
struct is_floating<float> {
  static constexpr bool value = true;
};
template <>
struct is_floating<double> {
  static constexpr bool value = true;
};

template <class T>
GPUSYNC_HD bool same_bits(const T& one, const T& other) {
  uint32_t a[words_of<T>];
  uint32_t b[words_of<T>];
  split(one, a);
  split(other, b);
  bool same = true;
  for (uint32_t i = 0; i < words_of<T>; ++i) same = same && a[i] == b[i];
  return same;
}

}  // namespace detail

/// One of CUDA's atomic operations on an int32_t, uint32_t, int64_t, uint64_t, float or double: a function of the old
/// value, which it maps to the new one.
template <class T>
struct named_operation {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "named operations are for numbers of 32 and 64 bits");

  T operand{};                                ///< see operation_kind
  T expected{};                               ///< of compare_exchange
  operation_kind kind = operation_kind::add;  ///< what it does with them

  /// `expected`: for compare_exchange.
  GPUSYNC_HD static named_operation make(operation_kind kind, T operand, T expected = T{}) {
    named_operation made;
    made.operand = operand;
    made.expected = expected;
    made.kind = kind;
    return made;
  }

  /// The new value.
  GPUSYNC_HD T operator()(T old) const {
    using sum = typename detail::added_as<T>::type;
    switch (kind) {
      case operation_kind::add: return static_cast<T>(static_cast<sum>(old) + static_cast<sum>(operand));
      case operation_kind::subtract: return static_cast<T>(static_cast<sum>(old) - static_cast<sum>(operand));
      case operation_kind::exchange: return operand;
      case operation_kind::minimum: return operand < old ? operand : old;
      case operation_kind::maximum: return old < operand ? operand : old;
      case operation_kind::increment:
        return old >= operand ? T{} : static_cast<T>(static_cast<sum>(old) + static_cast<sum>(1));
      case operation_kind::decrement:
        return old <= T{} || old > operand ? operand : static_cast<T>(static_cast<sum>(old) - static_cast<sum>(1));
      case operation_kind::compare_exchange: return detail::same_bits(old, expected) ? operand : old;
    }
    return old;
  }
};

/// How an Operation travels from the one who announces it to those who help: as `words` words of 32 bits and a code of
/// 8. Of an operation with code `c` only the first `words_with(c)` are announced and read; `common_words` are read of
/// every announcement before its code is known. May be specialized for operations that seldom need all their bytes.
template <class Operation>
struct wire {
  static constexpr uint32_t words = words_of<Operation>;  ///< of an operation of any code, at most
  static constexpr uint32_t common_words = words;         ///< of every operation; at least 1
  /// Whether some operations are additions, which a whole warp applies at once; see the specialization below.
  static constexpr bool has_sums = false;

  /// Words of an operation of this code, from common_words to words.
  GPUSYNC_HD static constexpr uint32_t words_with(uint32_t) { return words; }
  /// The code of an operation, below 2^8.
  GPUSYNC_HD static uint32_t code(const Operation&) { return 0; }
  /// Writes an operation as words, `words` of them whatever its code.
  GPUSYNC_HD static void put(const Operation& operation, uint32_t* to) { split(operation, to); }
  /// The operation of this code and of the words that put() has written, of which those behind words_with(code) may be
  /// anything.
  GPUSYNC_HD static Operation get(uint32_t, const uint32_t* from) { return joined<Operation>(from); }
};

/// The code is the kind; the expected value travels with compare_exchange only.
template <class T>
struct wire<named_operation<T>> {
  static constexpr uint32_t common_words = words_of<T>;
  static constexpr uint32_t words = 2 * common_words;
  /// Sums of floating-point numbers depend on their order, so those are applied one after the other.
  static constexpr bool has_sums = !detail::is_floating<T>::value;
  using sum = typename detail::added_as<T>::type;

  GPUSYNC_HD static constexpr uint32_t words_with(uint32_t code) {
    return code == static_cast<uint32_t>(operation_kind::compare_exchange) ? words : common_words;
  }
  GPUSYNC_HD static uint32_t code(const named_operation<T>& operation) { return static_cast<uint32_t>(operation.kind); }
  GPUSYNC_HD static void put(const named_operation<T>& operation, uint32_t* to) {
    split(operation.operand, to);
    split(operation.expected, to + common_words);
  }
  GPUSYNC_HD static named_operation<T> get(uint32_t code, const uint32_t* from) {
    const bool whole = words_with(code) == words;
    return named_operation<T>::make(static_cast<operation_kind>(code), joined<T>(from),
                                    whole ? joined<T>(from + common_words) : T{});
  }

  GPUSYNC_HD static constexpr bool is_sum(uint32_t code) {
    return code == static_cast<uint32_t>(operation_kind::add) ||
           code == static_cast<uint32_t>(operation_kind::subtract);
  }
  /// What an addition adds.
  GPUSYNC_HD static sum amount(uint32_t code, const uint32_t* from) {
    const sum operand = static_cast<sum>(joined<T>(from));
    return code == static_cast<uint32_t>(operation_kind::add) ? operand : static_cast<sum>(sum{} - operand);
  }
};

}  // namespace gpusync::rmw
