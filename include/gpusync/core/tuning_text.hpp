// The text that tables of measured choices are kept in: what `gpusync tune` writes.
#pragma once

#include <algorithm>
#include <cctype>
#include <istream>
#include <sstream>
#include <string>

#include <gpusync/core/error.hpp>

namespace gpusync::detail {

/// A number without a sign: a stream would wrap -65535 to 1.
template <class Number>
bool read_number(std::istream& words, Number& number) {
  return (words >> std::ws).peek() != '-' && words >> number;
}

/// Whether a line has been read to its end.
inline bool line_ended(std::istream& words) {
  return (words >> std::ws).eof();
}

/// Reads a table: `gpusync-tuning 1`, `device NAME`, then lines that begin with a key; # starts a comment. Calls
/// `rule(key, words, refuse)` for each of these: `words` is what comes behind the key, `refuse(why)` makes what to
/// throw. Returns the device's name. Throws invalid_argument, naming `source` and the line, if the text is no table.
template <class Rule>
std::string read_tuning_text(std::istream& text, const std::string& source, Rule&& rule) {
  if (!text) throw invalid_argument(source + " could not be read.");
  std::string device, line;
  unsigned number = 0;
  bool headed = false;
  while (std::getline(text, line)) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    std::string key;
    if (!(words >> key)) continue;
    const auto refuse = [&](const std::string& why) {
      return invalid_argument(source + ", line " + std::to_string(number) + ": " + why + ".");
    };
    if (!headed) {
      unsigned version = 0;
      if (key != "gpusync-tuning" || !read_number(words, version) || version != 1 || !line_ended(words)) {
        throw refuse("a tuning table begins with `gpusync-tuning 1`");
      }
      headed = true;
    } else if (key == "device") {
      std::getline(words >> std::ws, device);
      while (!device.empty() && std::isspace(static_cast<unsigned char>(device.back()))) device.pop_back();
      // It goes into a header, and onto terminals.
      const auto is_control = [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; };
      if (std::any_of(device.begin(), device.end(), is_control))
        throw refuse("a device's name has no control characters");
    } else if (key == "rule" || key == "reduce" || key == "halo") {
      rule(key, words, refuse);
    } else {
      throw refuse("a line is `device NAME` or `rule …`, for reductions `reduce …`, for halos `halo …`");
    }
  }
  if (!headed) throw invalid_argument(source + " is empty; a tuning table begins with `gpusync-tuning 1`.");
  return device;
}

}  // namespace gpusync::detail
