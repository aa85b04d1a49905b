// The statements of table 8 as predicates on measured rows.
#pragma once

#include <string>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// Whether a statement holds, and by what.
struct observation_finding {
  enum state { holds, fails, not_measured };
  state what = not_measured;
  std::string evidence;  ///< with the figures, or what lacks
};

/// One statement of the paper.
struct observation {
  const char* id;
  const char* sentence;                  ///< of this paper's summary
  std::vector<const char*> experiments;  ///< whose rows it takes; none: nothing that is measured decides it
  observation_finding (*judge)(const std::vector<row>&);
};

/// All of them, in the paper's order.
const std::vector<observation>& observations();

/// What one comes to on the rows of one device. What papers have printed, and rows that are not ok, say nothing.
observation_finding judge(const observation& which, const std::vector<row>& rows);

}  // namespace gpusync::tool
