// What the storages of phased grids have in common, whatever memory they own.
#pragma once

#include <string>
#include <vector>

#include <gpusync/core/error.hpp>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/grid/layout.hpp>
#include <gpusync/phased/resident_block.hpp>

namespace gpusync::phased {

/// Offsets, in 32-bit words: the schedule's own words, then those in which a block tells its threads.
struct layout {
  size_t told;
  size_t total;

  template <class Schedule, class Grid>
  static layout of(uint32_t virtual_blocks, uint32_t resident) {
    constexpr size_t line = gpusync::grid::layout::line_words;
    const size_t told = (Schedule::words(virtual_blocks) + line) / line * line;
    const size_t tell = size_t{block_words<Grid>::per_block} * resident;
    return {told, told + (tell + line - 1) / line * line};
  }
};

inline uint32_t at_least_one(uint64_t virtual_blocks) {
  if (virtual_blocks != 0 && virtual_blocks < no_block) return static_cast<uint32_t>(virtual_blocks);
  throw invalid_argument("A phased grid has 1 to " + std::to_string(no_block - 1) + " virtual blocks, not " +
                         std::to_string(virtual_blocks) + ".");
}

inline void require_capacity(uint32_t virtual_blocks, uint32_t capacity) {
  if (at_least_one(virtual_blocks) <= capacity) return;
  throw invalid_argument("The phased grid has " + std::to_string(virtual_blocks) +
                         " virtual blocks, but its storage was made for " + std::to_string(capacity) +
                         ". Make a larger storage.");
}

/// A barrier counts its own phases; a schedule may have several of them in one of the grid's.
template <class Schedule>
std::vector<missing_block> in_phases(std::vector<missing_block> missing) {
  for (missing_block& each : missing) each.phase /= Schedule::barriers;
  return missing;
}

}  // namespace gpusync::phased
