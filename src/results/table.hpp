// The result document as a table on a terminal.
#pragma once

#include <string>

#include "results/document.hpp"

namespace gpusync::tool {

/// For each experiment, device and shape a table of its methods, fastest first: figure, spread (± half the
/// interquartile range), samples, ratio to the fastest method with right results, whether the result was
/// verified, and why a row failed or was skipped. With `color`, ANSI colours; names from the document cannot
/// smuggle in others.
std::string to_table(const document& results, bool color);

}  // namespace gpusync::tool
