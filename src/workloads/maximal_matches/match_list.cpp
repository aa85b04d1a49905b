#include "workloads/maximal_matches/match_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "in_parallel.hpp"
#include "measure/interruption.hpp"

namespace gpusync::tool {

namespace {

/// Calls `found(position, length)` for every place of the reference that shares `least` letters or more with a suffix,
/// whose longest piece, of `length` letters, begins at `row` and perhaps at rows beside it.
template <class Found>
void for_each_place(const suffix_array& suffixes, uint32_t row, uint32_t length, uint32_t least, const Found& found) {
  found(suffixes.position[row], length);
  uint32_t shared = length;
  for (uint32_t next = row; next > 0; --next) {
    shared = std::min(shared, suffixes.common[next]);
    if (shared < least) break;
    found(suffixes.position[next - 1], shared);
  }
  shared = length;
  for (uint32_t next = row + 1; next < suffixes.rows(); ++next) {
    shared = std::min(shared, suffixes.common[next]);
    if (shared < least) break;
    found(suffixes.position[next], shared);
  }
}

std::vector<maximal_match> matches_of_query(const reference_index& index, const std::vector<uint8_t>& query,
                                            const match_query& numbers, match_method method, uint32_t least,
                                            const std::vector<match_record>& records,
                                            const std::function<bool()>& interrupted) {
  const reference_text& text = index.text;
  std::vector<maximal_match> found;
  for (uint32_t first = 0; first < numbers.suffixes; ++first) {
    if (first % 4096 == 0 && interrupted()) throw run_interrupted();
    const match_record& record = records[numbers.records + first];
    if (record.length == 0) continue;
    const bool is_leaf = method == match_method::tree && (record.place & MATCH_LEAF) != 0;
    const uint32_t row = is_leaf ? index.row_of[record.place & ~MATCH_LEAF] : record.place;
    const uint8_t before = first == 0 ? unknown_base : query[first - 1];
    const auto begin = static_cast<std::ptrdiff_t>(found.size());
    for_each_place(index.suffixes, row, record.length, least, [&](uint32_t position, uint32_t length) {
      if (position > 0 && before != unknown_base && text.bases[position - 1] == before) return;
      const auto behind = std::ranges::upper_bound(text.begins, position);
      const auto sequence = static_cast<uint32_t>(behind - text.begins.begin()) - 1;
      found.push_back({sequence, position - text.begins[sequence], first, length});
    });
    std::sort(found.begin() + begin, found.end(), [](const maximal_match& one, const maximal_match& other) {
      return std::tie(one.sequence, one.reference) < std::tie(other.sequence, other.reference);
    });
  }
  return found;
}

}  // namespace

std::vector<std::vector<maximal_match>> matches_of(const reference_index& index, const std::vector<sequence>& queries,
                                                   const match_batch& batch, match_method method,
                                                   const std::vector<match_record>& records,
                                                   const std::function<bool()>& interrupted) {
  std::vector<std::vector<maximal_match>> all(queries.size());
  in_parallel(queries.size(), 64, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      all[i] = matches_of_query(index, queries[i].bases, batch.queries[i], method, batch.least, records, interrupted);
    }
  });
  return all;
}

std::string as_printed(const reference_text& reference, const std::vector<sequence>& queries,
                       const std::vector<std::vector<maximal_match>>& matches) {
  constexpr size_t queries_of_piece = 1024;
  size_t widest = 0;
  for (const std::string& name : reference.names) widest = std::max(widest, name.size());
  const bool with_names = reference.names.size() > 1;
  std::vector<std::string> pieces((queries.size() + queries_of_piece - 1) / queries_of_piece);
  in_parallel(queries.size(), queries_of_piece, [&](size_t begin, size_t end) {
    std::string& text = pieces[begin / queries_of_piece];
    for (size_t i = begin; i < end; ++i) {
      fmt::format_to(std::back_inserter(text), "> {}\n", queries[i].name);
      for (const maximal_match& match : matches[i]) {
        if (with_names) fmt::format_to(std::back_inserter(text), "  {:<{}}  ", reference.names[match.sequence], widest);
        fmt::format_to(std::back_inserter(text), "{:>8}  {:>8}  {:>8}\n", uint64_t{match.reference} + 1,
                       uint64_t{match.query} + 1, match.length);
      }
    }
  });
  std::string all;
  for (std::string& piece : pieces) {
    all += piece;
    std::string().swap(piece);
  }
  return all;
}

}  // namespace gpusync::tool
