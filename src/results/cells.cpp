#include "results/cells.hpp"

#include <fmt/format.h>

#include "results/text.hpp"

namespace gpusync::tool {

row_cells cells_of(const row& entry, const row* fastest) {
  row_cells cells;
  cells.method = entry.method;
  const metric* measured = headline_metric(entry);
  if (measured != nullptr && measured->value) {
    cells.value = figure(*measured->value) + (measured->unit.empty() ? "" : " " + measured->unit);
    if (const auto spread = half_interquartile_range(*measured)) cells.spread = spread_figure(*spread);
    cells.samples = fmt::format("{}", measured->n);
    if (is_floor(entry)) {
      cells.ratio = "floor";
    } else if (!entry.ordered) {
      cells.ratio = "unordered";
    } else if (fastest != nullptr && is_contender(entry) && *headline_value(*fastest) > 0) {
      cells.ratio = ratio(*measured->value / *headline_value(*fastest));
    }
  }
  cells.verified = !entry.verified ? "-" : *entry.verified ? "yes" : "WRONG";
  if (entry.status != row_status::ok) {
    cells.remark = fmt::format("{}: {}", to_string(entry.status), entry.reason.value_or("no reason given"));
  }
  if (entry.status == row_status::ok && measured != nullptr && !measured->value) {
    cells.remark = entry.verification.value_or("");  // it says why there is no figure
  }
  if (entry.status == row_status::ok && entry.find_metric("deadlock") != nullptr) {
    cells.remark = entry.verification.value_or("");  // what happened, in words
  }
  for (const char* finding : {"score", "query_end", "reference_end"}) {  // what somebody wanted to know
    const metric* found = entry.find_metric(finding);
    if (found == nullptr || !found->value || entry.status != row_status::ok) continue;
    cells.remark += fmt::format("{}{} {:.0f}", cells.remark.empty() ? "" : ", ", finding, *found->value);
  }
  return cells;
}

}  // namespace gpusync::tool
