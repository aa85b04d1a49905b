// Sizes as users have them: of any integer type.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <gpusync/core/error.hpp>

namespace gpusync {

namespace detail {

/// `value`, if it is a number of blocks, threads or bytes. Throws invalid_argument for what is negative or too large.
template <class To, class From>
constexpr To size_from(From value) {
  static_assert(std::is_integral_v<From>, "a size is a whole number");
  if constexpr (std::is_signed_v<From>) {
    if (value >= 0) return size_from<To>(static_cast<std::make_unsigned_t<From>>(value));
    throw invalid_argument("Given was " + std::to_string(static_cast<long long>(value)) +
                           " as a size. Sizes are not negative.");
  } else if (static_cast<uint64_t>(value) > std::numeric_limits<To>::max()) {
    throw invalid_argument("Given was " + std::to_string(static_cast<uint64_t>(value)) + " as a size: at most " +
                           std::to_string(std::numeric_limits<To>::max()) + ".");
  }
  return static_cast<To>(value);
}

}  // namespace detail

/// A number of blocks that a function takes: any integer will do. Throws invalid_argument for a negative one.
class block_count {
 public:
  /// From any integer.
  template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
  constexpr block_count(Number blocks)  // NOLINT(google-explicit-constructor): reads as a number
      : blocks_(detail::size_from<uint64_t>(blocks)) {}
  /// The number.
  constexpr operator uint64_t() const { return blocks_; }  // NOLINT(google-explicit-constructor)

 private:
  uint64_t blocks_;
};

}  // namespace gpusync
