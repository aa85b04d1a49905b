// Numbers that a user has written.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace gpusync::tool {

/// The number that all of `text` is: "132", "1e6" of a floating type. Nothing if it is none of that type.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "2^20", up to "2^62". Nothing if it is not written so.
inline std::optional<int64_t> power_of_two_in(std::string_view text) {
  if (!text.starts_with("2^")) return std::nullopt;
  const auto exponent = number_in<int64_t>(text.substr(2));
  if (!exponent || *exponent < 0 || *exponent > 62) return std::nullopt;
  return int64_t{1} << *exponent;
}

}  // namespace gpusync::tool
