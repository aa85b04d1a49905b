// The queries of a run, as devices get them, and what runs must find.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "boundary/arrays.hpp"
#include "workloads/maximal_matches/reference_index.hpp"

namespace gpusync::tool {

/// How a suffix of a query is looked for.
enum class match_method { tree, array };

/// How much there is to look for.
struct match_size {
  uint64_t reference = 0;  ///< bases
  uint64_t queries = 0;
  uint64_t bases = 0;    ///< of all queries
  uint64_t records = 0;  ///< suffixes of `least` bases or more, of all queries

  void add(uint64_t query_bases, uint32_t least);
};

/// Throws invalid_argument if there are 2^31 queries or more, or too many bases or suffixes to be numbered in 32 bits.
void require_numbered(const match_size& size);

/// Queries with the same least length of a match.
struct match_batch {
  uint32_t least = 1;
  std::vector<match_query> queries;
  std::vector<uint32_t> letters;  ///< packed
  uint32_t records = 0;           ///< suffixes of `least` bases or more, of all queries

  /// Throws invalid_argument if `least` is 0, and as require_numbered() does.
  static match_batch of(const std::vector<sequence>& queries, uint32_t least);
  /// For blocks of so many queries: the most suffixes that one of them has.
  std::vector<uint32_t> most_of_blocks(uint32_t queries_of_block) const;
};

/// The records that a run must leave, by the tree in plain C++: for each suffix the longest piece of the reference that
/// it begins with. On all processors. Asks `interrupted` now and then, in any thread, and throws run_interrupted once
/// it has said yes.
std::vector<match_record> expected_records(
    const reference_index& index, const std::vector<sequence>& queries, const match_batch& batch, match_method method,
    const std::function<bool()>& interrupted = [] { return false; });

}  // namespace gpusync::tool
