// mummer beside experiment alignment: its times, and whether it finds the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment.hpp"
#include "workloads/maximal_matches/match_list.hpp"

namespace gpusync::tool::alignment_experiment {

/// What mummer took for some queries.
struct mummer_times {
  uint32_t processes = 1;
  uint64_t reads = 0;
  std::vector<double> index;  ///< ms, by round: without queries
  std::vector<double> match;  ///< ms, by round: beyond that
  /// What the processes printed.
  std::string text;

  /// A second, by the median of the rounds; empty if that is not above zero.
  std::optional<double> reads_per_second() const;
};

/// Runs mummer on the first queries, so many that it takes seconds, by one process and by one for each processor of the
/// host; in a quick run once, on fewer. Nothing where it is not installed, or there is nothing that it takes. Throws
/// gpusync::error.
std::vector<mummer_times> time_mummer(const std::vector<sequence>& references, const std::vector<sequence>& queries,
                                      uint32_t least, bool quick, const std::function<bool()>& interrupted);

/// In how many queries of those that mummer was given its matches are others than these.
uint64_t different_queries(const mummer_times& mummer, const reference_text& reference,
                           const std::vector<sequence>& queries,
                           const std::vector<std::vector<maximal_match>>& matches);

}  // namespace gpusync::tool::alignment_experiment
