// Workload "Smith-Waterman": scores, and which of several best cells is the one to report. C++17: CUDA
// sources include it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gpusync/core/config.hpp>

#include "workloads/sequences/sequence.hpp"

namespace gpusync::tool {

/// What an alignment scores: `match` for each pair of equal bases, `mismatch` for each other pair, and
/// -(gap_open + k * gap_extend) for each gap of k letters. Gaps are linear where gap_open is 0.
struct alignment_scoring {
  int32_t match = 2;
  int32_t mismatch = -1;
  int32_t gap_open = 3;
  int32_t gap_extend = 1;

  /// The score of two bases side by side. An unknown base matches nothing, not even another unknown base.
  GPUSYNC_HD constexpr int32_t pair(uint8_t query_base, uint8_t reference_base) const {
    return query_base == reference_base && query_base != unknown_base ? match : mismatch;
  }
};

/// The last cell of a best local alignment: its score and the last letter on each side, counted from 0; -1 where the
/// score is 0, for then nothing is aligned.
///
/// Of several cells with the greatest score the one to report has the least reference_end, and of those the least
/// query_end. No alignment of that score then ends elsewhere within the two prefixes that end here.
struct alignment_end {
  int32_t score = 0;
  int64_t query_end = -1;
  int64_t reference_end = -1;

  GPUSYNC_HD constexpr bool operator==(const alignment_end& other) const {
    return score == other.score && query_end == other.query_end && reference_end == other.reference_end;
  }
  GPUSYNC_HD constexpr bool operator!=(const alignment_end& other) const { return !(*this == other); }

  /// Whether this cell is to be reported rather than `other`: the order that the rule above says.
  GPUSYNC_HD constexpr bool goes_before(const alignment_end& other) const {
    if (score != other.score) return score > other.score;
    if (reference_end != other.reference_end) return reference_end < other.reference_end;
    return query_end < other.query_end;
  }
};

/// The best cell of a row, that is, among the alignments that end with one letter of the query.
struct row_best {
  int32_t score = 0;    ///< 0: there is none
  uint32_t column = 0;  ///< the first letter of the reference at which one of that score ends
};

/// Scores, and each number of a scoring, stay below this in size: any two can then be added or subtracted in 32 bits.
inline constexpr int32_t score_limit = int32_t{1} << 30;

/// Throws invalid_argument unless the scoring is one that a local alignment can be meant to have (match >= 1,
/// mismatch <= 0, neither gap cost negative and not both 0) and no alignment of sequences of these lengths can score
/// 2^30 or more.
void require_scoring(const alignment_scoring& scoring, size_t query_length, size_t reference_length);

}  // namespace gpusync::tool
