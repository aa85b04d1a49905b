// The result document: what every experiment produces and every reader takes (schema "gpusync-results/2").
#pragma once

#include <vector>

#include "results/context_value.hpp"
#include "results/row.hpp"

namespace gpusync::tool {

/// The format's name with its version, and that of the version before, which is still read.
inline constexpr const char* results_schema = "gpusync-results/2";
inline constexpr const char* first_results_schema = "gpusync-results/1";

/// A document: where and how it was made, and the rows. `context` is JSON as docs/results.md describes it;
/// context.complete is false if the run was cut short.
struct document {
  context_value context;
  std::vector<row> rows;
};

}  // namespace gpusync::tool
