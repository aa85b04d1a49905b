// What Feng and Xiao 2010 has printed.
#pragma once

#include <string>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// The rows of one experiment from published.json of this folder; see published_rows().
std::vector<row> feng_xiao_published(const std::string& experiment);

}  // namespace gpusync::tool
