#include "results/table.hpp"

#include <fmt/format.h>

#include "results/cells.hpp"
#include "results/columns.hpp"
#include "results/context.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

column_line row_of(const row& entry, const row* fastest) {
  const row_cells cells = cells_of(entry, fastest);
  column_line shown{{printable(cells.method, 60), printable(cells.value, 30),
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
  std::vector<column_line> lines;
  lines.push_back({{"method", headline_title(group), "spread", "n", "ratio", "verified"}, "", "\033[1m"});
  for (const row* entry : by_figure(group)) lines.push_back(row_of(*entry, fastest));
  const std::string shape = axes_in_words(group.axes);
  text += fmt::format("{} on {}{}{}\n", printable(group.experiment, 60), device_title(results, group.device),
                      shape.empty() ? "" : ", ", shape);
  text += in_columns(lines, color);
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
