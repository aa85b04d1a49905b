// Which paper items the project repeats, with what, and where: `gpusync coverage`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/document.hpp"

namespace gpusync::tool {

enum class coverage_status { done, partial, missing };

/// "done", "partial" or "missing".
std::string_view to_string(coverage_status status);

/// One item of a paper, and what there is of it here.
struct covered_item {
  std::string id;     ///< "F1"
  std::string paper;  ///< "feng-xiao-2010"
  std::string title;  ///< in one line
  coverage_status status = coverage_status::missing;
  std::vector<std::string> by;       ///< experiments and tests
  std::vector<std::string> devices;  ///< "cuda", "opencl", "host"
  std::optional<std::string> note;   ///< what is there or not, in a few words
};

/// All items, in the papers' order.
struct coverage_list {
  std::vector<covered_item> items;
};

/// The list of coverage.json, in which an item without a status is missing. Throws std::logic_error naming the culprit
/// if something in it makes no sense; a test sees to it that all does.
coverage_list build_coverage();

/// The same from the text of such a file.
coverage_list build_coverage(std::string_view text);

/// {"items": [{"id", "title", "status", "by", "devices", "note"}]}.
json to_json(const coverage_list& coverage);

/// The list for a terminal, with a count of each status; with `color`, ANSI colours.
std::string to_table(const coverage_list& coverage, bool color);

}  // namespace gpusync::tool
