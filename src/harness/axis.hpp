// What an experiment sweeps, and how a user says so on the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpusync::tool {

/// One axis: numbers within bounds, or words.
struct axis {
  std::string name;
  std::string meaning;            ///< one line for `gpusync list` and error messages
  int64_t least = 1, most = 1;    ///< bounds of a numeric axis, inclusive
  bool words = false;             ///< values are words, whose validity depends on the device
  std::string default_text = {};  ///< what is taken if the user names no value, for `gpusync run EXPERIMENT --help`
  bool single = false;            ///< takes one value, however often the axis is named
  bool files = false;             ///< its words name files that are read
  /// Throws usage_error for a word that no device takes; empty if only devices can say.
  std::function<void(const std::string& word)> require_word = nullptr;
};

/// Values that the user chose, by axis name. An axis that is absent takes the experiment's defaults.
struct axis_choice {
  std::map<std::string, std::vector<int64_t>> numbers;
  std::map<std::string, std::vector<std::string>> words;

  /// The chosen numbers, or `defaults` if there are none.
  std::vector<int64_t> numbers_or(const std::string& name, std::vector<int64_t> defaults) const;
};

/// Parses "blocks=1,2,4", "blocks=1:132:10" (from 1 to at most 132 in steps of 10), "elements=2^16:2^26" (powers of
/// two) and "method=cg,graph" against the axes that an experiment has, and adds the values to `choice`, duplicates
/// dropped, order kept. Throws usage_error naming the culprit and what is allowed.
void parse_axis(const std::string& text, const std::vector<axis>& axes, axis_choice& choice);

}  // namespace gpusync::tool
