// The tree-based grid barrier: the counters of small groups, whose last arrivals go on to the next level.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/algorithm.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/ordered.hpp>

namespace gpusync::grid {

/// Xiao and Feng's tree-based barrier (Virginia Tech TR-09-19) of two or three levels. Thread 0 of each block adds to
/// the counter of its group; the last of a group goes on to the counter of the next level. All poll the topmost.
///
/// Groups of two levels are those of the report: with m the square root of n members, rounded up, groups of m if n is
/// m * m, else m - 1 groups of n / (m - 1) and one of the rest, if there is one. Three levels: groups of the cube root,
/// rounded up, with two levels above. Counters are phase_words, so nothing is ever reset; a group knows its last
/// arrival by the step of its phase field, so groups need not be in the same phase and may differ between launches.
///
/// Preconditions, synchronization, progress: as lock_based. The add to a group's counter releases and acquires, so that
///   the last of the group hands on what the others have written.
/// Cost: `Levels` hops, one after the other; per block one add, per group one more. The longest queue on one counter
///   is some sqrt(n) or cbrt(n) adds instead of n. All blocks poll one word, beside some sqrt(n) adds to it.
/// Storage: a line of 128 bytes for each group and one for the top; at most 65,535 blocks.
template <int Levels, ordering Order>
struct tree : algorithm_defaults {
  static_assert(Levels == 2 || Levels == 3, "a tree has two levels or three");

  static constexpr ordering order = Order;
  static constexpr const char* family = Levels == 2 ? "tree-2" : "tree-3";
  static constexpr uint32_t max_blocks = phase_word::max_blocks;

  /// The topmost counter at the end of the phase in which the block arrived.
  using token = uint32_t;

  /// A thread's own part, on each level, from its group's up.
  struct state {
    uint32_t goal;          ///< the topmost counter at the end of the phase to come
    uint32_t line[Levels];  ///< which counters, in lines from the beginning of the words
    uint32_t step[Levels];  ///< what is added to each
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t blocks) {
    const size_t wide = root(blocks, Levels);
    return (1 + wide + (Levels == 3 ? wide * wide : 0)) * detail::line_words;
  }
  /// Only the topmost counter's phase is ever looked at; the others start there too, to pass their wraps with it.
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t blocks, uint32_t phase) {
    for (size_t i = 0; i < tree::words(blocks); i += detail::line_words) words[i] = phase_word::start_of(phase);
  }

  GPUSYNC_HD static uint32_t stamp(token goal) { return goal | 1u; }
  /// The token of the phase to come.
  GPUSYNC_HD static token upcoming(const state& own) { return own.goal; }
  GPUSYNC_HD static uint32_t next_stamp(token goal) { return stamp(goal + phase_word::one_phase); }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid, const uint32_t* words, membership who) {
    state own{};
    own.goal = phase_word::goal(Grid::memory::template load<memory_order::relaxed, scope::device>(words));
    uint32_t rank = who.rank;
    uint32_t count = who.count;
    GPUSYNC_UNROLL(Levels)
    for (int level = 0; level < Levels; ++level) {
      // Counters are numbered level by level from the top. A level of groups begins behind the most groups that the
      // levels above can have, whatever the number of members: words() has room for that.
      const uint32_t size = group_size(count, Levels - level);
      const uint32_t group = rank / size;
      const uint32_t sharing = (group + 1) * size <= count ? size : count - group * size;
      own.line[level] = first_line(who.count, Levels - level) + group;
      own.step[level] = rank % size == 0 ? phase_word::completing(sharing) : 1u;
      rank = group;
      count = (count + size - 1) / size;
    }
    return own;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    release_block<Order>(grid);
    const token goal = own.goal;
    own.goal += phase_word::one_phase;
    if (grid.thread() == 0) climb(grid, words, own);
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t* words, const state&, token goal, Context& context) {
    return wait_for_goal<Order>(grid, words, goal, context);
  }

 private:
  /// The smallest number whose power `degree` is `n` or more.
  GPUSYNC_HD static constexpr uint32_t root(uint32_t n, int degree) {
    uint32_t wide = 1;
    while (wide * wide * (degree == 3 ? wide : 1u) < n) ++wide;
    return wide;
  }

  /// Of `count` members with `levels` levels above them.
  GPUSYNC_HD static constexpr uint32_t group_size(uint32_t count, int levels) {
    if (levels == 1) return count;
    const uint32_t wide = root(count, levels);
    if (levels == 3 || wide * wide == count) return wide;
    return count / (wide - 1);
  }

  /// Of the level with `levels` levels from it to the top.
  GPUSYNC_HD static constexpr uint32_t first_line(uint32_t count, int levels) {
    return levels == 1 ? 0 : levels == 2 ? 1 : 1 + root(count, 3);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void climb(Grid grid, uint32_t* words, const state& own) {
    using memory = typename Grid::memory;
    // Unrolled, here and in join(): with a level that is only known at run time the whole handle is kept in local
    // memory.
    GPUSYNC_UNROLL(Levels)
    for (int level = 0; level + 1 < Levels; ++level) {
      const uint32_t before = memory::template fetch_add<hands_on<Order>, scope::device>(
          words + own.line[level] * detail::line_words, own.step[level]);
      if (phase_word::phase(before + own.step[level]) == phase_word::phase(before)) return;
      // What the add has seen of the others comes before the add that follows.
      after_poll<Order>(grid);
    }
    memory::template add<publishes<Order>, scope::device>(words, own.step[Levels - 1]);
  }
};

}  // namespace gpusync::grid
