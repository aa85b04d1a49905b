// How a plate or a block is cut into tiles that stay on the chip: one for each block of a grid, of whole rows. C++17:
// CUDA sources include it.
#pragma once

#include <cstddef>

#include <gpusync/neighbours/neighbourhood.hpp>

#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

/// The tiles of a body. Threads go along its rows of a plate, or its plates: that is `along`. Across are the rows of a
/// block's plates; a plate has but one.
struct stencil_tiles {
  uint32_t along, across;
};

/// Some of a row of things.
struct stencil_span {
  uint32_t first, count;
};

/// Part `part` of `length` things that are dealt out to `parts` evenly.
GPUSYNC_HD inline stencil_span stencil_part(uint32_t length, uint32_t part, uint32_t parts) {
  const uint32_t first = stencil_first_row(length, part, parts);
  return {first, stencil_first_row(length, part + 1, parts) - first};
}

/// A block's tile: inner rows or plates of the body, without its rim. Empty for a block that has none.
struct stencil_tile {
  stencil_span along, across;
};
GPUSYNC_HD inline stencil_tile stencil_tile_of(const stencil_size& size, const stencil_tiles& tiles, uint32_t block) {
  if (block >= tiles.along * tiles.across) return {{0, 0}, {0, 0}};
  if (size.depth == 1) return {stencil_part(size.height - 2, block, tiles.along), {0, 1}};
  return {stencil_part(size.depth - 2, block / tiles.across, tiles.along),
          stencil_part(size.height - 2, block % tiles.across, tiles.across)};
}

/// What a block has to hold a tile with.
struct tile_room {
  size_t shared_bytes;  ///< of shared memory, for one copy of the tile
  uint32_t threads;     ///< each holds two points side by side of up to `rows` rows, besides
  uint32_t rows;
  uint32_t point_bytes;
};

/// Threads of a block that stand side by side on a row of a plate, or on all of a plate's rows.
GPUSYNC_HD inline uint32_t stencil_columns(const stencil_size& size, uint32_t across) {
  return size.width / 2 * across;
}

/// Bytes of a tile of so many rows or plates along and across.
size_t tile_bytes(const stencil_size& size, const tile_room& room, uint32_t along, uint32_t across);

/// The tiles for a grid of `blocks`, the largest of them as small as can be, and its rim too; `bytes` are what that
/// takes. Throws invalid_argument, with what lacks, if the body does not fit.
struct tiles_that_fit {
  stencil_tiles tiles;
  size_t bytes;
};
tiles_that_fit tiles_for(const stencil_size& size, uint32_t blocks, const tile_room& room);

/// Which of `blocks` blocks have tiles side by side; those without a tile have no neighbours.
neighbourhood tile_neighbours(const stencil_tiles& tiles, uint32_t blocks);

/// Strips that a grid may have, each a block's.
inline constexpr uint32_t most_strips = 1024;
/// Which of `blocks` blocks have strips side by side: slot 0 is the one above, slot 1 the one below.
neighbourhood strip_neighbours(uint32_t strips, uint32_t blocks);
/// Rows of a strip of a plate so wide.
constexpr uint32_t strip_rows(uint32_t width) {
  return width <= 1024 ? 8 : 16;
}
/// Pairs of points that a thread of such a shape has of a strip's row: as many as kernels are compiled for, or twice
/// as many; 0: neither is what the row needs.
uint32_t strip_pairs(const stencil_size& size, const step_shape& shape);
/// Throws invalid_argument, with what lacks, unless a plate can be cut into strips, one for each block of the shape at
/// most, whose threads have as many points of a row as kernels are compiled for.
void require_strips(const stencil_size& size, const step_shape& shape);
/// A method of this workload's own, by which blocks wait for their neighbours.
step_method stencil_method(const std::string& name, const std::string& title);
/// The same, by a barrier of the grid; a rival's, or ours.
step_method stencil_barrier_method(const std::string& name, const std::string& title, bool rival = false);

}  // namespace gpusync::tool
