#include "workloads/maximal_matches/suffix_array.hpp"

#include <algorithm>
#include <string>

#include <gpusync/core/error.hpp>

#include "workloads/sequences/sequence.hpp"

namespace gpusync::tool {

namespace {

/// Induced sorting. A suffix is small if it comes before the one behind it, else large; a small one behind a large one
/// is a leftmost small one. Once those are in order, one pass brings the large ones into theirs, and one the small
/// ones.
template <class Letter>
class induced_sorting {
 public:
  /// Letters are below `letters`; the last one is 0 and stands there alone. `order`: room for as many positions.
  induced_sorting(const Letter* text, int32_t length, int32_t letters, int32_t* order)
      : text_(text), length_(length), order_(order), is_small_(length), buckets_(letters), sizes_(letters) {
    is_small_[length - 1] = true;
    ++sizes_[text[length - 1]];
    for (int32_t i = length - 2; i >= 0; --i) {
      is_small_[i] = text[i] < text[i + 1] || (text[i] == text[i + 1] && is_small_[i + 1]);
      ++sizes_[text[i]];
    }
  }

  void sort() {
    sort_pieces();
    const int32_t count = gather_sorted();
    int32_t* const reduced = order_ + length_ - count;
    const int32_t names = name_pieces(count);
    if (names < count) {
      induced_sorting<int32_t>(reduced, count, names, order_).sort();
    } else {
      for (int32_t i = 0; i < count; ++i) order_[reduced[i]] = i;
    }
    int32_t next = 0;
    for (int32_t i = 1; i < length_; ++i) {
      if (is_leftmost_small(i)) reduced[next++] = i;
    }
    for (int32_t i = 0; i < count; ++i) order_[i] = reduced[order_[i]];
    std::fill(order_ + count, order_ + length_, none);
    to_ends();
    for (int32_t i = count - 1; i >= 0; --i) {
      const int32_t at = order_[i];
      order_[i] = none;
      order_[--buckets_[text_[at]]] = at;
    }
    induce();
  }

 private:
  static constexpr int32_t none = -1;

  bool is_leftmost_small(int32_t i) const { return i > 0 && is_small_[i] && !is_small_[i - 1]; }

  void to_begins() {
    int32_t sum = 0;
    for (size_t letter = 0; letter < sizes_.size(); ++letter) {
      buckets_[letter] = sum;
      sum += sizes_[letter];
    }
  }
  void to_ends() {
    int32_t sum = 0;
    for (size_t letter = 0; letter < sizes_.size(); ++letter) buckets_[letter] = sum += sizes_[letter];
  }

  /// Puts all suffixes into their places, once the leftmost small ones stand in order in theirs.
  void induce() {
    to_begins();
    for (int32_t i = 0; i < length_; ++i) {
      const int32_t before = order_[i] - 1;
      if (before >= 0 && !is_small_[before]) order_[buckets_[text_[before]]++] = before;
    }
    to_ends();
    for (int32_t i = length_ - 1; i >= 0; --i) {
      const int32_t before = order_[i] - 1;
      if (before >= 0 && is_small_[before]) order_[--buckets_[text_[before]]] = before;
    }
  }

  /// Sorts the pieces of text from each leftmost small suffix to the next.
  void sort_pieces() {
    std::fill(order_, order_ + length_, none);
    to_ends();
    for (int32_t i = 1; i < length_; ++i) {
      if (is_leftmost_small(i)) order_[--buckets_[text_[i]]] = i;
    }
    induce();
  }

  /// Moves the leftmost small suffixes to the front; returns how many there are.
  int32_t gather_sorted() {
    int32_t count = 0;
    for (int32_t i = 0; i < length_; ++i) {
      if (is_leftmost_small(order_[i])) order_[count++] = order_[i];
    }
    return count;
  }

  bool same_piece(int32_t a, int32_t b) const {
    for (int32_t i = 0;; ++i) {
      if (text_[a + i] != text_[b + i] || is_small_[a + i] != is_small_[b + i]) return false;
      if (i > 0 && (is_leftmost_small(a + i) || is_leftmost_small(b + i))) {
        return is_leftmost_small(a + i) && is_leftmost_small(b + i);
      }
    }
  }

  /// Leaves at the end of `order_` the names of the `count` pieces, in the order of the text; returns how many names
  /// there are. Equal pieces have one.
  int32_t name_pieces(int32_t count) {
    std::fill(order_ + count, order_ + length_, none);
    int32_t names = 0, before = none;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t at = order_[i];
      // The last piece is the sentinel alone, and comes first.
      if (before == none || before == length_ - 1 || at == length_ - 1 || !same_piece(before, at)) ++names;
      before = at;
      order_[count + at / 2] = names - 1;  // no two of them are neighbours
    }
    for (int32_t from = length_ - 1, to = length_ - 1; from >= count; --from) {
      if (order_[from] != none) order_[to--] = order_[from];
    }
    return names;
  }

  const Letter* const text_;
  const int32_t length_;
  int32_t* const order_;
  std::vector<bool> is_small_;
  std::vector<int32_t> buckets_, sizes_;
};

/// By row: bases that it has in common with the row before.
std::vector<uint32_t> common_bases(const std::vector<uint8_t>& text, const std::vector<uint32_t>& position) {
  constexpr uint32_t none = UINT32_MAX;
  // By position: of the row before, then the common bases. From a position to the next, they grow by less than one.
  std::vector<uint32_t> by_position(text.size(), none);
  for (size_t row = 1; row < position.size(); ++row) by_position[position[row]] = position[row - 1];
  uint32_t length = 0;
  for (uint32_t at = 0; at < text.size(); ++at) {
    const uint32_t other = by_position[at];
    if (other == none) {
      by_position[at] = length = 0;
      continue;
    }
    while (text[at + length] == text[other + length] && text[at + length] != unknown_base) ++length;
    by_position[at] = length;
    length -= length > 0 ? 1 : 0;
  }
  std::vector<uint32_t> common(position.size());
  for (size_t row = 0; row < position.size(); ++row) common[row] = by_position[position[row]];
  return common;
}

}  // namespace

suffix_array sort_suffixes(const std::vector<uint8_t>& text) {
  if (text.size() > longest_text) {
    throw invalid_argument("A text of " + std::to_string(text.size()) + " bases is too long: at most " +
                           std::to_string(longest_text) + " can be sorted.");
  }
  if (text.empty() || text.back() != unknown_base) throw invalid_argument("A text ends with an unknown base.");
  suffix_array made;
  {
    // 0 is the sentinel, 1 whatever is unknown: both come before all known bases.
    std::vector<uint8_t> letters(text.size() + 1);
    uint32_t unknown = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      letters[i] = text[i] < unknown_base ? static_cast<uint8_t>(text[i] + 2) : 1;
      unknown += letters[i] == 1;
    }
    std::vector<int32_t> order(letters.size());
    induced_sorting<uint8_t>(letters.data(), static_cast<int32_t>(letters.size()), 6, order.data()).sort();
    made.position.assign(order.begin() + 1 + unknown, order.end());
  }
  made.common = common_bases(text, made.position);
  return made;
}

}  // namespace gpusync::tool
