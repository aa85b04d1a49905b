// What became of a document's rows, as a table on a terminal and in JSON.
#pragma once

#include <string>

#include "results/document_comparison.hpp"
#include "results/json.hpp"

namespace gpusync::tool {

/// For each experiment, device and shape a table of its methods: both figures, the change and its interval in percent,
/// the verdict, and why there is none; then what only one of the documents has. `before` is the first document, for the
/// names of devices.
std::string to_table(const document_comparison& found, const document& before, bool color);

/// One sentence of at most 25 words, its finding first: what broke or is slower, or else faster, the same, or unclear
/// and why; then how many rows are what, by how much runs differ where intervals tell it, and what would help.
std::string in_words(const document_comparison& found);

/// {"confidence", "least_effect", "pairs", "run_to_run", "regressed", "rows": [{"experiment", "device", "axes",
/// "method", "verdict", "broke", "mended", "ratio", "low", "high", "reason"}], "only_before", "only_after"}. Ratios are
/// after over before, run_to_run is a part of the time.
json to_json(const document_comparison& found, const comparison_rule& rule);

}  // namespace gpusync::tool
