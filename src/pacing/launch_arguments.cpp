#include "pacing/launch_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "number_in.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

constexpr std::array<element_type, 7> array_types = {{{"char", 1, false},
                                                      {"int", 4, false},
                                                      {"uint", 4, false},
                                                      {"long", 8, false},
                                                      {"ulong", 8, false},
                                                      {"float", 4, true},
                                                      {"double", 8, true}}};
constexpr uint64_t most_bytes = uint64_t{1} << 40;

const element_type& type_named(std::string_view name) {
  return *std::ranges::find_if(array_types, [&](const element_type& each) { return name == each.name; });
}

/// "67108864" or "2^26".
std::optional<uint64_t> count_in(std::string_view text) {
  const size_t hat = text.find('^');
  if (hat == std::string_view::npos) return number_in<uint64_t>(text);
  const auto base = number_in<uint64_t>(text.substr(0, hat)), exponent = number_in<uint64_t>(text.substr(hat + 1));
  if (!base || !exponent) return std::nullopt;
  uint64_t power = 1;
  for (uint64_t i = 0; i<*exponent&& * base> 1; ++i) {
    if (power > most_bytes / *base) return std::nullopt;
    power *= *base;
  }
  return *base == 0 && *exponent > 0 ? 0 : power;
}

template <class Value>
std::vector<std::byte> bytes_of(Value value) {
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

/// The value as one of that type.
std::vector<std::byte> element(const element_type& type, double value) {
  return type.bytes == 4 ? bytes_of(static_cast<float>(value)) : bytes_of(value);
}
std::vector<std::byte> element(const element_type& type, uint64_t value) {
  if (type.bytes == 1) return bytes_of(static_cast<uint8_t>(value));
  return type.bytes == 4 ? bytes_of(static_cast<uint32_t>(value)) : bytes_of(value);
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw usage_error(fmt::format(
      "--arg '{}' {}: an array is TYPE[COUNT] or TYPE[COUNT]=START with TYPE char, int, uint, long, ulong, float or "
      "double, COUNT such as 1000 or 2^26, and START a number, index, random or random:BELOW; a scalar is spelled as "
      "in C++: 8192, 8192u, 5l, 5ul, 1.5f, 2.0, true.",
      text, why));
}

/// A number of that type, or nothing if it is none that fits.
std::optional<std::vector<std::byte>> number_of(const element_type& type, const std::string& text) {
  if (type.floating) {
    const auto value = number_in<double>(text);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    if (type.bytes == 4 && std::fabs(*value) > std::numeric_limits<float>::max()) return std::nullopt;
    return element(type, *value);
  }
  if (type.name[0] == 'u') {
    const auto value = number_in<uint64_t>(text);
    if (!value || (type.bytes == 4 && *value > std::numeric_limits<uint32_t>::max())) return std::nullopt;
    return element(type, *value);
  }
  const auto value = number_in<int64_t>(text);
  const int64_t most = type.bytes == 1   ? std::numeric_limits<int8_t>::max()
                       : type.bytes == 4 ? std::numeric_limits<int32_t>::max()
                                         : std::numeric_limits<int64_t>::max();
  if (!value || *value > most || *value < -most - 1) return std::nullopt;
  return element(type, static_cast<uint64_t>(*value));
}

kernel_argument array_argument(const std::string& text, size_t open) {
  kernel_argument array{text, {}, true, 0, array_start::zero, 16, {}};
  const std::string name = text.substr(0, open);
  const auto type = std::ranges::find_if(array_types, [&](const element_type& each) { return name == each.name; });
  if (type == array_types.end()) refuse(text, fmt::format("is of no known type '{}'", name));
  array.type = *type;
  const size_t close = text.find(']', open);
  if (close == std::string::npos) refuse(text, "has no ]");
  const auto count = count_in(std::string_view(text).substr(open + 1, close - open - 1));
  if (!count || *count == 0 || *count > most_bytes / array.type.bytes) {
    refuse(text, "has no count of elements from 1 on, or one beyond 2^40 bytes");
  }
  array.count = *count;
  if (close + 1 == text.size()) return array;
  if (text[close + 1] != '=') refuse(text, "goes on behind ] without =");
  const std::string start = text.substr(close + 2);
  if (start == "index") {
    array.start = array_start::index;
  } else if (start == "random" || start.starts_with("random:")) {
    array.start = array_start::random;
    if (start == "random") return array;
    const auto below = count_in(std::string_view(start).substr(7));
    if (!below || *below == 0) refuse(text, "has no number from 1 on behind random:");
    array.below = *below;
  } else if (const auto value = number_of(array.type, start)) {
    array.start = array_start::constant;
    array.value = *value;
  } else {
    refuse(text, fmt::format("cannot begin with '{}'", start));
  }
  return array;
}

kernel_argument scalar_argument(const std::string& text) {
  kernel_argument scalar{text, {}, false, 0, array_start::zero, 0, {}};
  if (text == "true" || text == "false") {
    scalar.type = {"bool", 1, false};
    scalar.value = bytes_of(static_cast<uint8_t>(text == "true"));
    return scalar;
  }
  std::string digits = text, suffix;
  while (!digits.empty() && std::isalpha(static_cast<unsigned char>(digits.back())) != 0) {
    suffix.insert(suffix.begin(), static_cast<char>(std::tolower(static_cast<unsigned char>(digits.back()))));
    digits.pop_back();
  }
  const bool pointed = digits.find_first_of(".eE") != std::string::npos;
  const char* const name = suffix == "f" && pointed                              ? "float"
                           : suffix.empty() && pointed                           ? "double"
                           : pointed                                             ? nullptr
                           : suffix.empty()                                      ? "int"
                           : suffix == "u"                                       ? "uint"
                           : suffix == "l" || suffix == "ll"                     ? "long"
                           : suffix == "ul" || suffix == "ull" || suffix == "lu" ? "ulong"
                                                                                 : nullptr;
  if (name == nullptr) refuse(text, "is no argument");
  scalar.type = type_named(name);
  const auto value = number_of(scalar.type, digits);
  if (!value) refuse(text, fmt::format("is no {} that fits", scalar.type.name));
  scalar.value = *value;
  return scalar;
}

}  // namespace

dimensions parse_dimensions(const std::string& text, const std::string& option, uint32_t most_yz) {
  std::array<uint32_t, 3> sizes{1, 1, 1};
  size_t begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    const size_t end = std::min(text.find('x', begin), text.size());
    const auto size = number_in<uint32_t>(std::string_view(text).substr(begin, end - begin));
    const uint32_t most = i == 0 ? 0x7fffffffu : most_yz;
    if (!size || *size == 0 || *size > most) break;
    sizes[i] = *size;
    if (end == text.size()) return {sizes[0], sizes[1], sizes[2]};
    begin = end + 1;
  }
  throw usage_error(fmt::format(
      "{} '{}' is no size: it is a number from 1 on, or two or three such as 256x4, the second and third up to {}.",
      option, text, most_yz));
}

std::string to_string(const dimensions& size) {
  if (size.z > 1) return fmt::format("{}x{}x{}", size.x, size.y, size.z);
  return size.y > 1 ? fmt::format("{}x{}", size.x, size.y) : fmt::format("{}", size.x);
}

kernel_argument parse_argument(const std::string& text) {
  const size_t open = text.find('[');
  return open == std::string::npos ? scalar_argument(text) : array_argument(text, open);
}

std::vector<std::byte> start_contents(const kernel_argument& array, uint64_t seed) {
  std::vector<std::byte> contents(array.bytes());
  if (array.start == array_start::zero) return contents;
  std::mt19937_64 generator(seed);
  const auto fill = [&](auto zero) {
    using element_of = decltype(zero);
    element_of constant{};
    if (array.start == array_start::constant) std::memcpy(&constant, array.value.data(), sizeof(constant));
    for (uint64_t i = 0; i < array.count; ++i) {
      const element_of one = array.start == array_start::constant ? constant
                             : array.start == array_start::index  ? static_cast<element_of>(i)
                                                                  : static_cast<element_of>(generator() % array.below);
      std::memcpy(contents.data() + i * sizeof(one), &one, sizeof(one));
    }
  };
  if (array.type.floating) {
    array.type.bytes == 4 ? fill(float{}) : fill(double{});
  } else {
    array.type.bytes == 1 ? fill(uint8_t{}) : array.type.bytes == 4 ? fill(uint32_t{}) : fill(uint64_t{});
  }
  return contents;
}

void require_definition(const std::string& text) {
  const std::string name = text.substr(0, text.find('='));
  const bool right =
      !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
      std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  if (!right) throw usage_error(fmt::format("-D '{}' defines no macro: it takes NAME or NAME=VALUE.", text));
}

std::vector<uint32_t> parse_intervals(const std::string& text) {
  std::vector<uint32_t> intervals;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto every = number_in<uint32_t>(std::string_view(text).substr(begin, end - begin));
    if (!every || *every < 2 || *every > 1u << 30 || std::ranges::find(intervals, *every) != intervals.end()) {
      throw usage_error(fmt::format(
          "--every '{}' is no list of intervals: it takes whole numbers from 2 on, none twice, such as 4,16,64.",
          text));
    }
    intervals.push_back(*every);
    begin = end + 1;
  }
  std::ranges::sort(intervals);
  return intervals;
}

}  // namespace gpusync::tool
