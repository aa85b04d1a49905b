// What the page says first.
#pragma once

#include <string>

#include "report/page_parts.hpp"

namespace gpusync::tool {

/// What was measured where: a line for each device that is not a paper's, that of the most rows first.
std::string devices_html(const page_parts& parts);

/// The papers' claims, then and now, each paper with the place of its figure; empty if nothing of them was measured.
std::string papers_html(const page_parts& parts);

/// The first answer of every experiment, with a link; nothing for a page of one.
std::string answers_html(const page_parts& parts);

}  // namespace gpusync::tool
