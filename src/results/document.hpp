// The result document: what every experiment produces and every reader takes (schema "gpusync-results/2").
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

using json = nlohmann::ordered_json;

/// The format's name with its version, and that of the version before, which is still read.
inline constexpr const char* results_schema = "gpusync-results/2";
inline constexpr const char* first_results_schema = "gpusync-results/1";

/// A document: where and how it was made, and the rows. `context` is JSON as docs/results.md describes it;
/// context.complete is false if the run was cut short.
struct document {
  json context = json::object();
  std::vector<row> rows;
};

}  // namespace gpusync::tool
