#include "workloads/smith_waterman/traceback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <future>
#include <iterator>
#include <limits>
#include <span>
#include <system_error>

#include <gpusync/core/error.hpp>

#include "boundary/program.hpp"
#include "workloads/smith_waterman/reference.hpp"

namespace gpusync::tool {

namespace {

using bases = std::span<const uint8_t>;

/// Below so many cells a second thread costs more than it saves.
constexpr double cells_for_two_threads = 1 << 20;

/// Puts an alignment together, letter by letter, from its begin to its end.
class cigar_writer {
 public:
  explicit cigar_writer(alignment& written) : written_(written) {}

  /// `letters` more letters of a kind; they join the run before if that is of the same kind.
  void add(char kind, uint64_t letters) {
    if (letters == 0) return;
    if (kind != kind_) {
      end_run();
      kind_ = kind;
      if (kind == 'I' || kind == 'D') ++written_.gaps;
    }
    run_ += letters;
    (kind == '=' ? written_.matches : kind == 'X' ? written_.mismatches : written_.gap_letters) += letters;
  }

  /// To be called after the last letter.
  void end_run() {
    if (run_ > 0) written_.cigar += fmt::format("{}{}", run_, kind_);
    run_ = 0;
  }

 private:
  alignment& written_;
  char kind_ = 0;
  uint64_t run_ = 0;
};

/// The last row of a matrix of global alignments: for each count of query letters, the greatest score (`best`), and the
/// greatest of alignments that end in a gap of reference letters (`gap`). 64 bits, for the scores of bad alignments
/// have no lower limit but the lengths.
struct matrix_row {
  std::vector<int64_t> best;
  std::vector<int64_t> gap;
};

/// Myers and Miller's divide and conquer. Rows are letters of the reference, columns of the query. The matrix is cut at
/// its middle row; the best path crosses it either in a cell, or inside a gap of reference letters, whose opening must
/// then be paid once and not twice.
class linear_space_aligner {
 public:
  linear_space_aligner(bases query, bases reference, const alignment_scoring& scoring, cigar_writer& cigar,
                       bool two_threads, const std::function<bool()>& interrupted)
      : query_(query),
        reference_(reference),
        scoring_(scoring),
        cigar_(cigar),
        two_threads_(two_threads),
        interrupted_(interrupted),
        open_(scoring.gap_open),
        extend_(scoring.gap_extend) {
    for (matrix_row* row : {&before_, &after_}) {
      row->best.resize(query.size() + 1);
      row->gap.resize(query.size() + 1);
    }
  }

  void align() { align(query_, reference_, open_, open_); }

 private:
  /// Writes a best global alignment of `query` and `reference`, where a gap of reference letters at the begin costs
  /// `open_before` to open and one at the end `open_after`: 0 where it goes on beyond.
  void align(bases query, bases reference, int64_t open_before, int64_t open_after) {
    if (reference.empty()) return cigar_.add('I', query.size());
    if (query.empty()) return cigar_.add('D', reference.size());
    if (reference.size() == 1) return align_letter(query, reference[0], open_before, open_after);

    const size_t middle = reference.size() / 2;
    compute_rows(query, reference, middle, open_before, open_after);
    end_if(interrupted_);
    int64_t most = std::numeric_limits<int64_t>::min();
    size_t column = 0;
    bool inside_gap = false;
    for (size_t i = 0, left = query.size(); i <= query.size(); ++i, --left) {
      const int64_t in_cell = before_.best[i] + after_.best[left];
      const int64_t in_gap = before_.gap[i] + after_.gap[left] + open_;
      if (std::max(in_cell, in_gap) <= most) continue;
      most = std::max(in_cell, in_gap);
      column = i;
      inside_gap = in_gap > in_cell;
    }
    if (inside_gap) {  // both letters at the cut are in it
      align(query.first(column), reference.first(middle - 1), open_before, 0);
      cigar_.add('D', 2);
      align(query.subspan(column), reference.subspan(middle + 1), 0, open_after);
    } else {
      align(query.first(column), reference.first(middle), open_before, open_);
      align(query.subspan(column), reference.subspan(middle), open_, open_after);
    }
  }

  /// The same for one letter of the reference: it stands beside one of the query's, or in a gap at the cheaper end.
  void align_letter(bases query, uint8_t letter, int64_t open_before, int64_t open_after) {
    int64_t most = -std::min(open_before, open_after) - extend_ - gap_cost(query.size());
    size_t partner = query.size();
    for (size_t i = 0; i < query.size(); ++i) {
      const int64_t score = scoring_.pair(query[i], letter) - gap_cost(i) - gap_cost(query.size() - 1 - i);
      if (score <= most) continue;
      most = score;
      partner = i;
    }
    if (partner < query.size()) {
      cigar_.add('I', partner);
      cigar_.add(scoring_.pair(query[partner], letter) == scoring_.match ? '=' : 'X', 1);
      cigar_.add('I', query.size() - 1 - partner);
    } else if (open_before <= open_after) {
      cigar_.add('D', 1);
      cigar_.add('I', query.size());
    } else {
      cigar_.add('I', query.size());
      cigar_.add('D', 1);
    }
  }

  int64_t gap_cost(size_t letters) const { return letters == 0 ? 0 : open_ + extend_ * static_cast<int64_t>(letters); }

  /// before_ becomes the row at the cut of the reference before `middle`, after_ that of the rest read backwards.
  void compute_rows(bases query, bases reference, size_t middle, int64_t open_before, int64_t open_after) {
    const auto forwards = [&] {
      compute_row(query.begin(), query.size(), reference.begin(), middle, open_before, before_);
    };
    const auto backwards = [&] {
      compute_row(query.rbegin(), query.size(), reference.rbegin(), reference.size() - middle, open_after, after_);
    };
    if (two_threads_ &&
        static_cast<double>(query.size()) * static_cast<double>(reference.size()) > cells_for_two_threads) {
      try {
        const auto other = std::async(std::launch::async, forwards);
        backwards();
        return;
      } catch (const std::system_error&) {  // no second thread
      }
    }
    forwards();
    backwards();
  }

  /// Fills `row` with scores of all `rows` letters against 0 to `columns` letters. A gap of reference letters at the
  /// begin costs `open_before` to open. Where it is interrupted, it fills some.
  template <class QueryLetter, class ReferenceLetter>
  void compute_row(QueryLetter query, size_t columns, ReferenceLetter reference, size_t rows, int64_t open_before,
                   matrix_row& row) const {
    int64_t* best = row.best.data();
    int64_t* gap = row.gap.data();
    const int64_t open = open_, extend = extend_, match = scoring_.match, mismatch = scoring_.mismatch;
    for (size_t i = 0; i <= columns; ++i) {
      best[i] = -gap_cost(i);
      gap[i] = best[i] - open;  // the first row opens its gaps here
    }
    gap[0] = -open_before;
    for (size_t k = 0; k < rows; ++k, ++reference) {
      if (k % rows_between_questions == 0 && interrupted_ && interrupted_()) return;
      const uint8_t letter = *reference == unknown_base ? uint8_t{255} : *reference;  // no base is 255
      int64_t diagonal = best[0];
      best[0] = gap[0] = gap[0] - extend;
      int64_t along = best[0] - open - extend;  // the score of the next cell if it is in a gap of query letters
      QueryLetter base = query;
      for (size_t i = 1; i <= columns; ++i, ++base) {
        const int64_t up = best[i];
        const int64_t down = std::max(gap[i], up - open) - extend;
        const int64_t without_along = std::max(diagonal + (*base == letter ? match : mismatch), down);
        best[i] = std::max(without_along, along);
        gap[i] = down;
        // The same as from best[i], and sooner: see compute_tile.
        along = std::max(without_along - open, along) - extend;
        diagonal = up;
      }
    }
  }

  static constexpr size_t rows_between_questions = 16;

  bases query_;
  bases reference_;
  alignment_scoring scoring_;
  cigar_writer& cigar_;
  bool two_threads_;
  const std::function<bool()>& interrupted_;
  int64_t open_;
  int64_t extend_;
  matrix_row before_;
  matrix_row after_;
};

bool is_within(int64_t position, size_t length) {
  return position >= 0 && static_cast<size_t>(position) < length;
}

/// The alignment without its CIGAR. A best alignment of the two prefixes, read backwards, can only begin at `end`, so
/// that where it ends is where one begins that ends there.
alignment find_begin(const std::vector<uint8_t>& query, const std::vector<uint8_t>& reference,
                     const alignment_scoring& scoring, const alignment_end& end, uint32_t threads,
                     const std::function<bool()>& interrupted) {
  if (!is_within(end.query_end, query.size()) || !is_within(end.reference_end, reference.size())) {
    throw invalid_argument(fmt::format(
        "An alignment cannot end at letter {} of a query of {} and letter {} of a reference of {}, counted from 0.",
        end.query_end, query.size(), end.reference_end, reference.size()));
  }
  const auto backwards = [](const std::vector<uint8_t>& letters, int64_t last) {
    return std::vector<uint8_t>(letters.rend() - last - 1, letters.rend());
  };
  const alignment_end begin = align_reference(backwards(query, end.query_end), backwards(reference, end.reference_end),
                                              scoring, threads, {}, interrupted);
  if (begin.score != end.score) {
    throw invalid_argument(fmt::format(
        "The best local alignment up to letter {} of the query and letter {} of the reference scores {}, not {}.",
        end.query_end, end.reference_end, begin.score, end.score));
  }
  alignment found;
  found.query_begin = end.query_end - begin.query_end;
  found.query_end = end.query_end;
  found.reference_begin = end.reference_end - begin.reference_end;
  found.reference_end = end.reference_end;
  return found;
}

bases part(const std::vector<uint8_t>& letters, int64_t begin, int64_t end) {
  return bases(letters).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin + 1));
}

}  // namespace

alignment trace_back(const std::vector<uint8_t>& query, const std::vector<uint8_t>& reference,
                     const alignment_scoring& scoring, const alignment_end& end, uint32_t threads,
                     const std::function<bool()>& interrupted) {
  require_scoring(scoring, query.size(), reference.size());
  if (end.score == 0) return {};
  alignment found = find_begin(query, reference, scoring, end, threads, interrupted);
  cigar_writer cigar(found);
  linear_space_aligner(part(query, found.query_begin, found.query_end),
                       part(reference, found.reference_begin, found.reference_end), scoring, cigar, threads != 1,
                       interrupted)
      .align();
  cigar.end_run();
  if (const int64_t score = score_of(found, query, reference, scoring); score != end.score) {
    throw invalid_argument(fmt::format(
        "No alignment of score {} ends at letter {} of the query and letter {} of the reference: it ends before.",
        end.score, end.query_end, end.reference_end));
  }
  return found;
}

namespace {

/// Walks along a CIGAR.
class rescoring {
 public:
  rescoring(const alignment& found, const std::vector<uint8_t>& query, const std::vector<uint8_t>& reference,
            const alignment_scoring& scoring)
      : found_(found), query_(query), reference_(reference), scoring_(scoring) {}

  int64_t score() {
    if (found_.query_begin < 0 || found_.reference_begin < 0) fail("begins before the first letter");
    query_at_ = static_cast<uint64_t>(found_.query_begin);
    reference_at_ = static_cast<uint64_t>(found_.reference_begin);
    const char* at = found_.cigar.data();
    const char* const end = at + found_.cigar.size();
    while (at != end) {
      uint64_t letters = 0;
      const auto [kind, code] = std::from_chars(at, end, letters);
      if (code != std::errc{} || letters == 0) fail("needs a count of at least 1 before each of =, X, I and D");
      if (kind == end) fail("ends in a count");
      walk(*kind, letters);
      at = kind + 1;
    }
    check_end();
    return score_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    constexpr size_t shown = 60;
    throw error(fmt::format("The CIGAR '{}{}' {}.", found_.cigar.substr(0, shown),
                            found_.cigar.size() > shown ? "..." : "", what));
  }

  void walk(char kind, uint64_t letters) {
    if (kind == kind_) fail(fmt::format("has two runs of {} side by side", kind));
    kind_ = kind;
    switch (kind) {
      case '=':
      case 'X': return pair(kind == '=', letters);
      case 'I': skip(query_at_, letters, query_.size()); break;
      case 'D': skip(reference_at_, letters, reference_.size()); break;
      default: fail(fmt::format("has a letter of code {} that is none of =, X, I and D", static_cast<uint8_t>(kind)));
    }
    counted_.gap_letters += letters;
    ++counted_.gaps;
    score_ -= scoring_.gap_open + int64_t{scoring_.gap_extend} * static_cast<int64_t>(letters);
  }

  void pair(bool equal, uint64_t letters) {
    const uint64_t query_first = query_at_, reference_first = reference_at_;
    skip(query_at_, letters, query_.size());
    skip(reference_at_, letters, reference_.size());
    for (uint64_t i = 0; i < letters; ++i) {
      const uint8_t base = query_[query_first + i];
      if ((base == reference_[reference_first + i] && base < unknown_base) != equal) {
        fail(fmt::format("says {} of letter {} of the query and letter {} of the reference, counted from 0",
                         equal ? '=' : 'X', query_first + i, reference_first + i));
      }
    }
    (equal ? counted_.matches : counted_.mismatches) += letters;
    score_ += int64_t{equal ? scoring_.match : scoring_.mismatch} * static_cast<int64_t>(letters);
  }

  void skip(uint64_t& at, uint64_t letters, uint64_t length) const {
    if (at > length || letters > length - at) fail("goes beyond the last letter");
    at += letters;
  }

  void check_end() const {
    if (static_cast<int64_t>(query_at_) != found_.query_end + 1 ||
        static_cast<int64_t>(reference_at_) != found_.reference_end + 1) {
      fail(fmt::format("leads to letter {} of the query and letter {} of the reference, not to {} and {}",
                       static_cast<int64_t>(query_at_) - 1, static_cast<int64_t>(reference_at_) - 1, found_.query_end,
                       found_.reference_end));
    }
    if (counted_.matches != found_.matches || counted_.mismatches != found_.mismatches ||
        counted_.gap_letters != found_.gap_letters || counted_.gaps != found_.gaps) {
      fail(fmt::format("has {} matches, {} mismatches and {} letters in {} gaps, not {}, {}, {} and {}",
                       counted_.matches, counted_.mismatches, counted_.gap_letters, counted_.gaps, found_.matches,
                       found_.mismatches, found_.gap_letters, found_.gaps));
    }
  }

  const alignment& found_;
  const std::vector<uint8_t>& query_;
  const std::vector<uint8_t>& reference_;
  alignment_scoring scoring_;
  char kind_ = 0;
  uint64_t query_at_ = 0;
  uint64_t reference_at_ = 0;
  int64_t score_ = 0;
  alignment counted_;
};

}  // namespace

int64_t score_of(const alignment& found, const std::vector<uint8_t>& query, const std::vector<uint8_t>& reference,
                 const alignment_scoring& scoring) {
  if (found.cigar.empty() && found.query_begin == -1 && found.reference_begin == -1 && found.query_end == -1 &&
      found.reference_end == -1 && found.matches + found.mismatches + found.gap_letters + found.gaps == 0) {
    return 0;
  }
  return rescoring(found, query, reference, scoring).score();
}

}  // namespace gpusync::tool
