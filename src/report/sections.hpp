// The experiments of the page: their words, and where their figures and tables go.
#pragma once

#include <string>
#include <vector>

#include "report/page_parts.hpp"

namespace gpusync::tool {

/// The verdicts on every shape, [text, what is behind it] by section; nothing of documents with very many rows.
std::vector<json> verdicts_of(const page_parts& parts);

/// A section for every experiment, with as many verdicts to open as there are in `judged`.
std::string experiments_html(const page_parts& parts, const std::vector<json>& judged);

}  // namespace gpusync::tool
