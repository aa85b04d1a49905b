// The three methods of Shen 2013, and which of them takes least.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// The method of the thesis that a row is about, "launch-wait", "centralized" or "decentralized": published, or
/// measured with the default ordering. Empty for others.
std::string thesis_method_of(const row& entry);

/// Adds the metric `place` to the rows of the three methods of the thesis: 1 for the least `value`. Nothing unless all
/// three have one, so that places of then and now mean the same.
void add_thesis_places(std::vector<row>& fits, const std::function<std::optional<double>(const row&)>& value);

}  // namespace gpusync::tool
