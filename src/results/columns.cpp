#include "results/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "results/text.hpp"

namespace gpusync::tool {

namespace {

std::string padded(const std::string& text, size_t width, bool left) {
  const size_t used = display_width(text);
  const std::string space(used < width ? width - used : 0, ' ');
  return left ? text + space : space + text;
}

}  // namespace

std::string in_columns(const std::vector<column_line>& lines, bool color) {
  std::vector<size_t> widths;
  for (const column_line& shown : lines) {
    widths.resize(std::max(widths.size(), shown.cells.size()));
    for (size_t i = 0; i < shown.cells.size(); ++i) widths[i] = std::max(widths[i], display_width(shown.cells[i]));
  }
  std::string text;
  for (const column_line& shown : lines) {
    std::string printed;
    for (size_t i = 0; i < shown.cells.size(); ++i) printed += "  " + padded(shown.cells[i], widths[i], i == 0);
    if (!shown.remark.empty()) printed += "  " + shown.remark;
    printed.erase(printed.find_last_not_of(' ') + 1);
    text += color && *shown.style != '\0' ? fmt::format("{}{}\033[0m\n", shown.style, printed) : printed + "\n";
  }
  return text;
}

}  // namespace gpusync::tool
