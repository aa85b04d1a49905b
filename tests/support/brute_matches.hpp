// Maximal matches by their definition: every pair of letters is looked at.
#pragma once

#include <string>
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
  const uint8_t* const q = query.bases.data();
  const size_t letters = query.bases.size();
  for (uint32_t j = 0; j < letters; ++j) {
    for (uint32_t s = 0; s < references.size(); ++s) {
      const uint8_t* const r = references[s].bases.data();
      const size_t ends = references[s].bases.size();
      const auto equal = [=](size_t i, size_t at) {
        return i < ends && at < letters && r[i] == q[at] && r[i] != unknown_base;
      };
      for (uint32_t i = 0; i < ends; ++i) {
        if (!equal(i, j)) continue;
        if (i > 0 && j > 0 && equal(i - 1, j - 1)) continue;
        uint32_t length = 1;
        while (equal(i + length, j + length)) ++length;
        if (length >= least) found.push_back({s, i, j, length});
      }
    }
  }
  return found;
}

}  // namespace gpusync::tool
