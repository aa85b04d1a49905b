// The report's tables of rows.
#pragma once

#include <string>

#include "results/document.hpp"

namespace gpusync::tool {

/// For each experiment of the document one <table> with every row: device, axes, method, each metric with its
/// spread, ratio to the fastest, verification, clock, status with reason. Cells carry data-value for sorting.
std::string row_tables_html(const document& results);

/// Failed and skipped rows as a list, those with the same device, method and status as one entry; empty if
/// all rows are ok.
std::string problems_html(const document& results);

}  // namespace gpusync::tool
