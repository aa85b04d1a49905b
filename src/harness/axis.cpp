#include "harness/axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "nearest.hpp"
#include "number_in.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

constexpr size_t most_values = 10000;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

struct number {
  int64_t value;
  bool power;  // written as 2^k
};

std::optional<number> parse_number(const std::string& text) {
  if (const auto power = power_of_two_in(text)) return number{*power, true};
  const auto value = number_in<int64_t>(text);
  return value ? std::optional<number>({*value, false}) : std::nullopt;
}

class axis_parser {
 public:
  explicit axis_parser(const axis& which) : axis_(which) {}

  std::vector<int64_t> numbers(const std::string& text) const {
    std::vector<int64_t> values;
    for (const std::string& part : split(text, ',')) {
      const auto bounds = split(part, ':');
      if (bounds.size() == 1) {
        add(values, checked(part).value);
      } else if (bounds.size() <= 3) {
        add_range(values, part, bounds);
      } else {
        fail(part);
      }
    }
    return values;
  }

 private:
  [[noreturn]] void fail(const std::string& culprit) const {
    throw usage_error(fmt::format(
        "Axis {} does not take '{}': it takes whole numbers from {} to {}, as in {}=1,2,4 or {}=FIRST:LAST:STEP or "
        "{}=2^0:2^10.",
        axis_.name, culprit, axis_.least, axis_.most, axis_.name, axis_.name, axis_.name));
  }

  number checked(const std::string& text) const {
    const auto parsed = parse_number(text);
    if (!parsed || parsed->value < axis_.least || parsed->value > axis_.most) fail(text);
    return *parsed;
  }

  void add(std::vector<int64_t>& values, int64_t value) const {
    if (std::find(values.begin(), values.end(), value) != values.end()) return;
    if (values.size() == most_values) {
      throw usage_error(fmt::format("Axis {} was given more than {} values.", axis_.name, most_values));
    }
    values.push_back(value);
  }

  void add_range(std::vector<int64_t>& values, const std::string& part, const std::vector<std::string>& bounds) const {
    const number first = checked(bounds[0]);
    const number last = checked(bounds[1]);
    if (first.value > last.value) {
      throw usage_error(fmt::format("The range {}={} is empty: its first value must not be greater than its last.",
                                    axis_.name, part));
    }
    const bool doubling = first.power && last.power && bounds.size() == 2;
    int64_t step = 1;
    if (bounds.size() == 3) {
      const auto parsed = parse_number(bounds[2]);
      if (!parsed || parsed->value < 1) {
        throw usage_error(
            fmt::format("The range {}={} needs a step of at least 1, not '{}'.", axis_.name, part, bounds[2]));
      }
      step = parsed->value;
    }
    for (int64_t value = first.value;;) {
      add(values, value);
      const int64_t next_step = doubling ? value : step;
      if (last.value - value < next_step) break;
      value += next_step;
    }
  }

  const axis& axis_;
};

/// Throws usage_error if the axis takes one value and got more.
void require_one(const axis& which, size_t values) {
  if (which.single && values > 1) throw usage_error(fmt::format("Axis {} takes one value.", which.name));
}

}  // namespace

std::vector<int64_t> axis_choice::numbers_or(const std::string& name, std::vector<int64_t> defaults) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::move(defaults) : found->second;
}

void parse_axis(const std::string& text, const std::vector<axis>& axes, axis_choice& choice) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw usage_error(fmt::format("An axis is given as NAME=VALUES, as in blocks=1,2,4, not '{}'.", text));
  }
  const std::string name = text.substr(0, equals);
  const std::string values = text.substr(equals + 1);
  const auto which = std::find_if(axes.begin(), axes.end(), [&](const axis& a) { return a.name == name; });
  if (which == axes.end()) {
    std::vector<std::string> names;
    for (const axis& a : axes) names.push_back(a.name);
    throw usage_error(fmt::format("There is no axis '{}': the axes are {}.{}", name, fmt::join(names, ", "),
                                  did_you_mean(name, names)));
  }
  if (which->words) {
    auto& chosen = choice.words[name];
    for (const std::string& word : split(values, ',')) {
      if (word.empty()) throw usage_error(fmt::format("Axis {} was given an empty value in '{}'.", name, text));
      if (which->require_word) which->require_word(word);
      if (std::find(chosen.begin(), chosen.end(), word) == chosen.end()) chosen.push_back(word);
    }
    require_one(*which, chosen.size());
  } else {
    auto& chosen = choice.numbers[name];
    for (const int64_t value : axis_parser(*which).numbers(values)) {
      if (std::find(chosen.begin(), chosen.end(), value) == chosen.end()) chosen.push_back(value);
    }
    require_one(*which, chosen.size());
  }
}

}  // namespace gpusync::tool
