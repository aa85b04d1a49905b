// The word that a user may have meant.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace gpusync::tool {

/// Of `known` the word that is fewest letters (inserted, left out, changed) from `word`, if these are at most a third
/// of its letters: " Did you mean report?". Else empty. Of several such, one that begins with `word`.
inline std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto distance = [&word](const std::string& other) {
    std::vector<size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < word.size(); ++i) {
      size_t before = row[0]++;
      for (size_t j = 0; j < other.size(); ++j) {
        const size_t changed = before + (word[i] == other[j] ? 0 : 1);
        before = row[j + 1];
        row[j + 1] = std::min({changed, before + 1, row[j] + 1});
      }
    }
    return row.back();
  };
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& each : known) {
    const size_t letters = distance(each);
    if (letters > least || (letters == least && (best == nullptr || !each.starts_with(word)))) continue;
    least = letters;
    best = &each;
  }
  return best == nullptr ? "" : " Did you mean " + *best + "?";
}

}  // namespace gpusync::tool
