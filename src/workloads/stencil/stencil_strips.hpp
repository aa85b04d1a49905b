// Workload "stencil" of plates that are cut into strips of whole rows, each in the registers of a block: from step to
// step only a strip's first and last row go to other blocks, to those above and below. Rows between are made new while
// these are under way. C++17: CUDA sources include it; tests run it on host threads.
//
// An exchange is how those rows travel:
//
//   put(grid, row, points)      the thread's points of the strip's first row (0) or last (1)
//   pass(meanwhile)             calls `meanwhile()`; then those of the blocks beside may be read
//   get(grid, above, below)     the thread's points there
//   next(grid)                  the step is over for the block, whose threads meet
#pragma once

#include <gpusync/neighbours/halo.hpp>

#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

/// Rows: of a strip. Pairs: of points side by side, of a thread.
template <class Real, uint32_t Rows, uint32_t Pairs>
struct stencil_strips : computation {
  static_assert(Rows >= 2, "a strip's first row is not its last");
  static constexpr unsigned most_threads = 512, full_blocks = 1;
  static constexpr uint32_t rows = Rows, columns = 2 * Pairs;  ///< points of a thread
  using real = Real;

  Real* body;  ///< the start, and later the end
  Real* rim;   ///< for strips_by_barrier: two buffers of two rows for each strip
  stencil_size size;

  /// Blocks that have a strip; more do nothing.
  GPUSYNC_HD uint32_t strips() const { return size.height / Rows; }
  /// Bytes of dynamic shared memory, for warps of so many threads.
  GPUSYNC_HD static constexpr size_t shared_bytes(uint32_t threads, uint32_t warp_size) {
    return size_t{4} * Rows * (threads / warp_size) * sizeof(Real);
  }

  /// All steps. Whole warps; as many threads as a row has points, over `columns`.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Exchange>
  GPUSYNC_HD void relax(Grid grid, uint32_t steps, Exchange& exchange) const {
    const bool has_strip = grid.block() < strips();
    const uint32_t first_row = has_strip ? grid.block() * Rows : 0;
    const uint32_t column = grid.thread() * columns;
    const bool at_left = column == 0, at_right = column + columns == size.width;
    const bool at_top = grid.block() == 0, at_bottom = grid.block() + 1 == strips();
    Real own[Rows][columns];
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < Rows; ++r) {
      GPUSYNC_UNROLL()
      for (uint32_t c = 0; c < columns; ++c) own[r][c] = body[size_t{first_row + r} * size.width + column + c];
    }
    show_edges(grid, own, 0);
    grid.sync_block();
    for (uint32_t s = 0; s < steps; ++s) {
      if (has_strip) {
        exchange.put(grid, 0, own[0]);
        exchange.put(grid, 1, own[Rows - 1]);
      }
      const auto relaxed = [&](uint32_t r, const Real(&above)[columns], const Real(&below)[columns],
                               Real(&fresh)[columns]) {
        Real left = grid.before(own[r][columns - 1]), right = grid.behind(own[r][0]);
        edge_points(grid, r, s, left, right);
        GPUSYNC_UNROLL()
        for (uint32_t c = 0; c < columns; ++c) {
          const Real across = (c == 0 ? left : own[r][c == 0 ? 0 : c - 1]) +
                              (c + 1 == columns ? right : own[r][c + 1 == columns ? c : c + 1]);
          const bool on_rim = (c == 0 && at_left) || (c + 1 == columns && at_right);
          fresh[c] = on_rim ? own[r][c] : ((above[c] + below[c]) + across) * Real{0.25f};
        }
      };
      Real before[columns], second[columns], fresh[columns];
      copy(own[1], second);
      exchange.pass([&] {
        // Inner rows, each from the old ones around it; the first and the last stay old.
        copy(own[0], before);
        GPUSYNC_UNROLL()
        for (uint32_t r = 1; r + 1 < Rows; ++r) {
          relaxed(r, before, own[r + 1], fresh);
          copy(own[r], before);
          copy(fresh, own[r]);
        }
      });
      Real above[columns], below[columns], last[columns];
      exchange.get(grid, above, below);
      relaxed(0, above, second, fresh);
      relaxed(Rows - 1, before, below, last);
      if (!at_top) copy(fresh, own[0]);
      if (!at_bottom) copy(last, own[Rows - 1]);
      show_edges(grid, own, s + 1);
      exchange.next(grid);
    }
    if (!has_strip) return;
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < Rows; ++r) {
      GPUSYNC_UNROLL()
      for (uint32_t c = 0; c < columns; ++c) body[size_t{first_row + r} * size.width + column + c] = own[r][c];
    }
  }

 private:
  GPUSYNC_HD static void copy(const Real (&from)[columns], Real (&to)[columns]) {
    GPUSYNC_UNROLL()
    for (uint32_t c = 0; c < columns; ++c) to[c] = from[c];
  }

  /// The points at a warp's ends, where the warps beside it find them: two sets in turn.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static Real* edges(Grid grid, uint32_t step, uint32_t right) {
    const uint32_t warps = grid.threads() / Grid::warp_size;
    return static_cast<Real*>(grid.dynamic_shared()) + ((step & 1u) * 2 + right) * (Rows * warps);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void show_edges(Grid grid, const Real (&own)[Rows][columns], uint32_t step) {
    const uint32_t lane = grid.thread() % Grid::warp_size, warp = grid.thread() / Grid::warp_size;
    if (lane == 0) {
      GPUSYNC_UNROLL()
      for (uint32_t r = 0; r < Rows; ++r) edges(grid, step, 0)[warp * Rows + r] = own[r][0];
    }
    if (lane + 1 == Grid::warp_size) {
      GPUSYNC_UNROLL()
      for (uint32_t r = 0; r < Rows; ++r) edges(grid, step, 1)[warp * Rows + r] = own[r][columns - 1];
    }
  }
  /// Puts the points of the warps beside in the place of what the warp's ends have got.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void edge_points(Grid grid, uint32_t r, uint32_t step, Real& left, Real& right) {
    const uint32_t lane = grid.thread() % Grid::warp_size, warp = grid.thread() / Grid::warp_size;
    if (lane == 0 && warp != 0) left = edges(grid, step, 1)[(warp - 1) * Rows + r];
    if (lane + 1 == Grid::warp_size && warp + 1 != grid.threads() / Grid::warp_size) {
      right = edges(grid, step, 0)[(warp + 1) * Rows + r];
    }
  }
};

/// Rows as words of a halo, in whose slot 0 is the strip above and in slot 1 the one below.
template <class Real, uint32_t Pairs, class Halo>
class strips_by_halo {
 public:
  static constexpr uint32_t columns = 2 * Pairs;

  /// Words of a block: two rows.
  static constexpr uint32_t words(uint32_t width) { return 2 * width; }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD strips_by_halo(Halo& halo, Grid grid, uint32_t width) : halo_(halo), width_(width) {
    halo.enter();
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < of_row; ++i) {
      from_[i] = halo.word(0, width + place(grid, i));
      from_[of_row + i] = halo.word(1, place(grid, i));
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void put(Grid grid, uint32_t row, const Real (&points)[columns]) {
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < of_row; ++i) {
      const uint32_t at = row * width_ + place(grid, i);
      if constexpr (sizeof(Real) == 4) {
        halo_.put_pair(at, points[2 * i], points[2 * i + 1]);
      } else {
        halo_.put(at, points[i]);
      }
    }
  }
  GPUSYNC_API_TEMPLATE
  template <class Meanwhile>
  GPUSYNC_HD void pass(Meanwhile&& meanwhile) {
    halo_.send();
    meanwhile();
    halo_.receive();
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void get(Grid, Real (&above)[columns], Real (&below)[columns]) {
    if constexpr (sizeof(Real) == 4) {
      Real found[2 * of_row][2];
      halo_.get_pairs(from_, found);
      GPUSYNC_UNROLL()
      for (uint32_t c = 0; c < columns; ++c) {
        above[c] = found[c / 2][c % 2];
        below[c] = found[of_row + c / 2][c % 2];
      }
    } else {
      Real found[2 * of_row];
      halo_.get(from_, found);
      GPUSYNC_UNROLL()
      for (uint32_t c = 0; c < columns; ++c) {
        above[c] = found[c];
        below[c] = found[of_row + c];
      }
    }
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void next(Grid) {
    halo_.next();
  }

 private:
  /// Accesses of 16 bytes for a thread's part of a row: each of a point and its step, or of two.
  static constexpr uint32_t of_row = sizeof(Real) == 4 ? Pairs : columns;

  /// The word where the `i`-th lies, so that those of a warp lie side by side.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t place(Grid grid, uint32_t i) {
    return (i * grid.threads() + grid.thread()) * (sizeof(Real) == 4 ? 2 : 1);
  }

  Halo& halo_;
  uint32_t width_;
  halo_word from_[2 * of_row];
};

/// Rows in memory, behind a barrier of the grid or of the neighbours; Split: which is arrived at before the inner rows.
template <class Real, uint32_t Pairs, class Barrier, bool Split>
class strips_by_barrier {
 public:
  static constexpr uint32_t columns = 2 * Pairs;

  /// `rows`: stencil_strips::rim.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD strips_by_barrier(Barrier& barrier, Grid, Real* rows, uint32_t width, uint32_t strips)
      : barrier_(barrier), rows_(rows), width_(width), strips_(strips) {
    barrier.enter();
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void put(Grid grid, uint32_t row, const Real (&points)[columns]) {
    GPUSYNC_UNROLL()
    for (uint32_t p = 0; p < Pairs; ++p) {
      *at(grid, grid.block(), row, p) = pair{points[2 * p], points[2 * p + 1]};
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Meanwhile>
  GPUSYNC_HD void pass(Meanwhile&& meanwhile) {
    if constexpr (Split) {
      auto token = barrier_.arrive();
      meanwhile();
      barrier_.wait(static_cast<decltype(token)&&>(token));
    } else {
      barrier_.sync();
      meanwhile();
    }
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void get(Grid grid, Real (&above)[columns], Real (&below)[columns]) {
    const uint32_t block = grid.block();
    GPUSYNC_UNROLL()
    for (uint32_t p = 0; p < Pairs; ++p) {
      const pair up = block == 0 || block >= strips_ ? pair{} : *at(grid, block - 1, 1, p);
      const pair down = block + 1 >= strips_ ? pair{} : *at(grid, block + 1, 0, p);
      above[2 * p] = up.left, above[2 * p + 1] = up.right;
      below[2 * p] = down.left, below[2 * p + 1] = down.right;
    }
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void next(Grid grid) {
    grid.sync_block();
    odd_ = !odd_;
  }

 private:
  /// Points that a thread moves at once.
  struct alignas(2 * sizeof(Real)) pair {
    Real left, right;
  };
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD pair* at(Grid grid, uint32_t block, uint32_t row, uint32_t p) const {
    const uint32_t buffer = odd_ ? strips_ : 0;
    return reinterpret_cast<pair*>(rows_ + size_t{2 * (buffer + block) + row} * width_) + p * grid.threads() +
           grid.thread();
  }

  Barrier& barrier_;
  Real* rows_;
  uint32_t width_;
  uint32_t strips_;
  bool odd_ = false;
};

}  // namespace gpusync::tool
