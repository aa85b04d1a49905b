// Experiment cost-decomposition after its measurements: the parts of a barrier's cost, their lines over the blocks, the
// barriers that these lines predict, and what the paper has printed of all that.
#pragma once

#include <string>
#include <vector>

#include "experiments/step_contest.hpp"
#include "models/cost_model.hpp"

namespace gpusync::tool {

/// Values of the axis `time_of`, which keeps figures of different kinds apart: the programs that were timed, the parts
/// drawn from them, and the sums of parts.
inline constexpr const char* time_of_variants = "variants";
inline constexpr const char* time_of_parts = "parts";
inline constexpr const char* time_of_sums = "sums";

/// A part of a barrier's cost.
struct decomposed_part {
  std::string name;      ///< as a method in results: "tc-check"
  cost_formula formula;  ///< in variants of workload "barrier-parts"
  std::vector<std::string> items;
};

/// The paper's parts, the work among them, then those of today.
std::vector<decomposed_part> decomposed_parts();

/// A whole barrier and the parts that should add up to it.
struct decomposed_barrier {
  std::string method;
  std::vector<std::string> parts;  ///< the work not among them
};
std::vector<decomposed_barrier> decomposed_barriers();

/// A row for each part whose variants are all among the results of one contest: metric `part_time`, microseconds for
/// each call, drawn round by round. Results have their experiment, device and axes, blocks and time_of among these.
/// Skipped, with the reason, where a variant has no time. The time of a variant that orders no data counts even if it
/// was found to read stale words: what is asked is how long its parts take.
std::vector<row> part_rows(const std::vector<contest_result>& results, bool keep_samples);

/// A row for each part among `parts`, which differ in their blocks only: its line over the blocks (axis `fit`), with
/// metrics time_per_block and intercept in microseconds for each call, and r_squared.
std::vector<row> part_fits(const std::vector<row>& parts);

/// Beside each measured barrier among `variants` the sum of its parts' lines: metrics synchronization_time (equation
/// 1), predicted_time (equation 3, with the work), measured_time and relative_error, predicted over measured less 1.
/// Nothing for barriers of which a part has no line.
std::vector<row> sum_rows(const std::vector<row>& variants, const std::vector<row>& parts);

/// The paper's own lines as rows like those above, in microseconds for each call: fits, parts and sums at up to its 30
/// blocks.
std::vector<row> published_decomposition();

}  // namespace gpusync::tool
