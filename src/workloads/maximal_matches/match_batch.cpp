#include "workloads/maximal_matches/match_batch.hpp"

#include <algorithm>
#include <string>

#include <gpusync/core/error.hpp>

#include "in_parallel.hpp"
#include "measure/interruption.hpp"

namespace gpusync::tool {

namespace {

/// A piece of the reference: rows that begin with the same letters.
struct found_piece {
  match_rows rows;
  uint32_t length;
};

/// The longest piece of the reference that each suffix of a query begins with, suffix after suffix.
class longest_pieces {
 public:
  longest_pieces(const reference_index& index, const std::vector<uint8_t>& query) : index_(index), query_(query) {}

  found_piece next() {
    found_piece found = rows_below(node_);
    found.length = depth_;
    const uint32_t known = known_;
    for (;;) {
      const uint32_t at = first_ + depth_;
      const uint32_t child = at < query_.size() && query_[at] != unknown_base ? nodes()[node_].child[query_[at]] : 0;
      if (child == MATCH_NO_CHILD) break;
      const bool is_leaf = (child & MATCH_LEAF) != 0;
      const uint32_t begin = is_leaf ? child & ~MATCH_LEAF : nodes()[child].begin;
      const uint32_t end = is_leaf ? UINT32_MAX : nodes()[child].depth;
      uint32_t length = std::min(end, std::max(known, depth_ + 1));
      while (length < end && first_ + length < query_.size() && text()[begin + length] != unknown_base &&
             text()[begin + length] == query_[first_ + length]) {
        ++length;
      }
      if (is_leaf) {
        const uint32_t row = index_.row_of[begin];
        found = {{row, row + 1}, length};
        break;
      }
      found = rows_below(child);
      found.length = length;
      if (length < end) break;
      node_ = child;
      depth_ = end;
    }
    known_ = found.length > 0 ? found.length - 1 : 0;
    if (node_ != MATCH_ROOT) {
      node_ = nodes()[node_].link;
      --depth_;
    }
    ++first_;
    return found;
  }

 private:
  const std::vector<match_node>& nodes() const { return index_.tree.nodes; }
  const std::vector<uint8_t>& text() const { return index_.text.bases; }
  found_piece rows_below(uint32_t node) const { return {{nodes()[node].row, index_.tree.end_row[node]}, 0}; }

  const reference_index& index_;
  const std::vector<uint8_t>& query_;
  uint32_t first_ = 0, node_ = MATCH_ROOT, depth_ = 0, known_ = 0;
};

/// Of rows that all share `length` letters with a suffix and no more, that next to which it would stand: the first that
/// goes on with a greater letter, or else the last.
uint32_t row_beside(const reference_index& index, const found_piece& found, const std::vector<uint8_t>& query,
                    uint32_t first) {
  const uint32_t at = first + found.length;
  if (at >= query.size() || query[at] == unknown_base) return found.rows.first;
  uint32_t left = found.rows.first, right = found.rows.end;
  while (left < right) {
    const uint32_t middle = left + (right - left) / 2;
    const uint8_t letter = index.text.bases[index.suffixes.position[middle] + found.length];
    if (letter == unknown_base || letter < query[at]) {
      left = middle + 1;
    } else {
      right = middle;
    }
  }
  return std::min(left, found.rows.end - 1);
}

match_record record_of(const reference_index& index, const found_piece& found, const std::vector<uint8_t>& query,
                       uint32_t first, match_method method) {
  if (method == match_method::array) return {row_beside(index, found, query, first), found.length};
  const bool is_leaf = found.rows.end - found.rows.first == 1;
  return {is_leaf ? MATCH_LEAF | index.suffixes.position[found.rows.first] : found.rows.first, found.length};
}

}  // namespace

void match_size::add(uint64_t query_bases, uint32_t least) {
  queries += 1;
  bases += query_bases;
  records += query_bases < least ? 0 : query_bases - least + 1;
}

void require_numbered(const match_size& size) {
  if (size.queries < 1u << 31 && size.bases + size.queries <= UINT32_MAX && size.records <= UINT32_MAX) return;
  throw invalid_argument(std::to_string(size.queries) + " queries of " + std::to_string(size.bases) +
                         " bases are too many for one run, which numbers them in 32 bits: divide them.");
}

match_batch match_batch::of(const std::vector<sequence>& queries, uint32_t least) {
  if (least == 0) throw invalid_argument("A match has one letter or more.");
  match_size size;
  for (const sequence& one : queries) size.add(one.bases.size(), least);
  require_numbered(size);
  match_batch made;
  made.least = least;
  made.queries.reserve(queries.size());
  std::vector<uint8_t> bases;
  bases.reserve(size.bases + size.queries);
  for (const sequence& one : queries) {
    const auto length = static_cast<uint32_t>(one.bases.size());
    const uint32_t suffixes = length < least ? 0 : length - least + 1;
    made.queries.push_back({static_cast<uint32_t>(bases.size()), made.records, suffixes});
    made.records += suffixes;
    bases.insert(bases.end(), one.bases.begin(), one.bases.end());
    bases.push_back(unknown_base);
  }
  made.letters = packed(bases, MATCH_NOT_IN_QUERY);
  return made;
}

std::vector<uint32_t> match_batch::most_of_blocks(uint32_t queries_of_block) const {
  std::vector<uint32_t> most((queries.size() + queries_of_block - 1) / queries_of_block);
  for (size_t i = 0; i < queries.size(); ++i) {
    uint32_t& known = most[i / queries_of_block];
    known = std::max(known, queries[i].suffixes);
  }
  return most;
}

std::vector<match_record> expected_records(const reference_index& index, const std::vector<sequence>& queries,
                                           const match_batch& batch, match_method method,
                                           const std::function<bool()>& interrupted) {
  std::vector<match_record> records(batch.records);
  in_parallel(queries.size(), 256, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const std::vector<uint8_t>& query = queries[i].bases;
      longest_pieces pieces(index, query);
      for (uint32_t first = 0; first < batch.queries[i].suffixes; ++first) {
        if (first % 65536 == 0 && interrupted()) throw run_interrupted();
        const found_piece found = pieces.next();
        if (found.length < batch.least) continue;
        records[batch.queries[i].records + first] = record_of(index, found, query, first, method);
      }
    }
  });
  return records;
}

}  // namespace gpusync::tool
