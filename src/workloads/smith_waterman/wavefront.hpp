// Smith-Waterman local alignment with affine gaps (item F7; Smith and Waterman 1981, Gotoh 1982) along anti-diagonals,
// with a boundary after each, in memory: the text for host threads and CUDA; smith_waterman.cl says the same in
// OpenCL C.
//
//   H(i,j) = max(0, H(i-1,j-1) + s(i,j), E(i,j), F(i,j))     the best score of an alignment that ends in cell (i,j)
//   E(i,j) = max(H(i,j-1) - open - extend, E(i,j-1) - extend)   … with a gap in the query
//   F(i,j) = max(H(i-1,j) - open - extend, F(i-1,j) - extend)   … with a gap in the reference
//
// Row i is a letter of the query, column j one of the reference; diagonal d has the cells with i + j = d. Memory is
// that of a few words for each row: what a cell hands to the next column and to the next row.
#pragma once

#include "boundary/computation.hpp"
#include "workloads/smith_waterman/alignment_problem.hpp"

namespace gpusync::tool {

/// What a cell hands to the row below it.
struct handed_down {
  int32_t score;  ///< H(i,j); in the pipeline lowered, as pipeline.hpp says
  int32_t gap;    ///< F(i+1,j)
};

/// What a cell hands to the next one in its row, besides H(i,j).
struct handed_on {
  int32_t gap;       ///< E(i,j+1)
  int32_t diagonal;  ///< H(i-1,j), from which the next cell goes on diagonally
};

/// Less than any score, by so much that gaps can be taken from it.
inline constexpr int32_t no_score = -(1 << 30);

/// Devices compare letters and take equal ones for a match, so an unknown letter of the reference must be none of the
/// query's.
inline constexpr uint8_t unknown_of_reference = 5;

inline std::vector<uint8_t> letters_of_reference(std::vector<uint8_t> reference) {
  for (uint8_t& letter : reference) letter = letter == unknown_base ? unknown_of_reference : letter;
  return reference;
}

/// What all forms of the computation know.
struct wavefront_problem {
  const uint8_t* query;      ///< `rows` letters, 0 to 4
  const uint8_t* reference;  ///< `columns` letters, 0 to 3 or unknown_of_reference
  uint32_t rows;
  uint32_t columns;
  int32_t match;
  int32_t mismatch;
  int32_t open_and_extend;  ///< taken for the first letter of a gap
  int32_t extend;           ///< and for each further one

  /// Of a problem whose letters stand at these addresses, the reference's as letters_of_reference() gives them.
  static wavefront_problem of(const alignment_problem& all, const uint8_t* query, const uint8_t* reference) {
    const alignment_scoring& scoring = all.scoring;
    return {query,
            reference,
            static_cast<uint32_t>(all.query.size()),
            static_cast<uint32_t>(all.reference.size()),
            scoring.match,
            scoring.mismatch,
            scoring.gap_open + scoring.gap_extend,
            scoring.gap_extend};
  }

  /// Diagonals; none if either sequence is empty.
  GPUSYNC_HD uint32_t steps() const { return rows == 0 || columns == 0 ? 0 : rows + columns - 1; }

  /// A cell from what was handed to it in its row (`on`) and from above (`up`). Afterwards `on` and `down` are what it
  /// hands on. Returns H(i,j).
  GPUSYNC_HD int32_t cell(bool equal, handed_on& on, const handed_down& up, handed_down& down) const {
    int32_t score = on.diagonal + (equal ? match : mismatch);
    score = score > on.gap ? score : on.gap;
    score = score > up.gap ? score : up.gap;
    score = score > 0 ? score : 0;
    const int32_t opened = score - open_and_extend;
    const int32_t across = on.gap - extend, downwards = up.gap - extend;
    on.gap = opened > across ? opened : across;
    on.diagonal = up.score;
    down.score = score;
    down.gap = opened > downwards ? opened : downwards;
    return score;
  }
};

/// All in memory: the cells of a diagonal are dealt out to threads, and whoever computes a cell finds what was handed
/// to it by threads of any block.
struct wavefront_steps : computation {
  wavefront_problem problem;
  handed_down* down;  ///< two halves of `rows`, used in turn
  handed_on* on;      ///< `rows`
  row_best* best;     ///< `rows`, 0 at the start

  GPUSYNC_HD uint32_t steps() const { return problem.steps(); }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t diagonal, kept&) const {
    const uint32_t rows = problem.rows;
    const uint32_t first = diagonal < problem.columns ? 0 : diagonal - problem.columns + 1;
    const uint32_t end = diagonal < rows ? diagonal + 1 : rows;
    const handed_down* const before = down + ((diagonal + 1) % 2) * size_t{rows};
    handed_down* const now = down + (diagonal % 2) * size_t{rows};
    for (uint32_t row = first + grid.block() * grid.threads() + grid.thread(); row < end;
         row += grid.blocks() * grid.threads()) {
      const uint32_t column = diagonal - row;
      handed_on across = column == 0 ? handed_on{no_score, 0} : on[row];
      const handed_down above = row == 0 ? handed_down{0, no_score} : before[row - 1];
      handed_down below;
      const int32_t score = problem.cell(problem.query[row] == problem.reference[column], across, above, below);
      on[row] = across;
      now[row] = below;
      if (score > best[row].score) best[row] = {score, column};
    }
  }
};

}  // namespace gpusync::tool
