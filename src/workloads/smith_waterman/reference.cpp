#include "workloads/smith_waterman/reference.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>

#include <gpusync/core/error.hpp>

#include "boundary/program.hpp"

namespace gpusync::tool {

namespace {

using bases = std::span<const uint8_t>;

/// What a cell hands to the next one, below it or to its right: its score, and what the next one scores if it is one
/// more letter of a gap. At the rim of the matrix both are 0, for no gap that begins there is worth more than nothing.
struct edge {
  int32_t score = 0;
  int32_t gap = 0;
};

/// Computes a tile: each letter of `reference` is a row, each of `query` a column. `above` is the edge below the tile
/// above, one for each column, and becomes the one below this tile; `left` likewise, one for each row; `corner` is the
/// score of the cell before both. `rows`, unless it is null, has the best of the tiles above for each letter of the
/// query and takes this tile's, whose first letter of the reference is number `first_letter`. Returns the tile's end
/// cell, its letters counted from the tile's first.
template <bool Rows>
alignment_end compute_tile(bases query, bases reference, const alignment_scoring& scoring, int32_t corner, edge* above,
                           edge* left, row_best* rows, size_t first_letter) {
  const int32_t match = scoring.match, mismatch = scoring.mismatch;
  const int32_t first = scoring.gap_open + scoring.gap_extend, further = scoring.gap_extend;
  int32_t best = 0;
  size_t best_row = 0, best_column = 0;
  for (size_t row = 0; row < reference.size(); ++row) {
    // No base is 255, so that an unknown letter matches none.
    const uint8_t letter = reference[row] == unknown_base ? uint8_t{255} : reference[row];
    int32_t diagonal = corner;
    int32_t score = corner = left[row].score;
    int32_t gap = left[row].gap;
    for (size_t column = 0; column < query.size(); ++column) {
      const edge up = above[column];
      const int32_t pair = diagonal + (query[column] == letter ? match : mismatch);
      const int32_t without_gap = std::max(std::max(pair, 0), up.gap);
      diagonal = up.score;
      score = std::max(without_gap, gap);
      above[column] = {score, std::max(score - first, up.gap - further)};
      // A gap that goes on costs no more than one that is opened where it ends, so `score` is not waited for here: this
      // line is the loop's longest chain.
      gap = std::max(without_gap - first, gap - further);
      if constexpr (Rows) {
        if (score > rows[column].score) rows[column] = {score, static_cast<uint32_t>(first_letter + row)};
      }
      if (score > best) {  // the first in the order of rows and columns stays
        best = score;
        best_row = row;
        best_column = column;
      }
    }
    left[row] = {score, gap};
  }
  if (best == 0) return {};
  return {best, static_cast<int64_t>(best_column), static_cast<int64_t>(best_row)};
}

/// The threads' common state. Each thread takes the next strip, which is the rows of one row of tiles, and computes its
/// tiles from left to right, each as soon as the strip before has passed it. Strips are taken in order, so the least
/// unfinished one never waits.
class tiled_matrix {
 public:
  tiled_matrix(bases query, bases reference, const alignment_scoring& scoring, const tile_shape& tile,
               std::vector<row_best>* rows = nullptr, const std::function<bool()>* interrupted = nullptr)
      : rows_(rows),
        interrupted_(interrupted),
        query_(query),
        reference_(reference),
        scoring_(scoring),
        tile_(tile),
        above_(query.size()),
        passed_((reference.size() + tile.reference_letters - 1) / tile.reference_letters) {}

  size_t strips() const { return passed_.size(); }

  /// A thread's part; `left` is scratch.
  void work(std::vector<edge>& left) {
    alignment_end best;
    for (size_t strip; (strip = next_strip_.fetch_add(1, std::memory_order_relaxed)) < strips();) {
      const alignment_end found = compute_strip(strip, left);
      if (found.goes_before(best)) best = found;
    }
    const std::lock_guard guard(best_mutex_);
    if (best.goes_before(best_)) best_ = best;
  }

  /// The result, once all threads have returned from work().
  const alignment_end& best() const { return best_; }

 private:
  alignment_end compute_strip(size_t strip, std::vector<edge>& left) {
    const size_t first_row = strip * tile_.reference_letters;
    const bases rows = reference_.subspan(first_row, std::min(tile_.reference_letters, reference_.size() - first_row));
    left.assign(rows.size(), {});
    alignment_end best;
    int32_t corner = 0;
    for (size_t first_column = 0, tile = 0; first_column < query_.size(); first_column += tile_.query_letters, ++tile) {
      if (strip > 0) wait_until_passed(strip - 1, tile);
      const bases columns = query_.subspan(first_column, std::min(tile_.query_letters, query_.size() - first_column));
      edge* above = above_.data() + first_column;
      const int32_t next_corner = above[columns.size() - 1].score;  // before this tile overwrites it
      // The others must not wait for this tile for ever, so what is interrupted is passed too.
      alignment_end found;
      if (interrupted_ == nullptr || !(*interrupted_)()) {
        row_best* const bests = rows_ == nullptr ? nullptr : rows_->data() + first_column;
        const auto compute = bests == nullptr ? compute_tile<false> : compute_tile<true>;
        found = compute(columns, rows, scoring_, corner, above, left.data(), bests, first_row);
      }
      corner = next_corner;
      if (found.score > 0) {
        found.query_end += static_cast<int64_t>(first_column);
        found.reference_end += static_cast<int64_t>(first_row);
        if (found.goes_before(best)) best = found;
      }
      passed_[strip].store(tile + 1, std::memory_order_release);
      passed_[strip].notify_all();
    }
    return best;
  }

  void wait_until_passed(size_t strip, size_t tile) {
    for (size_t seen; (seen = passed_[strip].load(std::memory_order_acquire)) <= tile;) {
      passed_[strip].wait(seen, std::memory_order_acquire);
    }
  }

  std::vector<row_best>* rows_;               ///< as above_; null: not wanted
  const std::function<bool()>* interrupted_;  ///< null: never
  bases query_;
  bases reference_;
  alignment_scoring scoring_;
  tile_shape tile_;
  std::vector<edge> above_;                  ///< a tile's part belongs to the strip that comes to it next
  std::vector<std::atomic<size_t>> passed_;  ///< by strip: how many of its tiles are done
  std::atomic<size_t> next_strip_{0};
  std::mutex best_mutex_;
  alignment_end best_;
};

/// Lets `threads` threads, the caller's included, compute the matrix; 0: as many as the machine runs at once.
void compute_matrix(tiled_matrix& matrix, size_t strip_letters, uint32_t threads) {
  if (threads == 0) threads = std::max(std::thread::hardware_concurrency(), 1u);
  const size_t workers = std::clamp<size_t>(matrix.strips(), 1, threads);
  // All that may be refused for want of memory is asked for before the first thread runs.
  std::vector<std::vector<edge>> left(workers);
  for (auto& rows : left) rows.reserve(strip_letters);
  std::vector<std::jthread> others;
  others.reserve(workers);
  try {
    for (size_t i = 1; i < workers; ++i) others.emplace_back([&matrix, &rows = left[i]] { matrix.work(rows); });
  } catch (const std::system_error&) {  // no more threads: those that run are enough
  }
  matrix.work(left[0]);
}

void require_tile(const tile_shape& tile) {
  if (tile.reference_letters != 0 && tile.query_letters != 0) return;
  throw invalid_argument("A tile needs at least 1 letter of the reference and 1 of the query.");
}

}  // namespace

alignment_end align_reference(const std::vector<uint8_t>& query, const std::vector<uint8_t>& reference,
                              const alignment_scoring& scoring, uint32_t threads, const tile_shape& tile,
                              const std::function<bool()>& interrupted) {
  require_scoring(scoring, query.size(), reference.size());
  require_tile(tile);
  tiled_matrix matrix(query, reference, scoring, tile, nullptr, interrupted ? &interrupted : nullptr);
  compute_matrix(matrix, std::min(tile.reference_letters, reference.size()), threads);
  end_if(interrupted);
  return matrix.best();
}

std::optional<std::vector<row_best>> align_rows(const std::vector<uint8_t>& query,
                                                const std::vector<uint8_t>& reference, const alignment_scoring& scoring,
                                                const std::function<bool()>& interrupted, uint32_t threads,
                                                const tile_shape& tile) {
  require_scoring(scoring, query.size(), reference.size());
  require_tile(tile);
  std::vector<row_best> rows(query.size());
  tiled_matrix matrix(query, reference, scoring, tile, &rows, &interrupted);
  compute_matrix(matrix, std::min(tile.reference_letters, reference.size()), threads);
  if (interrupted()) return std::nullopt;
  return rows;
}

}  // namespace gpusync::tool
