// The result document as CSV.
#pragma once

#include <string>

#include "results/document.hpp"

namespace gpusync::tool {

/// One line per row after a header, as RFC 4180 has it (CRLF, quotes doubled). Columns: experiment, items,
/// device, one per axis, method, eight per metric (step_time_value, _unit, _n, _q1, _median, _q3, _stddev,
/// _stop), verified, verification, clock_mhz, status, reason, kind, ordered, rival. Axes and metrics are the union over
/// all rows; an axis that is named like another column becomes axis_NAME. Numbers have full precision; null is an empty
/// field. Samples are left to JSON.
std::string to_csv(const document& results);

}  // namespace gpusync::tool
