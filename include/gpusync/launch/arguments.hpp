// What a launch checks in the arguments that it is given.
#pragma once

#include <string>
#include <type_traits>

#include <gpusync/core/error.hpp>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/launch/shape.hpp>

namespace gpusync::detail {

template <class Argument>
void check_argument(const launch_shape&, const Argument&) {}

/// A barrier must be large enough for the grid and not hold a phase that was given up.
template <class Algorithm, class Grid, class Members>
void check_argument(const launch_shape& shape, const basic_grid_barrier<Algorithm, Grid, Members>& barrier) {
  const uint64_t blocks = shape.blocks.count();
  if constexpr (std::is_same_v<Members, block_range>) {
    const block_range& range = barrier.who();
    if (uint64_t{range.first} + range.count > blocks) {
      throw invalid_argument("The grid has " + std::to_string(blocks) +
                             " blocks, but a barrier among its arguments joins " + std::to_string(range.count) +
                             " blocks from block " + std::to_string(range.first) + " on.");
    }
  } else if (blocks > barrier.capacity()) {
    throw invalid_argument("The grid has " + std::to_string(blocks) +
                           " blocks, but the barrier's storage was made for " + std::to_string(barrier.capacity()) +
                           ". Make a larger storage.");
  }
  const uint32_t state = __atomic_load_n(&barrier.report()->written, __ATOMIC_ACQUIRE);
  if (state == timeout_report::abandoned) {
    throw broken_barrier(
        "A launch on this barrier ended in the middle of a phase, because one of its blocks threw. Call reset() on its "
        "storage first.");
  }
  if (state != 0) {
    throw broken_barrier("A wait on this barrier timed out in phase " + std::to_string(barrier.report()->phase) +
                         " of an earlier launch, so its count is in the middle of a phase. Call reset() on its storage "
                         "first.");
  }
}

template <class One, class Other>
void check_pair(const One&, const Other&) {}

/// Barriers of different parts of a grid must not count in the same words.
template <class Algorithm, class Grid, class OtherGrid>
void check_pair(const basic_grid_barrier<Algorithm, Grid, block_range>& one,
                const basic_grid_barrier<Algorithm, OtherGrid, block_range>& other) {
  const block_range &a = one.who(), &b = other.who();
  if (one.report() == other.report() && (a.first != b.first || a.count != b.count)) {
    throw invalid_argument("Two barriers of parts of the grid share one storage: give each part a storage of its own.");
  }
}

inline void check_pairs() {}
template <class First, class... Rest>
void check_pairs(const First& first, const Rest&... rest) {
  (check_pair(first, rest), ...);
  check_pairs(rest...);
}

/// Each argument by itself, and each with each.
template <class... Arguments>
void check_arguments(const launch_shape& shape, const Arguments&... arguments) {
  (check_argument(shape, arguments), ...);
  check_pairs(arguments...);
}

template <class Argument, class Clear>
void prepare_argument(const Argument&, Clear&&) {}

/// Before a launch: a barrier that blocks may leave early starts with all of them. `clear(words, count)` sets words of
/// the barrier's memory to 0 in the order of the launches.
template <class Algorithm, class Grid, class Clear>
void prepare_argument(const basic_grid_barrier<Algorithm, Grid, dropping_blocks>& barrier, Clear&& clear) {
  clear(barrier.who().roster(), barrier.who().roster_words());
}

template <class Argument>
void abandon_argument(const Argument&) {}

/// After a launch whose blocks did not all come to their end: the barrier may be in the middle of a phase.
template <class Algorithm, class Grid, class Members>
void abandon_argument(const basic_grid_barrier<Algorithm, Grid, Members>& barrier) {
  barrier.abandon();
}

}  // namespace gpusync::detail
