// Text "column-walk": sums along a matrix's rows by threads that each take a row, so that a block's warps share lines
// of the cache. C++17: CUDA sources include it.
#pragma once

#include "workloads/paced/paced_text.hpp"

namespace gpusync::tool {

/// A matrix of `elements` rows and `length` columns. A block takes as many rows at a time as a warp has threads; warp w
/// of W adds up columns w, w + W, w + 2 W, …, several loads an iteration.
class column_walk_text {
 public:
  using variants = paced_variants<1, intervals<1, 16, 64, 256>, intervals<16>, intervals<1, 16>>;
  struct shared {};

  column_walk_text(const paced_problem& problem, uint32_t* const* arrays)
      : cells_(arrays[0]),
        sums_(arrays[1]),
        rows_(problem.elements),
        columns_(problem.length),
        warps_(warps_of(problem)) {
    require_whole_warps(problem.shape, problem.warp_size);
  }

  static paced_arrays arrays(const paced_problem& problem) {
    return {{problem.elements * problem.length, problem.elements * warps_of(problem)}, 2};
  }
  uint64_t trips() const { return columns_ / (loads * warps_); }
  uint64_t bytes() const { return rows_ * (columns_ + warps_) * sizeof(uint32_t); }

  GPUSYNC_HD uint32_t word(uint32_t, uint64_t i) const { return mixed(i) % 16; }
  GPUSYNC_HD uint32_t expected(uint64_t i) const {
    uint32_t sum = 0;
    for (uint64_t column = i % warps_; column < columns_; column += warps_) {
      sum += word(0, i / warps_ * columns_ + column);
    }
    return sum;
  }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Every, class Grid, class Pace, class Watch>
  GPUSYNC_HD void run(Grid grid, Pace& pace, shared&, Watch& watch) const {
    const typename Grid::warps_of_block warps;
    const uint32_t width = warps.blocks();
    for (uint64_t first = uint64_t{grid.block()} * warps.threads(); first < rows_;
         first += uint64_t{grid.blocks()} * warps.threads()) {
      const uint64_t row = first + warps.thread();
      const bool mine = row < rows_;
      const uint32_t* cell = cells_ + (mine ? row : first) * columns_ + warps.block();
      const uint32_t* const end = cells_ + ((mine ? row : first) + 1) * columns_;
      uint32_t sum = 0;
      in_epochs<Every, 1>(grid, columns_ / (loads * width), pace, watch, [&] {
        uint32_t some[loads];
        GPUSYNC_UNROLL()
        for (uint32_t i = 0; i < loads; ++i) some[i] = cell[i * width];
        GPUSYNC_UNROLL()
        for (uint32_t i = 0; i < loads; ++i) sum += some[i];
        cell += loads * width;
        return sum;
      });
      for (; cell < end; cell += width) sum += *cell;
      if (mine) sums_[row * width + warps.block()] = sum;
    }
  }

 private:
  static constexpr uint32_t loads = 4;

  /// Where a warp has 32 threads, or, on the host, one.
  static uint64_t warps_of(const paced_problem& problem) {
    return (problem.shape.threads + problem.warp_size - 1) / problem.warp_size;
  }

  const uint32_t* cells_;
  uint32_t* sums_;
  uint64_t rows_, columns_, warps_;
};

}  // namespace gpusync::tool
