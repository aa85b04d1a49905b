// How the times of two rows compare.
#pragma once

#include <optional>

#include "measure/interval.hpp"
#include "results/row.hpp"

namespace gpusync::tool {

/// Whether the row is a line through others: it has the axis `fit`.
bool is_line(const row& entry);

/// The standard error of a row's headline figure as a part of it: of a line through other rows (axis `fit`) its stddev,
/// of a median 0.93 (q3 - q1) / sqrt(n), as if its noise were normal. Empty without quartiles or two samples, and for a
/// value that is not above 0.
std::optional<double> headline_error(const row& entry);

/// The headline figure of `entry` over that of `base`, two rows of one comparison: by rounds (ratio_by_rounds) if both
/// have kept them, or else, for documents without, of the medians, with an interval from headline_error(). Empty if
/// either has no figure, or `base` is not above its noise.
std::optional<paired_ratio> headline_ratio(const row& entry, const row& base);

}  // namespace gpusync::tool
