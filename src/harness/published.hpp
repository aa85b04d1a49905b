// What a paper has printed, as rows beside the measured ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// Papers that have printed figures, by their folders here.
enum class paper { feng_xiao_2010, hagen_2012, lo_2014, shen_2013, zhang_2020 };

/// The rows of one experiment from a paper's published.json, which docs/adding.md describes. Their device is
/// "published: NAME", their methods "published-METHOD" (see results/groups.hpp), their values as printed, but for times
/// in nanoseconds, and in seconds for a table's "calls", which become microseconds (for one call) as everywhere. They
/// were not checked by us: `verified` is null, and `verification` says where they stand. Throws std::logic_error if the
/// text is malformed; a test sees to it that what the tool carries is not.
std::vector<row> published_rows(paper which, const std::string& experiment);
/// The same from the text of such a file.
std::vector<row> published_rows(std::string_view published, const std::string& experiment);

/// The same rows with what is printed of one device, method and point in several figures as one row.
std::vector<row> joined(const std::vector<row>& rows);

}  // namespace gpusync::tool
