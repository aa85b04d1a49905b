// What tables show of a row, whatever the tables are made of.
#pragma once

#include <string>

#include "results/groups.hpp"

namespace gpusync::tool {

/// A row's cells, as plain text; "" where there is nothing to show.
struct row_cells {
  std::string method;
  std::string value;     ///< "1.20 us"
  std::string spread;    ///< half the interquartile range: "0.01"
  std::string samples;   ///< "25"
  std::string ratio;     ///< to the fastest contender: "1.07x"; else "floor", "unordered" or ""
  std::string verified;  ///< "yes", "WRONG", or "-" where nothing was checked
  std::string
      remark;  ///< status and reason unless the status is ok: "failed: 12 of 100 values are wrong"; what was found
};

/// The cells of a row whose group's fastest contender is `fastest` (null if there is none).
row_cells cells_of(const row& entry, const row* fastest);

}  // namespace gpusync::tool
