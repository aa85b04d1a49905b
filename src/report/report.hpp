// Result documents as one web page.
#pragma once

#include <string>
#include <vector>

#include "results/document.hpp"

namespace gpusync::tool {

/// One self-contained HTML page that opens offline (docs/report.md): the papers' claims then and now, every
/// experiment's answers, figures and rows, and the context of each document. It names no other resource, and its own
/// policy forbids loading any. Without JavaScript the words remain. Text from the documents is escaped; samples are
/// left out, and of very many rows all but some, which it says.
std::string render_report(const std::vector<document>& documents);

}  // namespace gpusync::tool
