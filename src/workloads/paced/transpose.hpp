// Text "transpose": a square matrix, its rows read and its columns written; and by tiles in shared memory. C++17: CUDA
// sources include it.
#pragma once

#include "workloads/paced/paced_text.hpp"

namespace gpusync::tool {

/// A matrix of `elements` rows. A block takes `length` rows of as many columns as a warp has threads; its warps take
/// rows in turn, so that all write to the same lines.
class transpose_text {
 public:
  using variants = paced_variants<1, intervals<1, 4, 16>, intervals<1, 4>, intervals<1, 4>>;
  static constexpr const char *rival_name = "tiled", *rival_title = "through tiles in shared memory, no pacing";
  static constexpr uint32_t tile = 32;
  struct shared {};
  struct rival_shared {
    uint32_t cells[tile][tile + 1];
  };

  transpose_text(const paced_problem& problem, uint32_t* const* arrays)
      : from_(arrays[0]),
        to_(arrays[1]),
        size_(problem.elements),
        part_(problem.length),
        warps_((problem.shape.threads + problem.warp_size - 1) / problem.warp_size) {
    require_whole_warps(problem.shape, problem.warp_size);
    if (part_ == 0) throw invalid_argument("A block takes one row or more.");
  }

  static paced_arrays arrays(const paced_problem& problem) {
    const uint64_t cells = problem.elements * problem.elements;
    return {{cells, cells}, 2};
  }
  uint64_t trips() const { return (part_ < size_ ? part_ : size_) / warps_; }
  uint64_t bytes() const { return 2 * size_ * size_ * sizeof(uint32_t); }

  GPUSYNC_HD uint32_t word(uint32_t, uint64_t i) const { return mixed(i) % (1u << 24); }
  GPUSYNC_HD uint32_t expected(uint64_t i) const { return word(0, i % size_ * size_ + i / size_); }

  GPUSYNC_API_TEMPLATE
  template <uint32_t Every, class Grid, class Pace, class Watch>
  GPUSYNC_HD void run(Grid grid, Pace& pace, shared&, Watch& watch) const {
    const typename Grid::warps_of_block warps;
    const uint64_t strips = (size_ + warps.threads() - 1) / warps.threads(), parts = (size_ + part_ - 1) / part_;
    for (uint64_t unit = grid.block(); unit < strips * parts; unit += grid.blocks()) {
      const uint64_t column = unit % strips * warps.threads() + warps.thread(), first = unit / strips * part_;
      const uint64_t rows = first + part_ < size_ ? part_ : size_ - first;
      const bool mine = column < size_;
      uint64_t row = first + warps.block();
      const auto move = [&]() -> uint32_t {
        if (!mine) return 0;
        const uint32_t cell = from_[row * size_ + column];
        to_[column * size_ + row] = cell;
        return cell;
      };
      in_epochs<Every, Every>(grid, rows / warps.blocks(), pace, watch, [&] {
        const uint32_t cell = move();
        row += warps.blocks();
        return cell;
      });
      if (row < first + rows) (void)move();
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void run_rival(Grid grid, rival_shared& memory) const {
    const uint64_t across = (size_ + tile - 1) / tile;
    for (uint64_t unit = grid.block(); unit < across * across; unit += grid.blocks()) {
      const uint64_t column = unit % across * tile, row = unit / across * tile;
      GPUSYNC_UNROLL(4)
      for (uint32_t i = grid.thread(); i < tile * tile; i += grid.threads()) {
        const uint32_t x = i % tile, y = i / tile;
        if (row + y < size_ && column + x < size_) memory.cells[y][x] = from_[(row + y) * size_ + column + x];
      }
      grid.sync_block();
      GPUSYNC_UNROLL(4)
      for (uint32_t i = grid.thread(); i < tile * tile; i += grid.threads()) {
        const uint32_t x = i % tile, y = i / tile;
        if (column + y < size_ && row + x < size_) to_[(column + y) * size_ + row + x] = memory.cells[x][y];
      }
      grid.sync_block();
    }
  }

 private:
  const uint32_t* from_;
  uint32_t* to_;
  uint64_t size_, part_, warps_;
};

}  // namespace gpusync::tool
