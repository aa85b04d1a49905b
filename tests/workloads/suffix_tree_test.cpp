// Suffix arrays and suffix trees beside what their definitions say, letter by letter.
#include "workloads/maximal_matches/suffix_tree.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>

#include <gpusync/core/error.hpp>
#include "workloads/maximal_matches/generated.hpp"
#include "workloads/maximal_matches/reference_index.hpp"

namespace gpusync::tool {
namespace {

using base_text = std::vector<uint8_t>;

base_text text_of(const std::string& letters) {
  base_text made;
  for (const char letter : letters) {
    const size_t code = std::string("ACGT").find(letter);
    made.push_back(code == std::string::npos ? unknown_base : static_cast<uint8_t>(code));
  }
  made.push_back(unknown_base);
  return made;
}

std::string letters_of(std::span<const uint8_t> bases) {
  std::string letters;
  for (const uint8_t base : bases) letters += "ACGTN"[base];
  return letters;
}

/// From a position to the next unknown base.
std::string suffix_at(const base_text& text, uint32_t position) {
  const auto begin = text.begin() + position;
  return letters_of({begin, std::find(begin, text.end(), unknown_base)});
}

/// Texts of few letters, which repeat themselves much, some of them with unknown bases.
rc::Gen<base_text> texts() {
  return rc::gen::mapcat(rc::gen::element<std::string>("A", "AC", "ACGT", "AN", "ACN", "ACGTN", "ACGTNNNN"),
                         [](const std::string& letters) {
                           return rc::gen::map(rc::gen::container<std::string>(rc::gen::elementOf(letters)), text_of);
                         });
}

void expect_sorted(const base_text& text, const suffix_array& found) {
  std::vector<uint32_t> positions = found.position, known;
  for (uint32_t i = 0; i < text.size(); ++i) {
    if (text[i] != unknown_base) known.push_back(i);
  }
  std::ranges::sort(positions);
  ASSERT_EQ(positions, known);
  ASSERT_EQ(found.common.size(), found.position.size());
  std::string before;
  for (uint32_t row = 0; row < found.rows(); ++row) {
    const std::string suffix = suffix_at(text, found.position[row]);
    ASSERT_LE(before, suffix) << row;
    const auto [one, other] = std::ranges::mismatch(before, suffix);
    ASSERT_EQ(found.common[row], row == 0 ? 0 : one - before.begin()) << row;
    before = suffix;
  }
}

RC_GTEST_PROP(SuffixArray, IsInTheOrderOfADictionary, ())
{
  const base_text text = *texts();
  expect_sorted(text, sort_suffixes(text));
}

TEST(SuffixArray, OfLongTextsThatRepeatThemselves) {
  std::string fibonacci = "A", next = "AC";
  while (next.size() < 3000) {
    std::string sum = next + fibonacci;
    fibonacci = std::exchange(next, std::move(sum));
  }
  for (const std::string& letters : {std::string(2000, 'A'), std::string(2000, 'N'), fibonacci,
                                     std::string(900, 'T') + "N" + std::string(900, 'T'), std::string()}) {
    const base_text text = text_of(letters);
    expect_sorted(text, sort_suffixes(text));
  }
}

TEST(SuffixArray, RefusesATextWithoutAnEnd) {
  EXPECT_THROW((void)sort_suffixes({}), invalid_argument);
  EXPECT_THROW((void)sort_suffixes({0, 1}), invalid_argument);
}

/// A tree and the letters of its nodes, found on the way down from the root.
class walked_tree {
 public:
  explicit walked_tree(const base_text& text, node_order order)
      : text_(text), suffixes_(sort_suffixes(text)), tree_(build_suffix_tree(text, suffixes_, order)) {
    letters_[0] = "";
    walk(0);
  }

  const suffix_tree& tree() const { return tree_; }
  const suffix_array& suffixes() const { return suffixes_; }
  const std::map<uint32_t, std::string>& letters() const { return letters_; }

  /// Whether the tree has a piece of text.
  bool has(const std::string& piece) const {
    uint32_t node = 0;
    size_t depth = 0;
    while (depth < piece.size()) {
      const uint32_t child = tree_.nodes[node].child[std::string("ACGT").find(piece[depth])];
      if (child == MATCH_NO_CHILD) return false;
      const std::string below = (child & MATCH_LEAF) != 0 ? suffix_at(text_, child & ~MATCH_LEAF) : letters_.at(child);
      const size_t length = std::min(piece.size(), below.size());
      if (piece.compare(0, length, below, 0, length) != 0) return false;
      if ((child & MATCH_LEAF) != 0) return length == piece.size();
      node = child;
      depth = below.size();
    }
    return true;
  }

 private:
  void walk(uint32_t node) {
    for (uint32_t letter = 0; letter < 4; ++letter) {
      const uint32_t child = tree_.nodes[node].child[letter];
      if (child == MATCH_NO_CHILD) continue;
      const std::string above = letters_.at(node) + "ACGT"[letter];
      if ((child & MATCH_LEAF) != 0) {
        EXPECT_TRUE(suffix_at(text_, child & ~MATCH_LEAF).starts_with(above)) << above;
        continue;
      }
      ASSERT_EQ(letters_.count(child), 0u) << "a node has two parents";
      ASSERT_LT(child, tree_.nodes.size());
      const match_node& below = tree_.nodes[child];
      letters_[child] = suffix_at(text_, below.begin).substr(0, below.depth);
      EXPECT_EQ(letters_[child].size(), below.depth);
      EXPECT_TRUE(letters_[child].starts_with(above)) << above;
      walk(child);
    }
  }

  const base_text text_;
  const suffix_array suffixes_;
  const suffix_tree tree_;
  std::map<uint32_t, std::string> letters_;
};

/// All pieces of a text, with the positions at which they stand.
std::map<std::string, std::set<uint32_t>> pieces_of(const base_text& text) {
  std::map<std::string, std::set<uint32_t>> pieces;
  for (uint32_t i = 0; i < text.size(); ++i) {
    const std::string suffix = suffix_at(text, i);
    for (size_t length = 1; length <= suffix.size(); ++length) pieces[suffix.substr(0, length)].insert(i);
  }
  return pieces;
}

RC_GTEST_PROP(SuffixTree, HasJustThePiecesThatBranch, ())
{
  const base_text text = *rc::gen::suchThat(texts(), [](const base_text& made) { return made.size() < 80; });
  const walked_tree walked(text, *rc::gen::element(node_order::breadth, node_order::depth));
  const auto pieces = pieces_of(text);
  std::set<std::string> branching{""};
  for (const auto& [piece, places] : pieces) {
    RC_ASSERT(walked.has(piece));
    std::set<uint8_t> letters;
    size_t ends = 0;
    for (const uint32_t place : places) {
      const uint8_t next = text[place + piece.size()];
      next == unknown_base ? void(++ends) : void(letters.insert(next));
    }
    if (letters.size() + ends > 1) branching.insert(piece);
  }
  std::set<std::string> found;
  for (const auto& [node, letters] : walked.letters()) found.insert(letters);
  RC_ASSERT(found == branching);
  RC_ASSERT(walked.tree().nodes.size() == branching.size());
}

RC_GTEST_PROP(SuffixTree, HasNothingElse, ())
{
  const base_text text = *texts();
  const walked_tree walked(text, node_order::breadth);
  const auto pieces = pieces_of(text);
  for (uint32_t word = 0; word < 1u << 12; ++word) {
    std::string letters;
    for (uint32_t rest = word; letters.size() < 6; rest /= 4) letters += "ACGT"[rest % 4];
    RC_ASSERT(walked.has(letters) == (pieces.count(letters) != 0));
  }
}

RC_GTEST_PROP(SuffixTree, LinksLeadToTheLettersWithoutTheFirst, ())
{
  const base_text text = *texts();
  const walked_tree walked(text, *rc::gen::element(node_order::breadth, node_order::depth));
  for (const auto& [node, letters] : walked.letters()) {
    const uint32_t link = walked.tree().nodes[node].link;
    RC_ASSERT(walked.letters().count(link) == 1u);
    RC_ASSERT(walked.letters().at(link) == (node == 0 ? "" : letters.substr(1)));
  }
}

RC_GTEST_PROP(SuffixTree, RowsBelowANodeAreThePlacesOfItsLetters, ())
{
  const base_text text = *texts();
  const walked_tree walked(text, *rc::gen::element(node_order::breadth, node_order::depth));
  const auto pieces = pieces_of(text);
  for (const auto& [node, letters] : walked.letters()) {
    const auto begin = walked.suffixes().position.begin();
    const std::set<uint32_t> found(begin + walked.tree().nodes[node].row, begin + walked.tree().end_row[node]);
    if (node == 0) {
      RC_ASSERT(found.size() == walked.suffixes().position.size());
    } else {
      RC_ASSERT(found == pieces.at(letters));
    }
  }
}

RC_GTEST_PROP(SuffixTree, NumbersNodesAsItWasAsked, ())
{
  const base_text text = *texts();
  for (const node_order order : {node_order::breadth, node_order::depth}) {
    const walked_tree walked(text, order);
    std::map<uint32_t, uint32_t> level{{0, 0}};
    uint32_t before = 0;
    for (uint32_t node = 0; node < walked.tree().nodes.size(); ++node) {
      for (const uint32_t child : walked.tree().nodes[node].child) {
        if (child == MATCH_NO_CHILD || (child & MATCH_LEAF) != 0) continue;
        RC_ASSERT(child > node);
        level[child] = level.at(node) + 1;
      }
      if (order == node_order::breadth) RC_ASSERT(level.at(node) >= before);
      if (order == node_order::depth && node > 0) {
        RC_ASSERT(walked.tree().nodes[node].row >= walked.tree().nodes[node - 1].row);
      }
      before = level.at(node);
    }
  }
}

TEST(SuffixTree, LinksOfALongTextAreRightToo) {
  const base_text text = reference_text::of({generated_reference(200'000, 1)}).bases;
  const suffix_array suffixes = sort_suffixes(text);
  const suffix_tree tree = build_suffix_tree(text, suffixes, node_order::breadth);
  for (uint32_t node = 1; node < tree.nodes.size(); ++node) {
    const match_node &from = tree.nodes[node], &to = tree.nodes[from.link];
    ASSERT_EQ(to.depth + 1, from.depth);
    ASSERT_TRUE(std::equal(text.begin() + to.begin, text.begin() + to.begin + to.depth, text.begin() + from.begin + 1));
  }
}

TEST(ReferenceIndex, FindsTheRowsOfWords) {
  const reference_index index =
      reference_index::of({{"r", text_of("ACGTACGNACNNTACGTAC")}, {"s", text_of("ACG")}}, node_order::breadth);
  const auto pieces = pieces_of(index.text.bases);
  for (uint32_t letters = 1; letters < 5; ++letters) {
    const std::vector<match_rows> rows = rows_of_words(index, letters);
    ASSERT_EQ(rows.size(), size_t{1} << 2 * letters);
    for (uint32_t word = 0; word < rows.size(); ++word) {
      std::string piece;
      for (uint32_t i = letters; i-- > 0;) piece += "ACGT"[word >> 2 * i & 3];
      std::set<uint32_t> found;
      for (uint32_t row = rows[word].first; row < rows[word].end; ++row) found.insert(index.suffixes.position[row]);
      EXPECT_EQ(found, pieces.count(piece) != 0 ? pieces.at(piece) : std::set<uint32_t>{}) << piece;
    }
  }
}

TEST(ReferenceIndex, PacksLettersIntoFourBits) {
  base_text bases(21);
  for (size_t i = 0; i < bases.size(); ++i) bases[i] = static_cast<uint8_t>(i % 5);
  const std::vector<uint32_t> words = packed(bases, MATCH_NOT_IN_QUERY);
  for (uint32_t i = 0; i < words.size() * 8; ++i) {
    const bool is_base = i < bases.size() && bases[i] != unknown_base;
    EXPECT_EQ(match_letter(words.data(), i), is_base ? bases[i] : MATCH_NOT_IN_QUERY) << i;
  }
  for (uint32_t i = 0; i < 20; ++i) {
    for (uint32_t k = 0; k < 8; ++k) {
      EXPECT_EQ(match_eight(words.data(), i) >> 4 * k & 15, match_letter(words.data(), i + k));
    }
  }
}

}  // namespace
}  // namespace gpusync::tool
