// Result documents as one web page.
#pragma once

#include <string>
#include <vector>

#include "results/document.hpp"

namespace gpusync::tool {

/// One self-contained HTML page that opens offline: the verdicts in words, charts, every row, and the context
/// of each document. It names no other resource, and its own policy forbids loading any. Without JavaScript
/// the words and the tables remain. Text from the documents is escaped; samples are left out.
std::string render_report(const std::vector<document>& documents);

}  // namespace gpusync::tool
