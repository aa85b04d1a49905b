// References, and what matches are found with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/maximal_matches/suffix_array.hpp"
#include "workloads/maximal_matches/suffix_tree.hpp"
#include "workloads/sequences/sequence.hpp"

namespace gpusync::tool {

/// Sequences as one text, an unknown base behind each, so that no match reaches from one into the next.
struct reference_text {
  std::vector<std::string> names;
  std::vector<uint32_t> begins;  ///< where each sequence begins
  std::vector<uint8_t> bases;

  /// Throws invalid_argument if they are too long for sort_suffixes().
  static reference_text of(const std::vector<sequence>& sequences);
};

/// A reference with its suffixes in order and as a tree.
struct reference_index {
  reference_text text;
  suffix_array suffixes;
  suffix_tree tree;
  std::vector<uint32_t> row_of;  ///< of a position: its row; 0 where the base is unknown

  static reference_index of(const std::vector<sequence>& sequences, node_order order);
};

/// Bytes that the host needs at once to make an index, and for the index, at most.
uint64_t bytes_of_index(uint64_t bases);

/// Bases as devices have them, four bits each, `unknown` for those that are none; behind them as many words of it as
/// whoever reads ahead may touch.
std::vector<uint32_t> packed(const std::vector<uint8_t>& bases, uint32_t unknown);

/// For all words of `letters` bases, by their number in base 4, the rows that begin with them.
std::vector<match_rows> rows_of_words(const reference_index& index, uint32_t letters);

/// How long words should be for a reference of so many bases and matches of `least` letters: a row or so for each.
uint32_t letters_of_words(uint64_t bases, uint32_t least);

}  // namespace gpusync::tool
