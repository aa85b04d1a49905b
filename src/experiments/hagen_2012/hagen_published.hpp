// What Hagen, Ha and Anshus have printed.
#pragma once

#include <string>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// The rows of one experiment from published.json of this folder; see published_rows(). What is printed of one device,
/// method and number of participants in several figures is one row.
std::vector<row> hagen_published(const std::string& experiment);

}  // namespace gpusync::tool
