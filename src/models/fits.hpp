// What models say of measured rows, as rows: made from rows alone, so that a saved document can be fitted again.
#pragma once

#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

struct document;

/// The fits of a sweep: of rows of one experiment and device that differ in their method and in the axis along which
/// they are fitted. Which model that is, the rows' metrics say:
/// - `run_time` over `blocks`: for each barrier the range of blocks in which it is faster than a launch for each step;
/// - `part_time` over `blocks`: the lines of a barrier's parts, and their sums beside the `variant_time` of barriers;
/// - `total_time` over `iterations`: equations 5 and 6 of Shen 2013, and from how many iterations on a barrier pays;
/// - `launch_time` over `barriers`: a line for each barrier in a launch, and from how many on it takes less than
/// NVIDIA's;
/// - `device_time` over `groups`: its equations 3 and 4; `device_memory` over `groups`: a line;
/// - `latency` over `threads`: a line over their warps.
/// Nothing for other rows.
std::vector<row> fits_of(const std::vector<row>& rows);

/// The document with its fits made again from its other rows, at the end of each sweep.
document refitted(const document& results);

}  // namespace gpusync::tool
