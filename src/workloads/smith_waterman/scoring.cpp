#include "workloads/smith_waterman/scoring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

void require_scoring(const alignment_scoring& scoring, size_t query_length, size_t reference_length) {
  const auto [match, mismatch, gap_open, gap_extend] = scoring;
  if (match < 1) {
    throw invalid_argument(
        fmt::format("A match scores {}, but must score at least 1, or else no alignment is better than none.", match));
  }
  if (mismatch > 0) {
    throw invalid_argument(
        fmt::format("A mismatch scores {}, but must score at most 0, and cost nothing or more.", mismatch));
  }
  if (gap_open < 0 || gap_extend < 0) {
    throw invalid_argument(fmt::format(
        "A gap of k letters costs gap_open + k * gap_extend = {} + k * {}, and neither may be negative: costs are "
        "subtracted.",
        gap_open, gap_extend));
  }
  if (gap_open == 0 && gap_extend == 0) {
    throw invalid_argument(
        "Gaps cost nothing, for gap_open and gap_extend are both 0: one of them must be at least 1.");
  }
  if (mismatch <= -score_limit || int64_t{gap_open} + gap_extend >= score_limit) {
    throw invalid_argument(fmt::format(
        "A mismatch of {} or a first gap letter of {} + {} is too large for scores of 32 bits: both must be less than "
        "2^30.",
        mismatch, gap_open, gap_extend));
  }
  const size_t most_matches = std::min(query_length, reference_length);
  if (most_matches > static_cast<size_t>((score_limit - 1) / match)) {
    throw invalid_argument(fmt::format(
        "{} matches of {} each could score 2^30 or more, which is too large for scores of 32 bits: take a match of at "
        "most {}, or shorter sequences.",
        most_matches, match, static_cast<size_t>(score_limit - 1) / most_matches));
  }
}

}  // namespace gpusync::tool
