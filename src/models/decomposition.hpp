// The decomposition of a barrier's cost as rows have it: its parts, their lines over the blocks, and the barriers that
// these lines predict.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/cost_model.hpp"
#include "results/row.hpp"

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
  bool ordered = true;
};
std::vector<decomposed_barrier> decomposed_barriers();

/// Lines by the names of parts.
using lines_by_name = std::map<std::string, cost_line>;
/// The lines of a barrier's parts; empty if one is missing.
std::vector<cost_line> lines_of(const decomposed_barrier& barrier, const lines_by_name& lines);

/// The same axes with another value of `time_of`.
axis_values with_time_of(axis_values axes, const char* what);

/// A row for each part among `parts`, which differ in their blocks only: its line over the blocks (axis `fit`), with
/// metrics time_per_block and intercept in microseconds for each call, and r_squared.
std::vector<row> part_fits(const std::vector<row>& parts);

/// Beside each measured barrier among `variants` the sum of its parts' lines: metrics synchronization_time (equation
/// 1), predicted_time (equation 3, with the work), measured_time and relative_error, predicted over measured less 1.
/// Nothing for barriers of which a part has no line.
std::vector<row> sum_rows(const std::vector<row>& variants, const std::vector<row>& parts);

/// Lines and sums of the rows of one sweep, variants and parts: part_fits() and sum_rows(). Nothing if there are no
/// parts.
std::vector<row> decomposition_fits(const std::vector<row>& rows);

}  // namespace gpusync::tool
