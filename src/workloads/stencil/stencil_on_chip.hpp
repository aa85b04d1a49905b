// Workload "stencil" with each block's tile on the chip from step to step: registers hold a thread's points, shared
// memory a copy of them for the threads beside it, and only a tile's rim goes through memory to other blocks.
//
// Step s reads what lies around the tile from one buffer, in which the blocks beside it left it in step s - 1, and
// leaves the tile's own rim in the other. A block writes to a buffer again two steps later, when all have passed the
// boundary behind their reading. C++17: CUDA sources include it; tests run it on host threads.
#pragma once

#include "workloads/stencil/stencil_tiles.hpp"

namespace gpusync::tool {

/// Points side by side, which a thread moves at once.
template <class Real>
struct alignas(2 * sizeof(Real)) point_pair {
  Real left, right;
};

/// Of a plate (2 dimensions) or a block (3) of even width. Its steps are whole runs' only, of an even number of steps.
template <class Real, uint32_t Dimensions>
struct stencil_on_chip : computation {
  using pair = point_pair<Real>;
  static constexpr uint32_t most_rows = sizeof(Real) == 8 ? 12 : 24;  ///< of a thread: as many as its registers hold
  static constexpr unsigned most_threads = 512, full_blocks = 1;

  Real *a, *b;
  stencil_size size;
  stencil_tiles tiles;

  struct kept {
    pair own[most_rows];
    pair top, bottom;                         ///< new points of the rim, while others still need the old ones
    uint32_t rows;                            ///< of this thread; 0: it has none
    uint32_t column;                          ///< its first point
    uint32_t shared;                          ///< its first pair in shared memory
    uint32_t pitch;                           ///< pairs from row to row there
    uint32_t pairs;                           ///< of a row of points
    uint32_t global;                          ///< its first point in the buffers
    bool at_top, at_bottom, at_low, at_high;  ///< whether it has the tile's first row, its last, or is on a side
  };

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid grid, uint32_t) const {
    kept now = placed(grid);
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < most_rows; ++r) {
      if (r < now.rows) now.own[r] = read(a, now.global + r * row_pitch());
    }
    share(grid, now);
    grid.sync_block();
    return now;
  }

  /// A whole step.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t number, kept& now) const {
    (void)relax(grid, number, now, Real{0});
  }
  /// The same; returns whether one of the thread's points has changed by more than `tolerance`.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool relax(Grid grid, uint32_t number, kept& now, Real tolerance) const {
    forget(grid, now);
    const stencil_kept<Real> buffers = stencil_load(a, b, number);
    uint32_t changed = 0;
    march(
        grid, now,
        [&](uint32_t r, pair before, pair after) {
          const pair old = now.own[r];
          const pair fresh = relaxed(grid, buffers.from, now, r, old, before, after);
          if (on_rim(now, r)) write(buffers.to, now.global + r * row_pitch(), fresh);
          changed |= stencil_has_changed(old.left, fresh.left, tolerance);
          changed |= stencil_has_changed(old.right, fresh.right, tolerance);
          return fresh;
        },
        buffers.from);
    grid.sync_block();
    share(grid, now);
    return changed != 0;
  }

  /// What other blocks wait for: the tile's rim.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void first(Grid grid, uint32_t number, kept& now) const {
    forget(grid, now);
    const stencil_kept<Real> buffers = stencil_load(a, b, number);
    const auto rim = [&](uint32_t r, const pair& before, const pair& after) {
      const pair fresh = relaxed(grid, buffers.from, now, r, now.own[r], before, after);
      write(buffers.to, now.global + r * row_pitch(), fresh);
      return fresh;
    };
    if (Dimensions == 3 && (now.at_low || now.at_high)) {  // all of its rows are
      march(grid, now, rim, buffers.from);
      return;
    }
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < most_rows; ++r) {
      if (r >= now.rows || !on_rim(now, r)) continue;
      const pair before = r == 0 ? above(grid, buffers.from, now) : now.own[r == 0 ? 0 : r - 1];
      const pair fresh = rim(r, before, below(grid, buffers.from, now, r));
      if (r == 0 && now.at_top) now.top = fresh;
      if (r + 1 == now.rows && now.at_bottom) now.bottom = fresh;
    }
  }

  /// The others, which need nothing from other blocks.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void rest(Grid grid, uint32_t number, kept& now) const {
    forget(grid, now);
    if (Dimensions != 3 || !(now.at_low || now.at_high)) {
      const stencil_kept<Real> buffers = stencil_load(a, b, number);
      march(
          grid, now,
          [&](uint32_t r, pair before, pair after) {
            if (r == 0 && now.at_top) return now.top;
            if (r + 1 == now.rows && now.at_bottom) return now.bottom;
            return relaxed(grid, buffers.from, now, r, now.own[r], before, after);
          },
          static_cast<const Real*>(nullptr));
    }
    grid.sync_block();
    share(grid, now);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(Grid, const kept& now) const {
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < most_rows; ++r) {
      if (r < now.rows) write(a, now.global + r * row_pitch(), now.own[r]);
    }
  }

 private:
  /// Lets the compiler forget what it knows of these from the step before: what follows from them for each row would be
  /// kept in more registers than there are.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  static GPUSYNC_HD void forget(Grid grid, kept& now) {
    now.shared = grid.opaque(now.shared);
    now.pitch = grid.opaque(now.pitch);
    now.global = grid.opaque(now.global);
    now.rows = grid.opaque(now.rows);
    now.column = grid.opaque(now.column);
  }

  /// The tile in shared memory, one row of pairs behind the other.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  static GPUSYNC_HD pair* shared_tile(Grid grid) {
    return static_cast<pair*>(grid.dynamic_shared());
  }

  /// Points from row to row, or from plate to plate, in the buffers.
  GPUSYNC_HD uint32_t row_pitch() const { return Dimensions == 3 ? size.width * size.height : size.width; }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept placed(Grid grid) const {
    const stencil_tile tile = stencil_tile_of(size, tiles, grid.block());
    kept now;
    now.pairs = stencil_columns(size, 1);
    now.pitch = now.pairs * tile.across.count;
    const uint32_t strips = now.pitch == 0 ? 0 : grid.threads() / now.pitch;
    const uint32_t place = now.pitch == 0 ? 0 : grid.thread() % now.pitch;
    const uint32_t strip = now.pitch == 0 ? 0 : grid.thread() / now.pitch;
    const stencil_span own = strip < strips ? stencil_part(tile.along.count, strip, strips) : stencil_span{0, 0};
    const uint32_t row = place / now.pairs;
    now.rows = own.count;
    now.column = place % now.pairs * 2;
    now.shared = own.first * now.pitch + place;
    const uint32_t across = Dimensions == 3 ? (1 + tile.across.first + row) * size.width : 0;
    now.global = (1 + tile.along.first + own.first) * row_pitch() + across + now.column;
    now.at_top = own.first == 0;
    now.at_bottom = own.first + own.count == tile.along.count;
    now.at_low = row == 0;
    now.at_high = row + 1 == tile.across.count;
    return now;
  }

  GPUSYNC_HD bool on_rim(const kept& now, uint32_t r) const {
    return (r == 0 && now.at_top) || (r + 1 == now.rows && now.at_bottom) ||
           (Dimensions == 3 && (now.at_low || now.at_high));
  }

  static GPUSYNC_HD pair read(const Real* buffer, uint32_t place) {
    return *reinterpret_cast<const pair*>(buffer + place);
  }
  static GPUSYNC_HD void write(Real* buffer, uint32_t place, const pair& points) {
    *reinterpret_cast<pair*>(buffer + place) = points;
  }

  /// Leaves the thread's points in shared memory.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void share(Grid grid, const kept& now) const {
    pair* const tile = shared_tile(grid);
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < most_rows; ++r) {
      if (r < now.rows) tile[now.shared + r * now.pitch] = now.own[r];
    }
  }

  /// The old points before the thread's first row.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD pair above(Grid grid, const Real* from, const kept& now) const {
    if (!now.at_top) return shared_tile(grid)[now.shared - now.pitch];
    return from == nullptr ? pair{} : read(from, now.global - row_pitch());
  }
  /// The old points behind row r, which is not yet new.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD pair below(Grid grid, const Real* from, const kept& now, uint32_t r) const {
    if (r + 1 < most_rows && r + 1 < now.rows) return now.own[r + 1 < most_rows ? r + 1 : r];
    if (!now.at_bottom) return shared_tile(grid)[now.shared + (r + 1) * now.pitch];
    return from == nullptr ? pair{} : read(from, now.global + (r + 1) * row_pitch());
  }

  /// The new points of row r, whose old ones are `old`, between those of `before` and of `after`.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD pair relaxed(Grid grid, const Real* from, const kept& now, uint32_t r, const pair& old, const pair& before,
                          const pair& after) const {
    const pair* const here = shared_tile(grid) + now.shared + r * now.pitch;
    const bool is_first = now.column == 0, is_last = now.column + 2 == size.width;
    const Real left = (is_first ? Real{0} : here[-1].right) + old.right;
    const Real right = old.left + (is_last ? Real{0} : here[1].left);
    pair fresh;
    if constexpr (Dimensions == 3) {
      const uint32_t place = now.global + r * row_pitch();
      const pair low = now.at_low ? read(from, place - size.width) : here[-static_cast<int>(now.pairs)];
      const pair high = now.at_high ? read(from, place + size.width) : here[now.pairs];
      fresh.left = ((left + (low.left + high.left)) + (before.left + after.left)) * (Real{1} / Real{6});
      fresh.right = ((right + (low.right + high.right)) + (before.right + after.right)) * (Real{1} / Real{6});
    } else {
      fresh.left = ((before.left + after.left) + left) * Real{0.25f};
      fresh.right = ((before.right + after.right) + right) * Real{0.25f};
    }
    return {is_first ? old.left : fresh.left, is_last ? old.right : fresh.right};
  }

  /// Makes the thread's rows new, one behind the other: `fresh_of(r, before, after)` of the old ones around it.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class FreshOf>
  GPUSYNC_HD void march(Grid grid, kept& now, FreshOf&& fresh_of, const Real* from) const {
    if (now.rows == 0) return;
    pair before = above(grid, from, now);
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < most_rows; ++r) {
      if (r >= now.rows) break;
      const pair old = now.own[r];
      now.own[r] = fresh_of(r, before, below(grid, from, now, r));
      before = old;
    }
  }
};

}  // namespace gpusync::tool
