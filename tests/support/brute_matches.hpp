// Maximal matches by their definition: every pair of letters is looked at.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "workloads/maximal_matches/match_list.hpp"

namespace gpusync::tool {

/// A sequence of these letters; what is none of ACGT, in either case, is unknown.
inline sequence sequence_of(const std::string& letters, const std::string& name = "") {
  sequence made{name, {}};
  for (const char letter : letters) {
    const size_t code = std::string("AaCcGgTt").find(letter);
    made.bases.push_back(code == std::string::npos ? unknown_base : static_cast<uint8_t>(code / 2));
  }
  return made;
}

/// Those of one query, in the order of matches_of().
inline std::vector<maximal_match> brute_matches(const std::vector<sequence>& references, const sequence& query,
                                                uint32_t least) {
  std::vector<maximal_match> found;
  for (uint32_t s = 0; s < references.size(); ++s) {
    const std::vector<uint8_t>&r = references[s].bases, &q = query.bases;
    const auto equal = [&](size_t i, size_t j) {
      return i < r.size() && j < q.size() && r[i] == q[j] && r[i] != unknown_base;
    };
    for (uint32_t i = 0; i < r.size(); ++i) {
      for (uint32_t j = 0; j < q.size(); ++j) {
        if (i > 0 && j > 0 && equal(i - 1, j - 1)) continue;
        uint32_t length = 0;
        while (equal(i + length, j + length)) ++length;
        if (length >= least) found.push_back({s, i, j, length});
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const maximal_match& one, const maximal_match& other) {
    return std::tie(one.query, one.sequence, one.reference) < std::tie(other.query, other.sequence, other.reference);
  });
  return found;
}

}  // namespace gpusync::tool
