// Who waits for whom: blocks of a grid and the few others that each depends on.
//
//   auto ring  = gpusync::neighbourhood::ring(132);                       // slot 0: the block before, slot 1: behind
//   auto torus = gpusync::neighbourhood::torus({12, 11});                 // 4 slots: left, right, up, down
//   auto lists = gpusync::neighbourhood::of({{1}, {0, 2}, {1}});          // as you like, if it is mutual
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gpusync/core/error.hpp>
#include <gpusync/launch/shape.hpp>

namespace gpusync {

/// Whether blocks that touch at a corner only, or in three dimensions at an edge, are neighbours.
enum class corners {
  no,  ///< those that share a side
  yes  ///< all around
};

/// For each block of a grid its neighbours, each in a slot: of rings, grids and tori a direction, of lists the place in
/// the list. The relation is mutual: who waits for a block is waited for by it. A slot may be empty (`none`), at the
/// rim of a grid; two slots may name the same block, and in a torus of one block across, the block itself.
///
/// Blocks are counted as a grid counts them, x fastest.
class neighbourhood {
 public:
  static constexpr uint32_t none = ~0u;              ///< in a slot without a neighbour
  static constexpr uint32_t most_slots = 32;         ///< for more neighbours take a grid barrier
  static constexpr uint32_t most_blocks = 1u << 20;  ///< of a neighbourhood

  /// A closed row. Slots: the block before, the block behind. Throws invalid_argument for 0 blocks or too many.
  static neighbourhood ring(uint64_t blocks) { return torus(extent(require(blocks))); }
  /// An open row: the same, but nobody before the first block and behind the last.
  static neighbourhood line(uint64_t blocks) { return grid(extent(require(blocks))); }
  /// A grid of one to three dimensions whose rims meet. Slots: x - 1, x + 1, y - 1, y + 1, z - 1, z + 1, as many as
  /// there are dimensions (those before the last extent above 1, or x alone); then, with corners, the others around,
  /// x fastest. Throws invalid_argument for 0 blocks or too many.
  static neighbourhood torus(const extent& blocks, corners around = corners::no) {
    return shaped(blocks, around, true);
  }
  /// The same whose rims do not meet: slots there are empty.
  static neighbourhood grid(const extent& blocks, corners around = corners::no) {
    return shaped(blocks, around, false);
  }
  /// The neighbours of each block, in slots as they stand in its list; `none` leaves a slot empty, as does a list that
  /// is shorter than others. Throws invalid_argument, naming the block, for a block that is not there, is in its
  /// own list or twice in one, waits for one that does not wait for it, or has more than most_slots neighbours.
  static neighbourhood of(const std::vector<std::vector<uint32_t>>& lists) {
    size_t slots = 1;
    for (const auto& list : lists) slots = slots < list.size() ? list.size() : slots;
    for (size_t block = 0; block < lists.size(); ++block) {
      if (lists[block].size() > most_slots) {
        throw invalid_argument(words_for(block) + " has " + std::to_string(lists[block].size()) +
                               " neighbours; at most " + std::to_string(most_slots) +
                               " can be waited for one by one. Take a grid barrier.");
      }
    }
    neighbourhood made(lists.size(), static_cast<uint32_t>(slots));
    for (size_t block = 0; block < lists.size(); ++block) {
      for (size_t slot = 0; slot < lists[block].size(); ++slot) {
        const uint32_t other = lists[block][slot];
        if (other == none) continue;
        check_neighbour(lists, block, other, slot);
        made.table_[block * slots + slot] = other;
      }
    }
    return made;
  }

  /// Blocks of the grid.
  uint32_t blocks() const { return blocks_; }
  /// Slots of each block.
  uint32_t slots() const { return slots_; }
  /// The block in a slot, or `none`. Precondition: block < blocks(), slot < slots().
  uint32_t neighbour(uint32_t block, uint32_t slot) const { return table_[size_t{block} * slots_ + slot]; }
  /// All slots, those of a block one after the other.
  const std::vector<uint32_t>& table() const { return table_; }

 private:
  neighbourhood(uint64_t blocks, uint32_t slots)
      : blocks_(static_cast<uint32_t>(blocks)), slots_(slots), table_(require(blocks) * slots, none) {}

  static size_t require(uint64_t blocks) {
    if (blocks != 0 && blocks <= most_blocks) return static_cast<size_t>(blocks);
    throw invalid_argument("A neighbourhood is of 1 to " + std::to_string(most_blocks) + " blocks, not " +
                           std::to_string(blocks) + ".");
  }
  static std::string words_for(size_t block) { return "Block " + std::to_string(block); }

  static void check_neighbour(const std::vector<std::vector<uint32_t>>& lists, size_t block, uint32_t other,
                              size_t slot) {
    const std::string who = words_for(block);
    if (other >= lists.size()) {
      throw invalid_argument(who + " has block " + std::to_string(other) + " as its neighbour, of a grid of " +
                             std::to_string(lists.size()) + " blocks.");
    }
    if (other == block) throw invalid_argument(who + " is in its own list of neighbours.");
    for (size_t before = 0; before < slot; ++before) {
      if (lists[block][before] == other) {
        throw invalid_argument(who + " has block " + std::to_string(other) + " twice in its list of neighbours.");
      }
    }
    for (const uint32_t back : lists[other]) {
      if (back == block) return;
    }
    throw invalid_argument(who + " waits for block " + std::to_string(other) +
                           ", which does not wait for it. Neighbours must be mutual, or one would overwrite what the "
                           "other has not read: put each into the other's list.");
  }

  static neighbourhood shaped(const extent& size, corners around, bool closed) {
    const uint32_t dimensions = size.z > 1 ? 3 : size.y > 1 ? 2 : 1;
    const std::vector<offset> steps = offsets(dimensions, around);
    neighbourhood made(size.count(), static_cast<uint32_t>(steps.size()));
    size_t at = 0;
    for (uint32_t z = 0; z < size.z; ++z) {
      for (uint32_t y = 0; y < size.y; ++y) {
        for (uint32_t x = 0; x < size.x; ++x) {
          for (const offset& step : steps) {
            const uint32_t to_x = moved(x, step.x, size.x, closed), to_y = moved(y, step.y, size.y, closed),
                           to_z = moved(z, step.z, size.z, closed);
            const bool there = to_x != none && to_y != none && to_z != none;
            made.table_[at++] = there ? to_x + size.x * (to_y + size.y * to_z) : none;
          }
        }
      }
    }
    return made;
  }

  struct offset {
    int x, y, z;
    int sides() const { return (x != 0) + (y != 0) + (z != 0); }
  };
  static std::vector<offset> offsets(uint32_t dimensions, corners around) {
    std::vector<offset> steps{{-1, 0, 0}, {1, 0, 0}};
    if (dimensions > 1) steps.insert(steps.end(), {{0, -1, 0}, {0, 1, 0}});
    if (dimensions > 2) steps.insert(steps.end(), {{0, 0, -1}, {0, 0, 1}});
    if (around == corners::no) return steps;
    const int y_most = dimensions > 1 ? 1 : 0, z_most = dimensions > 2 ? 1 : 0;
    for (int z = -z_most; z <= z_most; ++z) {
      for (int y = -y_most; y <= y_most; ++y) {
        for (int x = -1; x <= 1; ++x) {
          if (const offset step{x, y, z}; step.sides() > 1) steps.push_back(step);
        }
      }
    }
    return steps;
  }
  static uint32_t moved(uint32_t from, int step, uint32_t size, bool closed) {
    if (step < 0) return from != 0 ? from - 1 : closed ? size - 1 : none;
    if (step > 0) return from + 1 != size ? from + 1 : closed ? 0 : none;
    return from;
  }

  uint32_t blocks_;
  uint32_t slots_;
  std::vector<uint32_t> table_;
};

}  // namespace gpusync
