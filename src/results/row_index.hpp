// Which rows of two documents are the same.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/document.hpp"

namespace gpusync::tool {

/// What makes rows the same: experiment, device, axes and method.
using row_key = std::tuple<std::string, std::string, std::vector<std::pair<std::string, axis_value>>, std::string>;
/// That of a row.
row_key key_of(const row& entry);

/// Rows by what makes them the same.
using row_index = std::map<row_key, const row*>;

/// The rows that were measured there; of several that are the same the first. The document must outlive the index.
row_index index_of(const document& results);

/// The row that is the same as `wanted`; null if there is none.
const row* find(const row_index& index, const row& wanted);

/// Whether both documents have a row that is the same.
bool have_common_row(const document& one, const document& other);

/// Whether two documents are of one run, copied: begun at the same time, with the same figures and rounds in every row.
/// Of documents without figures nobody can tell.
bool is_same_run(const document& one, const document& other);

}  // namespace gpusync::tool
