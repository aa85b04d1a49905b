// The grid barriers as they were published in 2010, with their faults: to be compared with, not to be used.
#pragma once

#include <gpusync/core/wait.hpp>
#include <gpusync/core/wait_context.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/grid/registry.hpp>

namespace gpusync::rivals {

/// Xiao and Feng's lock-based barrier, word for word (items F2, and F4 with the fence): thread 0 adds to one counter
/// and polls it until it equals a goal that the caller counts, the number of blocks times the number of calls.
///
/// Unsafe in these ways:
/// - It can hang. The poll ends by equality, but a fast block may have arrived in the next phase before a slow one has
///   looked, and then the counter never has that value again.
/// - Data is not ordered. Nothing follows the poll, so reads after the barrier may be stale (L1 caches global loads
///   now). Without the fence, writes before it may also be late.
/// - Without the fence, the block's other threads are not waited for: the original has no block barrier before the add.
///   A block may arrive while some of its threads are still at work.
/// - The counter accumulates: the number of members must be the same in all launches on one storage (reset() it to
///   change that), so blocks cannot drop out, and the counter's wrap at 2^32 breaks it unless that number divides 2^32.
///
/// Preconditions, progress: as lock_based, and as above.
/// Cost: as lock_based. Storage: one word.
template <ordering Order>
struct literal_lock_based : grid::algorithm_defaults {
  static_assert(Order != ordering::acquire_release, "2010 had no acquire and no release");

  static constexpr bool safe = false;  ///< may hang and orders no data, whatever `order` says
  static constexpr ordering order = Order;
  static constexpr const char* family = "lock-based-2010";
  static constexpr uint32_t max_blocks = 65535;

  struct token {
    uint32_t goal;
    uint32_t count;  ///< of members
  };

  struct state {
    uint32_t goal;  ///< of the phase to come
    uint32_t count;
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t) { return 1; }
  /// Precondition: `blocks` is the number of members, and phase * blocks does not wrap.
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t blocks, uint32_t phase) { *words = phase * blocks; }

  GPUSYNC_HD static token upcoming(const state& own) { return {own.goal, own.count}; }
  GPUSYNC_HD static uint32_t stamp(const token& of) { return of.goal << 1 | 1u; }
  GPUSYNC_HD static uint32_t next_stamp(const token& of) { return (of.goal + of.count) << 1 | 1u; }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid, const uint32_t* words, membership who) {
    // Stands for the caller's count. The others may have arrived, this block has not: the quotient is certain.
    const uint32_t now = Grid::memory::template load<memory_order::relaxed, scope::device>(words);
    return {(now / who.count + 1) * who.count, who.count};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    if constexpr (Order == ordering::fence) {
      Grid::memory::template fence<scope::device>();
      grid.sync_block();
    }
    const token arrived{own.goal, own.count};
    own.goal += own.count;
    if (grid.thread() == 0) (void)Grid::memory::template fetch_add<memory_order::relaxed, scope::device>(words, 1u);
    return arrived;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, const uint32_t* words, const state&, token arrived, Context& context) {
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      status = poll_until<memory_order::relaxed, scope::device>(
          grid, words, [arrived](uint32_t current) { return current == arrived.goal; }, context);
    }
    return sync_block_status(grid, status, context);
  }
};

/// Xiao and Feng's lock-free barrier, word for word (items F3, and F5 with the fence): thread i of the first block
/// watches block i's arrival, then stores its release; all comparisons are by equality with a goal that the caller
/// counts.
///
/// Unsafe in these ways:
/// - Data is not ordered: nothing follows the polls, so reads after the barrier may be stale, and what the first block
///   has seen of the others is not put before the releases. Without the fence, writes before it may also be late.
/// - A flag that does not hold the phase before waits for ever: the number of members must be the same in all launches
///   on one storage (reset() it to change that), and blocks cannot drop out.
///
/// Preconditions: as lock_free, and at least as many threads per block as members; otherwise it hangs, as the threads
///   do not take turns.
/// Cost: as lock_free, whose first block does not poll its own release, as this one does. Storage: two words per block.
template <ordering Order>
struct literal_lock_free : grid::algorithm_defaults {
  static_assert(Order != ordering::acquire_release, "2010 had no acquire and no release");

  static constexpr bool safe = false;
  static constexpr ordering order = Order;
  static constexpr bool wait_needed_by_others = true;
  static constexpr const char* family = "lock-free-2010";
  static constexpr uint32_t max_blocks = 65535;

  using token = uint32_t;

  struct state {
    uint32_t goal;  ///< of the phase to come
    uint32_t rank;
    uint32_t count;
  };

  GPUSYNC_HD static constexpr size_t words(uint32_t blocks) {
    return (size_t{blocks} + line_words - 1) / line_words * 2 * line_words;
  }
  GPUSYNC_HD static void start_at(uint32_t* words, uint32_t blocks, uint32_t phase) {
    for (size_t i = 0; i < literal_lock_free::words(blocks); ++i) words[i] = phase;
  }

  GPUSYNC_HD static token upcoming(const state& own) { return own.goal; }
  GPUSYNC_HD static uint32_t stamp(token goal) { return goal << 1 | 1u; }
  GPUSYNC_HD static uint32_t next_stamp(token goal) { return stamp(goal + 1); }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static state join(Grid, const uint32_t* words, membership who) {
    // Stands for the caller's count: the member's release cannot be stored before it has arrived.
    const uint32_t last = Grid::memory::template load<memory_order::relaxed, scope::device>(words + released(who.rank));
    return {last + 1, who.rank, who.count};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static token arrive(Grid grid, uint32_t* words, state& own) {
    if constexpr (Order == ordering::fence) Grid::memory::template fence<scope::device>();
    grid.sync_block();
    const token goal = own.goal++;
    if (grid.thread() == 0) {
      Grid::memory::template store<memory_order::relaxed, scope::device>(words + arrived(own.rank), goal);
    }
    return goal;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status wait(Grid grid, uint32_t* words, const state& own, token goal, Context& context) {
    const auto equal = [goal](uint32_t flag) { return flag == goal; };
    const uint32_t thread = grid.thread();
    wait_status status = wait_status::completed;
    if (own.rank == 0) {
      if (thread < own.count) {
        status = poll_until<memory_order::relaxed, scope::device>(grid, words + arrived(thread), equal, context);
      }
      status = sync_block_status(grid, status, context);
      if (status == wait_status::timed_out) return status;
      if (thread < own.count) {
        Grid::memory::template store<memory_order::relaxed, scope::device>(words + released(thread), goal);
      }
    }
    if (thread == 0) {
      status = poll_until<memory_order::relaxed, scope::device>(grid, words + released(own.rank), equal, context);
    }
    return sync_block_status(grid, status, context);
  }

 private:
  static constexpr uint32_t line_words = 32;
  GPUSYNC_HD static constexpr size_t arrived(uint32_t rank) {
    return size_t{rank / line_words} * 2 * line_words + rank % line_words;
  }
  GPUSYNC_HD static constexpr size_t released(uint32_t rank) { return arrived(rank) + line_words; }
};

/// All of them. They may hang and order no data, so what walks the library's lists must not meet them.
using literal_algorithms = grid::algorithm_list<literal_lock_based<ordering::none>, literal_lock_based<ordering::fence>,
                                                literal_lock_free<ordering::none>, literal_lock_free<ordering::fence>>;

}  // namespace gpusync::rivals
