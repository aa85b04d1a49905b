// Rows as columns, which is how the page carries them: a tenth of the room that an object for each row would take.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/device_table.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

/// A row of one of the page's documents.
struct placed_row {
  const row* entry;
  size_t document;  ///< by number
};

/// The rows of one experiment, of all documents, in their order.
struct experiment_rows {
  std::string experiment;
  std::vector<placed_row> rows;
  size_t left_out = 0;  ///< rows that thinned() took away
};

/// The documents' rows by experiment, in the order in which each first appears, what papers have printed once. Points
/// into the documents.
std::vector<experiment_rows> rows_by_experiment(const std::vector<document>& documents);

/// The same with so few rows that about `share` (0..1) of those measured stay: whole shapes, as evenly as they stand,
/// and where a shape has very many rows, parts of it. What papers have printed stays.
experiment_rows thinned(const experiment_rows& all, double share);

/// Axes, or metrics, of one experiment beyond this many are left out.
inline constexpr size_t most_columns = 64;

/// The rows as JSON:
/// {"strings": […], "count": N, "document": […], "device": […], "method": […], "status": […], "verified": […],
///  "note": […], "clock": […], "axes": {NAME: {"numbers": […]} or {"words": […]}},
///  "metrics": {NAME: {"unit": …, "rows": […], "value": […], "q1": […], "q3": […], "n": […]}}, "columns_left_out": K}.
/// Words are places in "strings"; a column whose entries are all the same is that entry; "rows" is left out if a metric
/// has all of them. Devices are their numbers. Figures have six digits, texts 400
/// bytes, samples are left out.
json columns_of(const experiment_rows& some, const device_table& known_devices);

}  // namespace gpusync::tool
