// What a schedule of a phased grid sees of the block that it works for.
#pragma once

#include <gpusync/core/config.hpp>
#include <gpusync/core/ordering.hpp>
#if defined(__CUDACC__)
#include <gpusync/core/cuda_grid.cuh>
#endif

namespace gpusync::phased {

/// No virtual block: there is nothing left to do in this phase.
inline constexpr uint32_t no_block = ~0u;

namespace detail {

/// Where the first thread of a block leaves a number for the others: two words that are used in turn, so that one block
/// barrier is enough. Who writes one again has passed the block barrier that stands between, and all have read it by
/// then: within one schedule's turn, see begin_turn(). Here they lie in the grid's memory, on a line of the block's
/// own.
template <class Grid>
struct block_words {
  static constexpr uint32_t per_block = gpusync::detail::line_words;  ///< of the grid's memory

  GPUSYNC_API static void put(uint32_t* words, Grid grid, uint32_t turn, uint32_t value) {
    Grid::memory::template store<memory_order::relaxed, scope::block>(words + grid.block() * per_block + turn % 2,
                                                                      value);
  }
  GPUSYNC_API static uint32_t get(const uint32_t* words, Grid grid, uint32_t turn) {
    return Grid::memory::template load<memory_order::relaxed, scope::block>(words + grid.block() * per_block +
                                                                            turn % 2);
  }
};

#if defined(__CUDACC__)
/// In shared memory. All phased grids of a kernel share the two words.
template <>
struct block_words<cuda_grid> {
  static constexpr uint32_t per_block = 0;

  static __device__ __forceinline__ void put(uint32_t*, cuda_grid, uint32_t turn, uint32_t value) {
    words()[turn % 2] = value;
  }
  static __device__ __forceinline__ uint32_t get(const uint32_t*, cuda_grid, uint32_t turn) {
    return words()[turn % 2];
  }

 private:
  static __device__ __forceinline__ uint32_t* words() {
    __shared__ uint32_t both[2];
    return both;
  }
};
#endif

}  // namespace detail

/// @page Schedule
/// Which resident block of a phased grid runs which virtual block: a struct without data, with
/// - `name`: as in results
/// - `barriers`: grid barriers in each phase, with the one that ends it
/// - `words(virtual_blocks)`: 32-bit words of shared state; all zero is a valid start, and a launch leaves them as the
///   next one needs them
/// - `for_each(at, sync, body)`: calls `body(virtual block)` for the block's share, with a block barrier between two:
///   each virtual block once a phase, by all threads of one resident block. `at`: a resident_block. `sync()`: a grid
///   barrier, false if its wait timed out; then this returns false too. All threads of all resident blocks call it

/// A resident block, and the virtual blocks that it shares with the others. Each thread has its own copy.
template <class Grid>
struct resident_block {
  Grid grid;                ///< of the resident blocks
  uint32_t* words;          ///< the schedule's, shared by all blocks
  uint32_t* told;           ///< the words of detail::block_words
  uint32_t virtual_blocks;  ///< at least as many as there are resident ones
  uint32_t& turn;           ///< of these words

  /// Before the first told_by_first() of a phase: all threads have read what an earlier phase, or another phased grid,
  /// has left in the words.
  GPUSYNC_API void begin_turn() const {
    if (grid.threads() != 1) grid.sync_block();
  }

  /// What the block's first thread gives, in all its threads. Has one block barrier in it: whatever the threads have
  /// done before it, is done.
  GPUSYNC_API uint32_t told_by_first(uint32_t value) const {
    if (grid.threads() == 1) return value;
    if (grid.thread() == 0) detail::block_words<Grid>::put(told, grid, turn, value);
    grid.sync_block();
    return detail::block_words<Grid>::get(told, grid, turn++);
  }
};

}  // namespace gpusync::phased
