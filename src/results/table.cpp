#include "results/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "results/cells.hpp"
#include "results/context.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

constexpr size_t columns = 6;
using line = std::array<std::string, columns>;

struct table_row {
  line cells;
  std::string remark;
  const char* style = "";  // an ANSI sequence
};

std::string padded(const std::string& text, size_t width, bool left) {
  const size_t used = display_width(text);
  const std::string space(used < width ? width - used : 0, ' ');
  return left ? text + space : space + text;
}

table_row row_of(const row& entry, const row* fastest) {
  const row_cells cells = cells_of(entry, fastest);
  table_row shown{{printable(cells.method, 60), printable(cells.value, 30),
                   cells.spread.empty() ? "" : "±" + cells.spread, cells.samples, cells.ratio, cells.verified},
                  printable(cells.remark),
                  ""};
  if (&entry == fastest) {
    shown.style = "\033[1;32m";
  } else if (entry.status == row_status::failed || entry.verified == false) {
    shown.style = "\033[31m";
  } else if (entry.status == row_status::skipped || is_floor(entry)) {
    shown.style = "\033[2m";
  }
  return shown;
}

std::string headline_title(const row_group& group) {
  for (const row* entry : group.rows) {
    if (entry->find_metric("step_time") != nullptr) return "step time";
    if (!entry->metrics.empty()) return printable(entry->metrics.front().first, 30);
  }
  return "figure";
}

void append_group(std::string& text, const document& results, const row_group& group, bool color) {
  const row* fastest = fastest_contender(group);
  std::vector<table_row> rows;
  rows.push_back({{"method", headline_title(group), "spread", "n", "ratio", "verified"}, "", "\033[1m"});
  for (const row* entry : by_figure(group)) rows.push_back(row_of(*entry, fastest));

  std::array<size_t, columns> widths{};
  for (const table_row& shown : rows) {
    for (size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], display_width(shown.cells[i]));
  }
  const std::string shape = axes_in_words(group.axes);
  text += fmt::format("{} on {}{}{}\n", printable(group.experiment, 60), device_title(results, group.device),
                      shape.empty() ? "" : ", ", shape);
  for (const table_row& shown : rows) {
    std::string printed;
    for (size_t i = 0; i < columns; ++i) printed += "  " + padded(shown.cells[i], widths[i], i == 0);
    if (!shown.remark.empty()) printed += "  " + shown.remark;
    printed.erase(printed.find_last_not_of(' ') + 1);
    text += color && *shown.style != '\0' ? fmt::format("{}{}\033[0m\n", shown.style, printed) : printed + "\n";
  }
}

}  // namespace

std::string to_table(const document& results, bool color) {
  std::string text;
  for (const row_group& group : group_rows(results)) {
    if (!text.empty()) text += "\n";
    append_group(text, results, group, color);
  }
  return text.empty() ? "no rows\n" : text;
}

}  // namespace gpusync::tool
