// Experiment cost-decomposition after its measurements: the parts of a barrier's cost round by round, and what the
// paper has printed of them.
#pragma once

#include <vector>

#include "harness/method_comparison.hpp"

namespace gpusync::tool {

/// A row for each part whose variants are all among the results of one comparison: metric `part_time`, microseconds for
/// each call, drawn round by round. Results have their experiment, device and axes, blocks and time_of among these.
/// Skipped, with the reason, where a variant has no time. The time of a variant that orders no data counts even if it
/// was found to read stale words: what is asked is how long its parts take.
std::vector<row> part_rows(const std::vector<method_result>& results, bool keep_samples);

/// The paper's own lines as rows like those above, in microseconds for each call: fits, parts and sums at up to its 30
/// blocks.
std::vector<row> published_decomposition();

}  // namespace gpusync::tool
