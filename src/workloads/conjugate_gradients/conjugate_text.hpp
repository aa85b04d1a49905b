// Workload "conjugate-gradients": the text of a step, for host threads and CUDA. C++17: CUDA sources include it.
//
// A x = b for a sparse symmetric matrix with at most `width` entries in a row, stored column by column. An iteration is
// two steps, each of which ends with a sum over all blocks that the next step begins with:
//   first half:   p' = r + beta p;  q = A p';  p'q
//   second half:  x += alpha p';  r' = r - alpha q;  r'r'
// The first half computes p' of its row's neighbours for itself, so that nothing but r, p and the two sums goes from
// block to block. There are two of r and of p, used in turn: what is read in a half is not written in it, nor in the
// next; so only the sum of r'r' must order data, and p'q need not.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <cstring>
#endif

#include <gpusync/core/ordering.hpp>

#include "boundary/computation.hpp"

namespace gpusync::tool {

namespace conjugate {

inline constexpr uint32_t width = 5;  ///< entries of a row

GPUSYNC_HD inline uint64_t bits_of(double value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
GPUSYNC_HD inline double of_bits(uint64_t bits) {
  double value = 0;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// A sum of positive numbers in fixed point, as two sums of 32 bits: no order of additions changes it. 53 bits, of
/// which the sum before took 37: a sum may be 2^15 times as large as the one before. Up to 2,048 blocks.
struct fixed_point {
  static constexpr uint32_t low_bits = 21;
  double scale;

  GPUSYNC_HD static fixed_point after(double sum) {
    const auto exponent = static_cast<int64_t>(bits_of(sum) >> 52 & 0x7ff) - 1023;
    return {of_bits(static_cast<uint64_t>(1023 + 36 - exponent) << 52)};
  }
  GPUSYNC_HD int64_t units(double value) const { return static_cast<int64_t>(value * scale); }
  GPUSYNC_HD static uint32_t low(int64_t units) { return static_cast<uint32_t>(units) & ((1u << low_bits) - 1); }
  GPUSYNC_HD static uint32_t high(int64_t units) { return static_cast<uint32_t>(units >> low_bits); }
  GPUSYNC_HD double value(uint32_t low_sum, uint32_t high_sum) const {
    return (static_cast<double>(high_sum) * (1u << low_bits) + low_sum) / scale;
  }
};

}  // namespace conjugate

/// Where everything lies.
template <class Real>
struct conjugate_data {
  const uint32_t* columns;  ///< [entry * rows + row]
  const Real* values;
  Real *r_even, *r_odd, *p_even, *p_odd, *q, *x;  ///< r and p of even iterations and of odd ones
  double* partials;                               ///< [2 * sum + iteration % 2][contribution]; sum 0: p'q, 1: rr
  double* sums;                                   ///< rr of even iterations and of odd ones
  uint32_t rows;
  uint32_t contributions;  ///< of each sum
  double first_rr, first_pq;

  /// r and p of an iteration. (An array among a kernel's parameters would be put into memory.)
  GPUSYNC_HD Real* r(uint32_t iteration) const { return iteration != 0 ? r_odd : r_even; }
  GPUSYNC_HD Real* p(uint32_t iteration) const { return iteration != 0 ? p_odd : p_even; }
};

/// Rows: of a thread at most. Keeps: what is a thread's own stays in its registers from step to step, its rows of the
/// matrix too if there is room; else in memory, for kernels of one step.
template <class Real, uint32_t Rows, bool Keeps>
struct conjugate_text : computation {
  static constexpr unsigned most_threads = 512, full_blocks = 1;
  static constexpr bool keeps_matrix = Keeps && Rows * sizeof(Real) <= 16;
  struct own_rows {
    Real q[Rows], p[Rows], r[Rows], x[Rows];
    Real values[keeps_matrix ? Rows : 1][conjugate::width];
    uint32_t columns[keeps_matrix ? Rows : 1][conjugate::width];
  };
  struct kept {
    double rr;
    own_rows own;
  };
  conjugate_data<Real> data;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid grid, uint32_t) const {
    kept made{};
    if constexpr (Keeps) {
      made.rr = data.sums[1];
      each_row(grid, [&](uint32_t k, uint32_t row) {
        made.own.r[k] = data.r_even[row];
        made.own.x[k] = data.x[row];
        GPUSYNC_UNROLL()
        for (uint32_t entry = 0; keeps_matrix && entry < conjugate::width; ++entry) {
          made.own.columns[k][entry] = data.columns[entry * data.rows + row];
          made.own.values[k][entry] = data.values[entry * data.rows + row];
        }
      });
    }
    return made;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(Grid grid, const kept& made) const {
    if constexpr (Keeps) each_row(grid, [&](uint32_t k, uint32_t row) { data.x[row] = made.own.x[k]; });
  }

  /// `number`: of the step, modulo 4.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t number, kept& made) const {
    const uint32_t iteration = number / 2 % 2;
    if (number % 2 == 0) {
      const double rr = sum_of_partials(grid, 2 + iteration);
      const double before = Keeps ? made.rr : data.sums[1 - iteration];
      made.rr = rr;
      if (!Keeps && grid.block() == 0 && grid.thread() == 0) data.sums[iteration] = rr;
      contribute(grid, iteration, first_half(grid, iteration, static_cast<Real>(rr / before), made.own));
    } else {
      const double pq = sum_of_partials(grid, iteration);
      const double rr = Keeps ? made.rr : data.sums[iteration];
      contribute(grid, 2 + (1 - iteration), second_half(grid, iteration, static_cast<Real>(rr / pq), made.own));
    }
  }

  /// Returns the thread's part of p'q.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD double first_half(Grid grid, uint32_t iteration, Real beta, own_rows& own) const {
    const Real* const r = data.r(iteration);
    const Real* const p = data.p(iteration);
    Real* const next = data.p(1 - iteration);
    double sum = 0;
    each_row(grid, [&](uint32_t k, uint32_t row) {
      Real q = 0;
      GPUSYNC_UNROLL()
      for (uint32_t entry = 0; entry < conjugate::width; ++entry) {
        const uint32_t column = keeps_matrix ? own.columns[k][entry] : data.columns[entry * data.rows + row];
        const Real value = keeps_matrix ? own.values[k][entry] : data.values[entry * data.rows + row];
        q += value * (r[column] + beta * p[column]);
      }
      const Real mine = (Keeps ? own.r[k] : r[row]) + beta * (Keeps ? own.p[k] : p[row]);
      next[row] = mine;
      if constexpr (Keeps) {
        own.p[k] = mine;
        own.q[k] = q;
      } else {
        data.q[row] = q;
      }
      sum += static_cast<double>(mine) * static_cast<double>(q);
    });
    return sum;
  }
  /// Returns the thread's part of r'r'.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD double second_half(Grid grid, uint32_t iteration, Real alpha, own_rows& own) const {
    const Real* const r = data.r(iteration);
    const Real* const p = data.p(1 - iteration);
    Real* const next = data.r(1 - iteration);
    double sum = 0;
    each_row(grid, [&](uint32_t k, uint32_t row) {
      const Real mine = (Keeps ? own.r[k] : r[row]) - alpha * (Keeps ? own.q[k] : data.q[row]);
      if constexpr (Keeps) {
        own.r[k] = mine;
        own.x[k] += alpha * own.p[k];
      } else {
        data.x[row] += alpha * p[row];
      }
      next[row] = mine;
      sum += static_cast<double>(mine) * static_cast<double>(mine);
    });
    return sum;
  }

  /// Adds up a sum's contributions, in the same order in all blocks.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD double sum_of_partials(Grid grid, uint32_t which) const {
    const double* const from = data.partials + which * data.contributions;
    double sum = 0;
    if constexpr (Grid::warp_size == 1) {
      for (uint32_t i = 0; i < data.contributions; ++i) sum += from[i];
    } else {
      for (uint32_t i = grid.thread(); i < data.contributions; i += grid.threads()) sum += from[i];
      sum = sum_of_block(grid, sum);
    }
    return sum;
  }

  /// What the block, or on host threads the thread, brings to a sum.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void contribute(Grid grid, uint32_t which, double mine) const {
    double* const to = data.partials + which * data.contributions;
    if constexpr (Grid::warp_size == 1) {
      to[grid.block() * grid.threads() + grid.thread()] = mine;
    } else {
      mine = sum_of_block(grid, mine);
      if (grid.thread() == 0) to[grid.block()] = mine;
    }
  }

  /// The sum of the threads' values, in a fixed order, to all of them.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static double sum_of_block(Grid grid, double value) {
    if constexpr (Grid::warp_size == 1) {
      return value;
    } else {
      auto* const sums = reinterpret_cast<double*>(grid.template shared_by_block<16>());
      const uint32_t thread = grid.thread();
      for (uint32_t mask = 16; mask != 0; mask /= 2) value += of_other(grid, value, mask);
      grid.sync_block();  // the sum before has been read
      if (thread % 32 == 0) sums[thread / 32] = value;
      grid.sync_block();
      value = thread % 32 < (grid.threads() + 31) / 32 ? sums[thread % 32] : 0;
      for (uint32_t mask = 16; mask != 0; mask /= 2) value += of_other(grid, value, mask);
      return value;
    }
  }

 private:
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static double of_other(Grid grid, double value, uint32_t mask) {
    return conjugate::of_bits(grid.from_other_thread(conjugate::bits_of(value), mask));
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Visit>
  GPUSYNC_HD void each_row(Grid grid, Visit&& visit) const {
    const uint32_t threads = grid.blocks() * grid.threads();
    GPUSYNC_UNROLL()
    for (uint32_t k = 0; k < Rows; ++k) {
      const uint32_t row = k * threads + grid.block() * grid.threads() + grid.thread();
      if (row < data.rows) visit(k, row);
    }
  }
};

/// All steps of a run in one kernel whose sums come with the barriers: two sums of 32 bits for each, of two barriers,
/// under way at once. `low` orders nothing; `high` does where data goes from block to block.
GPUSYNC_API_TEMPLATE
template <class Text, class Grid, class Barrier>
GPUSYNC_HD void conjugate_by_votes(Grid grid, const Text& text, uint32_t steps, Barrier& low, Barrier& high) {
  using conjugate::fixed_point;
  low.enter_votes();
  high.enter_votes();
  typename Text::kept made = text.load(grid, 0);
  double rr = text.data.first_rr, pq = text.data.first_pq, beta = 0;
  GPUSYNC_UNROLL(1)
  for (uint32_t i = 0; i < steps / 2; ++i) {
    {
      const fixed_point sum = fixed_point::after(pq);
      const int64_t mine = sum.units(
          text.sum_of_block(grid, text.first_half(grid, i % 2, static_cast<decltype(+made.own.q[0])>(beta), made.own)));
      auto first = low.cast_add(fixed_point::low(mine));
      auto second = high.cast_add(fixed_point::high(mine));
      const uint32_t low_sum = low.wait(static_cast<decltype(first)&&>(first));
      pq = sum.value(low_sum, high.wait(static_cast<decltype(second)&&>(second)));
    }
    const fixed_point sum = fixed_point::after(rr);
    const int64_t mine = sum.units(text.sum_of_block(
        grid, text.second_half(grid, i % 2, static_cast<decltype(+made.own.q[0])>(rr / pq), made.own)));
    auto first = low.cast_add(fixed_point::low(mine));
    auto second = high.arrive_add(fixed_point::high(mine));
    const uint32_t low_sum = low.wait(static_cast<decltype(first)&&>(first));
    const double next = sum.value(low_sum, high.wait(static_cast<decltype(second)&&>(second)));
    // For the host: the last two sums.
    if (grid.thread() == 0) {
      text.data.partials[(2 + (1 - i % 2)) * text.data.contributions + grid.block()] = grid.block() == 0 ? next : 0;
    }
    beta = next / rr;
    rr = next;
  }
  text.save(grid, made);
}

}  // namespace gpusync::tool
