// Workload "stencil" of plates that are cut into strips of whole rows, each in the registers of a block: from step to
// step only a strip's first and last row go to other blocks, to those above and below. Rows between are made new while
// these are under way. C++17: CUDA sources include it; tests run it on host threads.
//
// An exchange is how those rows travel:
//
//   put(grid, row, points)      the thread's points of the strip's first row (0) or last (1)
//   pass(grid, changed, meanwhile)
//                               the block's threads meet; then calls `meanwhile()`; then those of the blocks beside may
//                               be read
//   get(grid, above, below)     the thread's points there
//   next()                      the step is over for the thread, which has got what threads of its number have put
//
// One that asks whether anything has changed (its `asks`) has besides
//
//   has_changed(old, fresh)     whether a point has
//   is_over(passed)             with what pass() has returned, behind next(): whether no thread of any block has said
//                               that one of its points had `changed` in the step before
//   ask(passed)                 before that, when the points there have come: the answer may be read early
#pragma once

#include <type_traits>

#include <gpusync/neighbours/halo.hpp>

#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

/// Rows: of a strip. Pairs: of points side by side, of a thread: fewer threads with more points each leave more
/// registers to each, and have fewer warps' ends.
template <class Real, uint32_t Rows, uint32_t Pairs>
struct stencil_strips : computation {
  static_assert(Rows >= 2, "a strip's first row is not its last");
  static constexpr unsigned most_threads = 64 * Rows / Pairs, full_blocks = 1;
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

  /// All steps, or as many as the exchange says; returns how many. Whole warps; as many threads as a row has points,
  /// over `columns`.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Exchange>
  GPUSYNC_HD uint32_t relax(Grid grid, uint32_t steps, Exchange& exchange) const {
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
    const warp_end end = end_of(grid);
    bool changed = true;  // in the step before
    uint32_t done = steps;
    for (uint32_t s = 0; s < steps; ++s) {
      if (has_strip) {
        exchange.put(grid, 0, own[0]);
        exchange.put(grid, 1, own[Rows - 1]);
      }
      Real* const edges = edges_of(grid, s);
      if (end.is_first) show(own, 0, edges + end.shown);
      if (end.is_last) show(own, columns - 1, edges + end.shown);
      Real outer[Rows];  // the points beside the warp, at its ends; at the plate's sides the thread's own there
      // The sums of the points to the left and to the right.
      const auto beside = [&](uint32_t r, Real(&across)[columns]) {
        const Real left = grid.before(own[r][columns - 1]), right = grid.behind(own[r][0]);
        GPUSYNC_UNROLL()
        for (uint32_t c = 0; c < columns; ++c) {
          across[c] = (c == 0 ? (end.is_first ? outer[r] : left) : own[r][c == 0 ? 0 : c - 1]) +
                      (c + 1 == columns ? (end.is_last ? outer[r] : right) : own[r][c + 1 == columns ? c : c + 1]);
        }
      };
      const auto relaxed = [](const Real(&above)[columns], const Real(&below)[columns], const Real(&across)[columns],
                              Real(&fresh)[columns]) {
        GPUSYNC_UNROLL()
        for (uint32_t c = 0; c < columns; ++c) fresh[c] = ((above[c] + below[c]) + across[c]) * Real{0.25f};
      };
      // The plate's sides keep their points: two threads of the block put them back, which is cheaper than that all
      // choose.
      const auto keep_side = [&](uint32_t r) {
        if (at_left) own[r][0] = outer[r];
        if (at_right) own[r][columns - 1] = outer[r];
      };
      // Whether a point has changed, of each column: one flag for all would be a chain of as many dependent operations
      // as there are points. The sides, which are put back, have not.
      [[maybe_unused]] bool changes[columns] = {};
      const auto look = [&](const Real(&old)[columns], const Real(&fresh)[columns]) {
        if constexpr (Exchange::asks) {
          GPUSYNC_UNROLL()
          for (uint32_t c = 0; c < columns; ++c) changes[c] |= exchange.has_changed(old[c], fresh[c]);
        }
      };
      Real before[columns], second[columns], beside_first[columns], beside_last[columns];
      copy(own[1], second);
      auto passed = exchange.pass(grid, changed, [&] {
        // All that needs nothing from other blocks: inner rows, each from the old ones around it. The first and the
        // last stay old.
        GPUSYNC_UNROLL()
        for (uint32_t r = 0; r < Rows; ++r) outer[r] = edges[end.found + r];
        beside(0, beside_first);
        beside(Rows - 1, beside_last);
        copy(own[0], before);
        GPUSYNC_UNROLL()
        for (uint32_t r = 1; r + 1 < Rows; ++r) {
          Real across[columns], fresh[columns];
          beside(r, across);
          relaxed(before, own[r + 1], across, fresh);
          look(own[r], fresh);
          copy(own[r], before);
          copy(fresh, own[r]);
        }
        if (at_left || at_right) {
          GPUSYNC_UNROLL()
          for (uint32_t r = 1; r + 1 < Rows; ++r) keep_side(r);
        }
      });
      Real above[columns], below[columns], fresh[columns], last[columns];
      exchange.get(grid, above, below);
      if constexpr (Exchange::asks) exchange.ask(passed);
      relaxed(above, second, beside_first, fresh);
      relaxed(before, below, beside_last, last);
      if (!at_top) {
        look(own[0], fresh);
        copy(fresh, own[0]);
      }
      if (!at_bottom) {
        look(own[Rows - 1], last);
        copy(last, own[Rows - 1]);
      }
      if (at_left || at_right) {
        keep_side(0);
        keep_side(Rows - 1);
      }
      exchange.next();
      if constexpr (Exchange::asks) {
        if (exchange.is_over(static_cast<decltype(passed)&&>(passed))) {
          done = s + 1;
          break;
        }
        changed = (changes[0] && !at_left) || (changes[columns - 1] && !at_right);
        GPUSYNC_UNROLL()
        for (uint32_t c = 1; c + 1 < columns; ++c) changed |= changes[c];
        changed = changed && has_strip;
      } else {
        (void)passed;
      }
    }
    if (!has_strip) return done;
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < Rows; ++r) {
      GPUSYNC_UNROLL()
      for (uint32_t c = 0; c < columns; ++c) body[size_t{first_row + r} * size.width + column + c] = own[r][c];
    }
    return done;
  }

 private:
  GPUSYNC_HD static void copy(const Real (&from)[columns], Real (&to)[columns]) {
    GPUSYNC_UNROLL()
    for (uint32_t c = 0; c < columns; ++c) to[c] = from[c];
  }

  /// A thread at its warp's end shows its outer points to the warp beside it, in shared memory.
  struct warp_end {
    bool is_first, is_last;  ///< of the warp
    uint32_t shown, found;   ///< where it shows its own, and finds the others', among edges_of()
  };
  /// At the plate's sides a thread finds its own; one that is at no end what the first of its warp finds.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static warp_end end_of(Grid grid) {
    const uint32_t lane = grid.thread() % Grid::warp_size, warp = grid.thread() / Grid::warp_size;
    const uint32_t warps = grid.threads() / Grid::warp_size;
    const bool is_last = lane + 1 == Grid::warp_size;
    const uint32_t left = warp * Rows, right = (warps + warp) * Rows;
    if (is_last) return {false, true, right, warp + 1 == warps ? right : left + Rows};
    return {lane == 0, false, left, warp == 0 ? left : right - Rows};
  }
  /// The left and the right edges of all warps: two sets in turn.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static Real* edges_of(Grid grid, uint32_t step) {
    const uint32_t warps = grid.threads() / Grid::warp_size;
    return static_cast<Real*>(grid.dynamic_shared()) + (step & 1u) * (2 * Rows * warps);
  }
  GPUSYNC_HD static void show(const Real (&own)[Rows][columns], uint32_t column, Real* edge) {
    GPUSYNC_UNROLL()
    for (uint32_t r = 0; r < Rows; ++r) edge[r] = own[r][column];
  }
};

/// What pass() returns of an exchange that does not ask.
struct nothing_asked {};

/// Rows as words of a halo, in whose slot 0 is the strip above and in slot 1 the one below.
template <class Real, uint32_t Pairs, class Halo>
class strips_by_halo {
 public:
  static constexpr uint32_t columns = 2 * Pairs;
  static constexpr bool asks = false;

  /// Words of a block: two rows.
  static constexpr uint32_t words(uint32_t width) { return 2 * width; }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD strips_by_halo(Halo& halo, Grid grid, uint32_t width) : halo_(halo) {
    halo.enter();
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < of_row; ++i) {
      const uint32_t first = place(grid, i), last = width + first;
      from_[i] = halo.word(0, last);
      from_[of_row + i] = halo.word(1, first);
      if constexpr (in_pairs) {
        own_[0][i] = halo.own_pair(first), own_[1][i] = halo.own_pair(last);
      } else {
        own_[0][i] = halo.own(first), own_[1][i] = halo.own(last);
      }
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void put(Grid, uint32_t row, const Real (&points)[columns]) {
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < of_row; ++i) {
      if constexpr (in_pairs) {
        halo_.put_pair(own_[row][i], points[2 * i], points[2 * i + 1]);
      } else {
        halo_.put(own_[row][i], points[i]);
      }
    }
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Meanwhile>
  GPUSYNC_HD nothing_asked pass(Grid grid, bool, Meanwhile&& meanwhile) {
    halo_.send();
    grid.sync_block();
    receive(meanwhile);
    return {};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void get(Grid, Real (&above)[columns], Real (&below)[columns]) {
    if constexpr (in_pairs) {
      Real found[2 * of_row][2];
      halo_.get_pairs(from_, asked_, found);
      GPUSYNC_UNROLL()
      for (uint32_t c = 0; c < columns; ++c) {
        above[c] = found[c / 2][c % 2];
        below[c] = found[of_row + c / 2][c % 2];
      }
    } else {
      Real found[2 * of_row];
      halo_.get(from_, asked_, found);
      GPUSYNC_UNROLL()
      for (uint32_t c = 0; c < columns; ++c) {
        above[c] = found[c];
        below[c] = found[of_row + c];
      }
    }
  }
  GPUSYNC_API void next() { halo_.next_alone(); }

 protected:
  /// The rest of pass(), once the block's threads have met.
  GPUSYNC_API_TEMPLATE
  template <class Meanwhile>
  GPUSYNC_HD void receive(Meanwhile&& meanwhile) {
    // The trip to memory goes on meanwhile.
    if constexpr (in_pairs) {
      asked_ = halo_.ask_pairs(from_);
    } else {
      asked_ = halo_.ask(from_);
    }
    meanwhile();
    halo_.receive();
  }

  Halo& halo_;

 private:
  /// Accesses of 16 bytes for a thread's part of a row: each of a point and its step, or of two.
  static constexpr bool in_pairs = sizeof(Real) == 4;
  static constexpr uint32_t of_row = in_pairs ? Pairs : columns;
  using own_type = std::conditional_t<in_pairs, halo_own_pair, halo_own_word>;
  using asked_type = std::conditional_t<in_pairs, typename Halo::template asked_pairs<2 * of_row>,
                                        typename Halo::template asked_words<2 * of_row>>;

  /// The word where the `i`-th lies, so that those of a warp lie side by side.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t place(Grid grid, uint32_t i) {
    return (i * grid.threads() + grid.thread()) * (in_pairs ? 2 : 1);
  }

  own_type own_[2][of_row] = {};
  halo_word from_[2 * of_row];
  asked_type asked_;
};

/// Rows in memory, behind a barrier of the grid or of the neighbours; Split: which is arrived at before the inner rows.
template <class Real, uint32_t Pairs, class Barrier, bool Split>
class strips_by_barrier {
 public:
  static constexpr uint32_t columns = 2 * Pairs;
  static constexpr bool asks = false;

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
  template <class Grid, class Meanwhile>
  GPUSYNC_HD nothing_asked pass(Grid, bool, Meanwhile&& meanwhile) {
    if constexpr (Split) {
      auto token = barrier_.arrive();
      meanwhile();
      barrier_.wait(static_cast<decltype(token)&&>(token));
    } else {
      barrier_.sync();
      meanwhile();
    }
    return {};
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
  GPUSYNC_API void next() { odd_ = !odd_; }

 protected:
  Barrier& barrier_;

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

  Real* rows_;
  uint32_t width_;
  uint32_t strips_;
  bool odd_ = false;
};

}  // namespace gpusync::tool
