// From the end of a best local alignment to the alignment itself, in linear memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/smith_waterman/scoring.hpp"

namespace gpusync::tool {

/// A local alignment. Letters are counted from 0, ends are inclusive; all four are -1 where nothing is aligned.
struct alignment {
  int64_t query_begin = -1;
  int64_t query_end = -1;
  int64_t reference_begin = -1;
  int64_t reference_end = -1;
  std::string cigar;         ///< runs of = (match), X (mismatch), I (query only) and D (reference only)
  uint64_t matches = 0;      ///< letters of all =
  uint64_t mismatches = 0;   ///< letters of all X
  uint64_t gap_letters = 0;  ///< letters of all I and D
  uint64_t gaps = 0;         ///< runs of I and D
};

/// An alignment that ends at `end` and reaches its score: the one that begins latest in the reference, then latest in
/// the query, or one of several that begin there. `end` is what align_reference finds. The empty alignment where the
/// score is 0.
///
/// Time is at most thrice that of align_reference on the two prefixes that end at `end`, on `threads` threads (0: as
/// many as the machine runs at once), of which the latter part uses two. Memory is the sum of their lengths: the
/// alignment between its two ends is found by divide and conquer, as in E. W. Myers and W. Miller, "Optimal alignments
/// in linear space", CABIOS 4(1), 1988. Throws invalid_argument as require_scoring does, and if no alignment of that
/// score ends at `end`; it may do so too if another ends before it in both sequences. Asks `interrupted`, if it is
/// there, often, in any of its threads, and throws run_interrupted once it has said yes.
alignment trace_back(const std::vector<uint8_t>& query, const std::vector<uint8_t>& reference,
                     const alignment_scoring& scoring, const alignment_end& end, uint32_t threads = 0,
                     const std::function<bool()>& interrupted = {});

/// The score of an alignment, counted along its CIGAR. Throws error if the CIGAR is malformed, if it does not lead from
/// begin to end, if it calls bases equal that are not, or the reverse, or if its counts are not the alignment's.
int64_t score_of(const alignment& found, const std::vector<uint8_t>& query, const std::vector<uint8_t>& reference,
                 const alignment_scoring& scoring);

}  // namespace gpusync::tool
