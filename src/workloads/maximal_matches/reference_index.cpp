#include "workloads/maximal_matches/reference_index.hpp"

#include <algorithm>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

namespace {

constexpr uint32_t letters_of_packed_word = 8, words_read_ahead = 4;

}  // namespace

reference_text reference_text::of(const std::vector<sequence>& sequences) {
  uint64_t bases = 1;
  for (const sequence& one : sequences) bases += one.bases.size() + 1;
  if (bases > longest_text) {
    throw invalid_argument("References of " + std::to_string(bases) + " bases are too long: at most " +
                           std::to_string(longest_text) + " can be sorted.");
  }
  reference_text made;
  made.bases.reserve(bases);
  for (const sequence& one : sequences) {
    made.names.push_back(one.name);
    made.begins.push_back(static_cast<uint32_t>(made.bases.size()));
    made.bases.insert(made.bases.end(), one.bases.begin(), one.bases.end());
    made.bases.push_back(unknown_base);
  }
  if (made.bases.empty()) made.bases.push_back(unknown_base);
  return made;
}

reference_index reference_index::of(const std::vector<sequence>& sequences, node_order order) {
  reference_index made;
  made.text = reference_text::of(sequences);
  made.suffixes = sort_suffixes(made.text.bases);
  made.tree = build_suffix_tree(made.text.bases, made.suffixes, order);
  made.row_of.resize(made.text.bases.size());
  for (uint32_t row = 0; row < made.suffixes.rows(); ++row) made.row_of[made.suffixes.position[row]] = row;
  return made;
}

uint64_t bytes_of_index(uint64_t bases) {
  // The text, the array, rows by position, and fewer nodes than bases: twice while they are numbered.
  return bases * (1 + 8 + 4 + 2 * (sizeof(match_node) + 4));
}

std::vector<uint32_t> packed(const std::vector<uint8_t>& bases, uint32_t unknown) {
  const uint32_t filled = unknown * 0x11111111u;
  std::vector<uint32_t> words(bases.size() / letters_of_packed_word + 1 + words_read_ahead, filled);
  for (size_t i = 0; i < bases.size(); ++i) {
    const uint32_t letter = bases[i] < unknown_base ? bases[i] : unknown;
    words[i / letters_of_packed_word] ^= (letter ^ unknown) << i % letters_of_packed_word * 4;
  }
  return words;
}

std::vector<match_rows> rows_of_words(const reference_index& index, uint32_t letters) {
  const std::vector<uint8_t>& bases = index.text.bases;
  constexpr uint32_t none = UINT32_MAX;
  const uint32_t mask = (1u << 2 * letters) - 1;
  std::vector<uint32_t> word_at(bases.size(), none);
  uint32_t word = 0, known = 0;
  for (size_t end = 0; end < bases.size(); ++end) {
    word = (word << 2 | (bases[end] & 3)) & mask;
    known = bases[end] == unknown_base ? 0 : known + 1;
    if (known >= letters) word_at[end + 1 - letters] = word;
  }
  std::vector<match_rows> rows(size_t{mask} + 1, match_rows{0, 0});
  for (uint32_t row = 0; row < index.suffixes.rows(); ++row) {
    const uint32_t begins_with = word_at[index.suffixes.position[row]];
    if (begins_with == none) continue;
    match_rows& found = rows[begins_with];
    if (found.end == 0) found.first = row;
    found.end = row + 1;
  }
  return rows;
}

uint32_t letters_of_words(uint64_t bases, uint32_t least) {
  uint32_t letters = 1;
  while (letters < 13 && uint64_t{1} << 2 * (letters + 1) <= bases) ++letters;
  return std::min(letters, least);
}

}  // namespace gpusync::tool
