#include "workloads/stencil/stencil_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gpusync::tool {

namespace {

uint32_t rounded_up(uint32_t length, uint32_t parts) {
  return (length + parts - 1) / parts;
}

/// Why a tile of that size does not fit; empty if it does.
std::string what_lacks(const stencil_size& size, const tile_room& room, uint32_t along, uint32_t across) {
  const uint32_t columns = stencil_columns(size, across);
  if (columns > room.threads) {
    return fmt::format("a tile needs {} threads, of a block's {}", columns, room.threads);
  }
  const uint32_t rows = rounded_up(along, room.threads / columns);
  if (rows > room.rows) return fmt::format("a thread would hold {} rows, of at most {}", rows, room.rows);
  const size_t bytes = tile_bytes(size, room, along, across);
  if (bytes > room.shared_bytes) {
    return fmt::format("a tile takes {} bytes of a block's {} bytes of shared memory", bytes, room.shared_bytes);
  }
  return "";
}

}  // namespace

size_t tile_bytes(const stencil_size& size, const tile_room& room, uint32_t along, uint32_t across) {
  return size_t{along} * stencil_columns(size, across) * 2 * room.point_bytes;
}

tiles_that_fit tiles_for(const stencil_size& size, uint32_t blocks, const tile_room& room) {
  if (size.height == 1) throw invalid_argument("Rods are not kept on the chip: plates and blocks are.");
  if (size.width % 2 != 0) {
    throw invalid_argument(
        fmt::format("Rows of {} points are not kept on the chip: their number must be even.", size.width));
  }
  const bool is_plate = size.depth == 1;
  const uint32_t length = is_plate ? size.height - 2 : size.depth - 2, breadth = is_plate ? 1 : size.height - 2;
  std::optional<tiles_that_fit> best;
  uint64_t least_cost = UINT64_MAX;
  std::string lacks;
  size_t least_bytes = SIZE_MAX;
  for (uint32_t tiles_across = 1; tiles_across <= std::min(blocks, breadth); ++tiles_across) {
    const uint32_t tiles_along = std::min(blocks / tiles_across, length);
    const uint32_t along = rounded_up(length, tiles_along), across = rounded_up(breadth, tiles_across);
    const size_t bytes = tile_bytes(size, room, along, across);
    const std::string why = what_lacks(size, room, along, across);
    if (!why.empty()) {
      if (bytes < least_bytes) lacks = why;
      least_bytes = std::min(least_bytes, bytes);
      continue;
    }
    const uint64_t cost = uint64_t{along} * across + 2 * (uint64_t{along} * (is_plate ? 0 : 1) + across);
    if (cost >= least_cost) continue;
    least_cost = cost;
    best = tiles_that_fit{{tiles_along, tiles_across}, bytes};
  }
  if (best) return *best;
  throw invalid_argument(fmt::format("{} x {} x {} points of {} bytes do not stay on the chip in {} blocks: {}.",
                                     size.width, size.height, size.depth, room.point_bytes, blocks, lacks));
}

neighbourhood tile_neighbours(const stencil_tiles& tiles, uint32_t blocks) {
  std::vector<std::vector<uint32_t>> lists(blocks);
  const uint32_t across = tiles.across, used = tiles.along * across;
  for (uint32_t block = 0; block < used; ++block) {
    if (block % across != 0) lists[block].push_back(block - 1);
    if (block % across + 1 != across) lists[block].push_back(block + 1);
    if (block >= across) lists[block].push_back(block - across);
    if (block + across < used) lists[block].push_back(block + across);
  }
  return neighbourhood::of(lists);
}

neighbourhood strip_neighbours(uint32_t strips, uint32_t blocks) {
  std::vector<std::vector<uint32_t>> lists(blocks);
  for (uint32_t strip = 0; strip < strips; ++strip) {
    lists[strip] = {strip == 0 ? neighbourhood::none : strip - 1,
                    strip + 1 == strips ? neighbourhood::none : strip + 1};
  }
  return neighbourhood::of(lists);
}

uint32_t strip_pairs(const stencil_size& size, const step_shape& shape) {
  const uint32_t least = strip_rows(size.width) / 8;
  for (const uint32_t pairs : {least, 2 * least}) {
    if (shape.threads % 32 == 0 && size.width == shape.threads * 2 * pairs) return pairs;
  }
  return 0;
}

void require_strips(const stencil_size& size, const step_shape& shape) {
  if (size.height == 1 || size.depth != 1) throw invalid_argument("Strips are of plates.");
  const uint32_t rows = strip_rows(size.width), strips = size.height / rows;
  if (strip_pairs(size, shape) == 0) {
    const uint32_t most = size.width / (rows / 4);
    throw invalid_argument(
        fmt::format("A row of {} points in strips takes blocks of {} or {} threads, in whole warps, not {}.",
                    size.width, most, most / 2, shape.threads));
  }
  if (size.height % rows != 0 || strips < 2 || strips > most_strips) {
    throw invalid_argument(
        fmt::format("{} rows are no strips of {} rows each, 2 to {} of them.", size.height, rows, most_strips));
  }
  if (strips > shape.blocks) {
    throw invalid_argument(fmt::format("{} rows are {} strips of {} rows, more than the {} blocks.", size.height,
                                       strips, rows, shape.blocks));
  }
}

step_method stencil_method(const std::string& name, const std::string& title) {
  return {name, title, {}, method_kind::neighbours, true, true};
}

step_method stencil_barrier_method(const std::string& name, const std::string& title, bool rival) {
  step_method made = stencil_method(name, title);
  made.kind = method_kind::barrier;
  made.rival = rival;
  return made;
}

}  // namespace gpusync::tool
