// Smith-Waterman in registers: each thread has rows of its own, whose state it keeps as long as its kernel lives; what
// crosses warps goes through memory. The recurrence is that of wavefront.hpp. The Grid is one whose threads exchange
// values, see boundary/cuda_exchange_grid.cuh.
#pragma once

#include "boundary/four_words.hpp"
#include "workloads/smith_waterman/wavefront.hpp"

namespace gpusync::tool {

/// `Rows` neighbouring rows a thread. Each warp is a step behind the one above it, besides the diagonals: what that
/// one's last row handed down in step s - 2 is needed in step s, and is on its way from memory all through step s - 1.
/// That takes as many more steps as there are warps.
///
/// Preconditions: threads per block are a multiple of 32, and all threads together have room for all rows.
template <uint32_t Rows>
struct wavefront_rows {
  static_assert(Rows >= 1 && Rows <= 4, "letters are bytes of a word");
  static constexpr uint32_t most_threads = 1024, full_blocks = 1;

  struct kept {
    int32_t score[Rows];  ///< H of the cell computed last
    int32_t down[Rows];   ///< F that it hands down
    handed_on on[Rows];
    row_best best[Rows];
    uint32_t letters;   ///< of the query: byte k is row k's
    uint32_t passing;   ///< letters of the reference: byte k stands before row k
    uint32_t next;      ///< the letter that comes before row 0 in the step to come
    handed_down above;  ///< in a warp's first thread, what is handed down to row 0 in the step to come
    bool used;          ///< whether anything has been computed
  };

  wavefront_problem problem;
  handed_down* edges;  ///< `slots` times a word for each warp, used in turn: what its last row hands down
  // Between kernels, for each row:
  handed_down* down;
  handed_on* on;
  row_best* best;

  /// Of a warp. Its width is that of the Grid, which must be 32.
  static constexpr uint32_t warp_rows = 32 * Rows;
  /// A step writes one, the next one reads it, and the step after may be a kernel of its own that reads it again.
  static constexpr uint32_t slots = 3;

  GPUSYNC_HD uint32_t steps() const {
    return problem.steps() == 0 ? 0 : problem.steps() + (problem.rows - 1) / warp_rows;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(const Grid& grid, uint32_t step) const {
    kept now;
    now.letters = now.passing = now.next = 0;
    now.above = {0, no_score};
    now.used = false;
    const uint32_t first = first_row(grid);
    const uint32_t diagonal = step - warp(grid);
    const bool starts = step == 0, continues = !starts && active(grid, step);
    GPUSYNC_UNROLL()
    for (uint32_t k = 0; k < Rows; ++k) {
      const uint32_t row = first + k;
      now.score[k] = 0;
      now.down[k] = no_score;
      now.on[k] = {no_score, 0};
      now.best[k] = {0, 0};
      if (row >= problem.rows || !(starts || continues)) continue;
      now.letters |= uint32_t{problem.query[row]} << (8 * k);
      if (starts) continue;
      now.score[k] = down[row].score;
      now.down[k] = down[row].gap;
      now.on[k] = on[row];
      now.best[k] = best[row];
      if (k + 1 < Rows) now.passing |= letter(diagonal - 1 - row) << (8 * k);
    }
    if (active(grid, step)) {
      now.next = letter(diagonal - first);
      now.above = handed_to(grid, step);
    }
    return now;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(const Grid& grid, const kept& now) const {
    if (!now.used) return;
    const uint32_t first = first_row(grid);
    GPUSYNC_UNROLL()
    for (uint32_t k = 0; k < Rows; ++k) {
      const uint32_t row = first + k;
      if (row >= problem.rows) continue;
      down[row] = {now.score[k], now.down[k]};
      on[row] = now.on[k];
      best[row] = now.best[k];
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(const Grid& grid, uint32_t step, kept& now) const {
    // Asked for before this step's work, so that it need not be waited for.
    uint32_t next = 0;
    handed_down above{0, no_score};
    const bool goes_on = active(grid, step + 1);
    if (goes_on) {
      next = letter(step + 1 - warp(grid) - first_row(grid));
      above = handed_to(grid, step + 1);
    }
    if (active(grid, step)) {
      compute(grid, step, now);
      now.used = true;
    }
    now.next = next;
    now.above = above;
  }

 private:
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t first_row(const Grid& grid) {
    return (grid.block() * grid.threads() + grid.thread()) * Rows;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t warp(const Grid& grid) {
    return (grid.block() * grid.threads() + grid.thread()) / Grid::warp_size;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD handed_down* edge(const Grid& grid, uint32_t step, uint32_t of_warp) const {
    const uint32_t warps = grid.blocks() * grid.threads() / Grid::warp_size;
    return edges + (step % slots) * warps + of_warp;
  }

  /// Whether any row of the calling thread's warp has a cell in this step.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool active(const Grid& grid, uint32_t step) const {
    static_assert(Grid::warp_size * Rows == warp_rows);
    const uint32_t before = warp(grid), first = before * warp_rows;
    if (first >= problem.rows || step < before + first) return false;
    const uint32_t last = (problem.rows - first < warp_rows ? problem.rows - first : warp_rows) - 1;
    return step - before - first < problem.columns + last;
  }

  /// The reference's letter, or any other if there is none (below 0 too: the number has wrapped).
  GPUSYNC_HD uint32_t letter(uint32_t column) const {
    return column < problem.columns ? problem.reference[column] : unknown_of_reference;
  }

  /// What is handed to the first row of the calling thread's warp in `step`, if it is the warp's first thread.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD handed_down handed_to(const Grid& grid, uint32_t step) const {
    const uint32_t mine = warp(grid);
    if (mine == 0 || grid.thread() % Grid::warp_size != 0) return {0, no_score};
    return *edge(grid, step - 2, mine - 1);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void compute(const Grid& grid, uint32_t step, kept& now) const {
    const uint32_t first = first_row(grid), diagonal = step - warp(grid);
    const uint32_t lane = grid.thread() % Grid::warp_size;
    // What the row above the thread's first handed down on the diagonal before.
    handed_down above;
    above.score = grid.before(now.score[Rows - 1]);
    above.gap = grid.before(now.down[Rows - 1]);
    if (lane == 0) above = now.above;
    now.passing = now.passing << 8 | now.next;
    GPUSYNC_UNROLL()
    for (uint32_t k = Rows; k-- > 0;) {  // downwards, so that the row above is still as it was
      const uint32_t column = diagonal - first - k;
      if (column < problem.columns && first + k < problem.rows) {
        const handed_down up = k == 0 ? above : handed_down{now.score[k > 0 ? k - 1 : 0], now.down[k > 0 ? k - 1 : 0]};
        const bool equal = ((now.letters ^ now.passing) >> (8 * k) & 0xffu) == 0;
        handed_down below;
        const int32_t score = problem.cell(equal, now.on[k], up, below);
        now.score[k] = below.score;
        now.down[k] = below.gap;
        if (score > now.best[k].score) now.best[k] = {score, column};
      }
      // As early as can be: the barrier waits until it is seen.
      if (k == Rows - 1 && lane == Grid::warp_size - 1) {
        *edge(grid, step, warp(grid)) = {now.score[Rows - 1], now.down[Rows - 1]};
      }
    }
  }
};

}  // namespace gpusync::tool
