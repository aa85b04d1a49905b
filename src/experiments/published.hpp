// What a paper has printed, as rows beside the measured ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// The rows of one experiment from a paper's published.json, which docs/adding.md describes. Their device is
/// "published: NAME", their methods "published-METHOD" (see results/groups.hpp), their values as printed, but for times
/// in nanoseconds, and in seconds for a table's "calls", which become microseconds (for one call) as everywhere. They
/// were not checked by us: `verified` is null, and `verification` says where they stand. Throws std::logic_error if the
/// text is malformed; a test sees to it that what the tool carries is not.
std::vector<row> published_rows(std::string_view published, const std::string& experiment);

}  // namespace gpusync::tool
