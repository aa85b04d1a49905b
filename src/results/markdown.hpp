// The result document as Markdown.
#pragma once

#include <string>

#include "results/document.hpp"

namespace gpusync::tool {

/// Verdicts, one table for each experiment and device with every row, and the context; aligned so that the
/// source reads as well as the page. Text from the document is escaped: it cannot add columns, HTML or links.
std::string to_markdown(const document& results);

}  // namespace gpusync::tool
