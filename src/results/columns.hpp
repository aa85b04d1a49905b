// Aligned columns on a terminal.
#pragma once

#include <string>
#include <vector>

namespace gpusync::tool {

/// A line of a table: its cells, what stands behind them without a column, and how it is drawn.
struct column_line {
  std::vector<std::string> cells;
  std::string remark;
  const char* style = "";  ///< an ANSI sequence; "" for none
};

/// The lines with each column as wide as its widest cell, two spaces before each; the first column is flush left, all
/// others right. The lines may have different numbers of cells. `color`: with their styles.
std::string in_columns(const std::vector<column_line>& lines, bool color);

}  // namespace gpusync::tool
