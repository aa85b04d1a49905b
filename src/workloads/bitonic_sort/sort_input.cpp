#include "workloads/bitonic_sort/sort_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

namespace {

/// SplitMix64 (Steele, Lea and Flood 2014): a random-looking word for each index.
uint64_t mixed(uint64_t index) {
  uint64_t word = (index + 1) * 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

template <class Bits>
constexpr key_order order_of(const std::string& kind) {
  constexpr Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
  if (kind == "uint") return {0, 0};
  if (kind == "int") return {0, sign};
  return {static_cast<Bits>(~sign), sign};
}

/// Keys that are likely to be mistreated, as bits.
template <class Bits, class Float>
std::vector<Bits> special_keys(const std::string& kind) {
  if (kind != "float") {
    const Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
    return {0, 1, static_cast<Bits>(~Bits{0}), sign, static_cast<Bits>(sign - 1), static_cast<Bits>(sign + 1)};
  }
  using limits = std::numeric_limits<Float>;
  const Float values[] = {limits::quiet_NaN(),
                          -limits::quiet_NaN(),
                          limits::signaling_NaN(),
                          limits::infinity(),
                          -limits::infinity(),
                          Float{0},
                          -Float{0},
                          limits::denorm_min(),
                          -limits::denorm_min(),
                          limits::max(),
                          limits::lowest(),
                          Float{1},
                          Float{-1}};
  std::vector<Bits> keys;
  for (const Float value : values) keys.push_back(std::bit_cast<Bits>(value));
  return keys;
}

/// Asks a question once in a million times.
class seldom_asked {
 public:
  explicit seldom_asked(const std::function<bool()>& interrupted) : interrupted_(interrupted) {}
  void operator()() {
    if (++times_ % (1u << 20) == 0) end_if(interrupted_);
  }

 private:
  const std::function<bool()>& interrupted_;
  uint32_t times_ = 0;
};

template <class Bits, class Float>
std::vector<Bits> make_keys(const sort_problem& problem, const std::string& kind, const key_order& order,
                            const std::function<bool()>& interrupted) {
  const auto count = static_cast<size_t>(problem.count);
  seldom_asked end_if_asked(interrupted);
  std::vector<Bits> keys(count);
  for (size_t i = 0; i < count; ++i) {
    end_if_asked();
    keys[i] = static_cast<Bits>(mixed(i) >> (64 - sizeof(Bits) * 8));
  }
  if (problem.input == "equal") {
    std::fill(keys.begin(), keys.end(), std::bit_cast<Bits>(Float{3}));
  } else if (problem.input == "few") {
    const std::vector<Bits> some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(count, 8)));
    for (size_t i = 0; i < count; ++i) keys[i] = some[mixed(i) % some.size()];
  } else if (problem.input == "special") {
    const std::vector<Bits> some = special_keys<Bits, Float>(kind);
    for (size_t i = 0; i < count; ++i) keys[i] = some[mixed(i) % some.size()];
  } else if (problem.input != "random") {
    std::sort(keys.begin(), keys.end(), [&](Bits a, Bits b) {
      end_if_asked();
      return in_order(a, order) < in_order(b, order);
    });
    if (problem.input == "reversed") std::reverse(keys.begin(), keys.end());
  }
  return keys;
}

template <class Element>
std::vector<uint32_t> words_of(const std::vector<Element>& elements) {
  std::vector<uint32_t> words(elements.size() * (sizeof(Element) / sizeof(uint32_t)));
  if (!words.empty()) std::memcpy(words.data(), elements.data(), words.size() * sizeof(uint32_t));
  return words;
}

template <class Element>
sort_input input_of(std::vector<Element> elements, const key_order& order, const std::function<bool()>& interrupted) {
  sort_input input;
  input.element_bytes = sizeof(Element);
  input.order = order;
  input.count = elements.size();
  input.unsorted = words_of(elements);
  seldom_asked end_if_asked(interrupted);
  std::sort(elements.begin(), elements.end(), [&](const Element& a, const Element& b) {
    end_if_asked();
    return stands_before(in_order(a, order), in_order(b, order));
  });
  input.sorted = words_of(elements);
  return input;
}

}  // namespace

const std::vector<std::string>& sort_types() {
  static const std::vector<std::string> all{"uint32", "int32", "float32", "uint64", "int64", "float64"};
  return all;
}

const std::vector<std::string>& sort_inputs() {
  static const std::vector<std::string> all{"random", "sorted", "reversed", "equal", "few", "special"};
  return all;
}

uint32_t element_bytes_of(const sort_problem& problem) {
  return (problem.type.ends_with("32") ? 4 : 8) * (problem.values ? 2 : 1);
}

sort_input make_sort_input(const sort_problem& problem, const std::function<bool()>& interrupted) {
  const auto known = [](const std::vector<std::string>& all, const std::string& name, const char* what) {
    if (std::find(all.begin(), all.end(), name) != all.end()) return;
    throw invalid_argument(fmt::format("'{}' is no {} of a sort: there are {}.", name, what, fmt::join(all, ", ")));
  };
  known(sort_types(), problem.type, "type");
  known(sort_inputs(), problem.input, "input");
  if (problem.count > most_elements) {
    throw invalid_argument(fmt::format("{} elements cannot be sorted: at most {}.", problem.count, most_elements));
  }
  const std::string kind = problem.type.substr(0, problem.type.size() - 2);
  if (problem.type.ends_with("32")) {
    const key_order order = order_of<uint32_t>(kind);
    const std::vector<uint32_t> keys = make_keys<uint32_t, float>(problem, kind, order, interrupted);
    if (!problem.values) return input_of(keys, order, interrupted);
    std::vector<uint64_t> pairs(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) pairs[i] = uint64_t{keys[i]} << 32 | i;
    return input_of(std::move(pairs), {order.negative << 32, order.all << 32}, interrupted);
  }
  const key_order order = order_of<uint64_t>(kind);
  const std::vector<uint64_t> keys = make_keys<uint64_t, double>(problem, kind, order, interrupted);
  if (!problem.values) return input_of(keys, order, interrupted);
  std::vector<sort_pair> pairs(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) pairs[i] = {keys[i], i};
  return input_of(std::move(pairs), order, interrupted);
}

array_content elements_of(const sort_input& input) {
  const auto not_owned = [](const std::vector<uint32_t>& words) {
    return std::shared_ptr<const void>(std::shared_ptr<const void>(), words.data());
  };
  array_content elements;
  elements.bytes = input.bytes();
  elements.first = not_owned(input.unsorted);
  elements.expected = not_owned(input.sorted);
  return elements;
}

std::shared_ptr<run_data> sorted_result(const sort_input& input, std::shared_ptr<arrays> memory) {
  return std::make_shared<expected_array>(std::move(memory), input.bytes(),
                                          "every element in the place where std::sort puts it");
}

}  // namespace gpusync::tool
