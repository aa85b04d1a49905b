// Where the words of a grid barrier lie in its storage.
#pragma once

#include <gpusync/core/arrival_log.hpp>
#include <gpusync/grid/members.hpp>

namespace gpusync::detail {

/// Offsets, in 32-bit words, within the memory of one barrier: the algorithm's own words, then the arrival log's claim
/// and its two words per block, then the roster of those that have dropped out; each on cache lines of its own so that
/// bookkeeping never disturbs a poll.
struct barrier_layout {
  size_t claimed;
  size_t arrived;
  size_t entered;
  size_t roster;
  size_t total;

  GPUSYNC_HD static constexpr barrier_layout of(size_t algorithm_words, uint32_t blocks) {
    const size_t claimed = whole_lines(algorithm_words);
    const size_t arrived = claimed + line_words;
    const size_t entered = arrived + whole_lines(blocks);
    const size_t roster = entered + whole_lines(blocks);
    return {claimed, arrived, entered, roster, roster + whole_lines(dropping_blocks::words(blocks))};
  }

  /// The arrival log of a barrier whose memory begins at `words`.
  GPUSYNC_HD arrival_log log(uint32_t* words, timeout_report* report) const {
    return {words + claimed, words + arrived, words + entered, report};
  }
};

}  // namespace gpusync::detail
