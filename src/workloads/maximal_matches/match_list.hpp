// From what a run has found for each suffix to all maximal matches, as mummer prints them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/maximal_matches/match_batch.hpp"

namespace gpusync::tool {

/// Equal pieces of a query and of a sequence of the reference that are maximal: the letters before and behind them
/// differ, or are unknown, or there are none. Places are counted from 0.
struct maximal_match {
  uint32_t sequence;  ///< of the reference
  uint32_t reference, query, length;

  bool operator==(const maximal_match&) const = default;
};

/// All maximal matches of `batch.least` letters or more, query by query, in the order of the queries' letters, then of
/// the reference. On all processors, beginning with a row that each record names: the rows around it share fewer and
/// fewer letters with the suffix. `interrupted` as for expected_records().
std::vector<std::vector<maximal_match>> matches_of(
    const reference_index& index, const std::vector<sequence>& queries, const match_batch& batch, match_method method,
    const std::vector<match_record>& records, const std::function<bool()>& interrupted = [] { return false; });

/// They as `mummer -maxmatch` 3.23 prints them, but for their order: a line for each query, "> NAME", and behind it one
/// for each match, with where it begins in the reference and in the query, counted from 1, and its length; where the
/// reference has several sequences, with the name of the one before them.
std::string as_printed(const reference_text& reference, const std::vector<sequence>& queries,
                       const std::vector<std::vector<maximal_match>>& matches);

}  // namespace gpusync::tool
