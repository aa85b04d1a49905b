// Smith-Waterman in registers: each thread has rows of its own, whose state it keeps as long as its kernel lives; what
// crosses warps goes through memory. The recurrence is that of wavefront.hpp. CUDA only: threads of a warp hand down by
// shuffles.
#pragma once

#include <gpusync/gpusync.cuh>

#include "workloads/smith_waterman/wavefront.hpp"

namespace gpusync::tool {

/// `Rows` neighbouring rows a thread. Preconditions: threads per block are a multiple of 32, and all threads together
/// have room for all rows.
template <uint32_t Rows>
struct wavefront_rows {
  static_assert(Rows >= 1 && Rows <= 4, "letters are bytes of a word");
  static constexpr uint32_t blocks_of_1024 = 1;

  struct kept {
    int32_t score[Rows];  ///< H of the cell computed last
    int32_t down[Rows];   ///< F that it hands down
    handed_on on[Rows];
    row_best best[Rows];
    uint32_t letters;  ///< of the query: byte k is row k's
    uint32_t passing;  ///< letters of the reference: byte k stands before row k
    uint32_t next;     ///< the letter that comes before row 0 next
    bool used;         ///< whether anything has been computed
  };

  wavefront_problem problem;
  handed_down* edges;  ///< two halves, used in turn: what each warp's last row hands down
  // Between kernels, for each row:
  handed_down* down;
  handed_on* on;
  row_best* best;

  __host__ __device__ uint32_t steps() const { return problem.steps(); }

  __device__ kept load(const cuda_grid& grid, uint32_t diagonal) const {
    kept now;
    now.letters = now.passing = now.next = 0;
    now.used = false;
    const uint32_t first = first_row(grid);
    // At the start, rows are as reset; afterwards only those that have begun are needed.
    const bool all = diagonal == 0;
#pragma unroll
    for (uint32_t k = 0; k < Rows; ++k) {
      const uint32_t row = first + k;
      now.score[k] = 0;
      now.down[k] = no_score;
      now.on[k] = {no_score, 0};
      now.best[k] = {0, 0};
      if (row >= problem.rows) continue;
      if (all || active(grid, diagonal)) {
        now.letters |= uint32_t{problem.query[row]} << (8 * k);
        if (!all) {
          now.score[k] = down[row].score;
          now.down[k] = down[row].gap;
          now.on[k] = on[row];
          now.best[k] = best[row];
          if (k + 1 < Rows) now.passing |= letter(diagonal - 1 - row) << (8 * k);
        }
      }
    }
    if (active(grid, diagonal)) now.next = letter(diagonal - first);
    return now;
  }

  __device__ void save(const cuda_grid& grid, const kept& now) const {
    if (!now.used) return;
    const uint32_t first = first_row(grid);
#pragma unroll
    for (uint32_t k = 0; k < Rows; ++k) {
      const uint32_t row = first + k;
      if (row >= problem.rows) continue;
      down[row] = {now.score[k], now.down[k]};
      on[row] = now.on[k];
      best[row] = now.best[k];
    }
  }

  __device__ void step(const cuda_grid& grid, uint32_t diagonal, kept& now) const {
    if (active(grid, diagonal)) {
      compute(grid, diagonal, now);
      now.used = true;
    }
    // Its way from memory is under way while the barrier is waited for.
    if (active(grid, diagonal + 1)) now.next = letter(diagonal + 1 - first_row(grid));
  }

 private:
  __device__ static uint32_t first_row(const cuda_grid& grid) {
    return (grid.block() * grid.threads() + grid.thread()) * Rows;
  }
  __device__ static uint32_t warp(const cuda_grid& grid) {
    return (grid.block() * grid.threads() + grid.thread()) / cuda_grid::warp_size;
  }

  /// Whether any row of the calling thread's warp has a cell on this diagonal.
  __device__ bool active(const cuda_grid& grid, uint32_t diagonal) const {
    constexpr uint32_t rows = cuda_grid::warp_size * Rows;
    const uint32_t first = warp(grid) * rows;
    if (first >= problem.rows || diagonal < first) return false;
    const uint32_t last = (problem.rows - first < rows ? problem.rows - first : rows) - 1;
    return diagonal - first < problem.columns + last;
  }

  /// The reference's letter, or any other if there is none (below 0 too: the number has wrapped).
  __device__ uint32_t letter(uint32_t column) const {
    return column < problem.columns ? problem.reference[column] : unknown_of_reference;
  }

  __device__ void compute(const cuda_grid& grid, uint32_t diagonal, kept& now) const {
    const uint32_t first = first_row(grid), warps = grid.blocks() * grid.threads() / cuda_grid::warp_size;
    const uint32_t lane = grid.thread() % cuda_grid::warp_size;
    // What the row above the thread's first handed down on the diagonal before.
    handed_down above;
    above.score = __shfl_up_sync(~0u, now.score[Rows - 1], 1);
    above.gap = __shfl_up_sync(~0u, now.down[Rows - 1], 1);
    if (lane == 0) {
      above = first == 0 ? handed_down{0, no_score} : edges[((diagonal + 1) % 2) * warps + warp(grid) - 1];
    }
    now.passing = now.passing << 8 | now.next;
#pragma unroll
    for (uint32_t k = Rows; k-- > 0;) {  // downwards, so that the row above is still as it was
      const uint32_t column = diagonal - first - k;
      const handed_down up = k == 0 ? above : handed_down{now.score[k > 0 ? k - 1 : 0], now.down[k > 0 ? k - 1 : 0]};
      if (column >= problem.columns || first + k >= problem.rows) continue;
      const bool equal = ((now.letters ^ now.passing) >> (8 * k) & 0xffu) == 0;
      handed_down below;
      const int32_t score = problem.cell(equal, now.on[k], up, below);
      now.score[k] = below.score;
      now.down[k] = below.gap;
      if (score > now.best[k].score) now.best[k] = {score, column};
    }
    if (lane == cuda_grid::warp_size - 1) {
      edges[(diagonal % 2) * warps + warp(grid)] = {now.score[Rows - 1], now.down[Rows - 1]};
    }
  }
};

}  // namespace gpusync::tool
