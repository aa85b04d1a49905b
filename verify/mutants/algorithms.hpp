// Wrong barriers, written by hand where no change of the memory makes them of a shipped one. Each has one fault.
#pragma once

#include <gpusync/grid/lock_based.hpp>

namespace gpusync::verify {

using correct = gpusync::grid::lock_based<ordering::acquire_release>;

/// lock_based, but the wait tests for the goal alone, as the published code does: whoever looks too late hangs.
struct tests_for_equality : correct {
  template <class Grid, class Context>
  static wait_status wait(Grid grid, const uint32_t* words, const state&, token goal, Context& context) {
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      status = poll_until<memory_order::acquire, scope::device>(
          grid, words, [goal](uint32_t current) { return current == goal; }, context);
    }
    return sync_block_status(grid, status, context);
  }
};

/// lock_based, but phases are compared as plain numbers, which fails at the wrap.
struct ignores_the_wrap : correct {
  template <class Grid, class Context>
  static wait_status wait(Grid grid, const uint32_t* words, const state&, token goal, Context& context) {
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      status = poll_until<memory_order::acquire, scope::device>(
          grid, words, [goal](uint32_t current) { return current >= goal; }, context);
    }
    return sync_block_status(grid, status, context);
  }
};

/// lock_based, but the last arrival is not waited for.
struct released_too_early : correct {
  template <class Grid, class Context>
  static wait_status wait(Grid grid, const uint32_t* words, const state&, token goal, Context& context) {
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      const uint32_t enough = phase_word::goal(goal - 1) - phase_word::one_phase + grid.blocks() - 1;
      status = poll_until<memory_order::acquire, scope::device>(
          grid, words, [enough](uint32_t current) { return phase_reached(current, enough); }, context);
    }
    return sync_block_status(grid, status, context);
  }
};

/// lock_based, but without the meeting of the block's threads before the arrival.
struct arrives_alone : correct {
  template <class Grid>
  static token arrive(Grid grid, uint32_t* words, state& own) {
    token goal = own.goal;
    own.goal += phase_word::one_phase;
    if (grid.thread() == 0) {
      goal = phase_word::goal(Grid::memory::template fetch_add<memory_order::release, scope::device>(words, own.step));
    }
    return goal;
  }
};

/// A counter that each block adds 1 to and, when it leaves, takes 1 from: used again at once, a fast block may come
/// back before a slow one has seen the full count.
struct counts_down_again : correct {
  using token = uint32_t;
  struct state {
    uint32_t blocks;
    uint32_t phase;
  };
  static uint32_t stamp(token phase) { return phase << 1 | 1u; }
  static uint32_t next_stamp(token phase) { return stamp(phase + 1); }
  static void start_at(uint32_t* words, uint32_t, uint32_t) { *words = 0; }

  template <class Grid>
  static state join(Grid, const uint32_t*, membership who) {
    return {who.count, 0};
  }
  template <class Grid>
  static token arrive(Grid grid, uint32_t* words, state& own) {
    grid.sync_block();
    if (grid.thread() == 0) Grid::memory::template add<memory_order::release, scope::device>(words, 1u);
    return own.phase++;
  }
  template <class Grid, class Context>
  static wait_status wait(Grid grid, uint32_t* words, const state& own, token, Context& context) {
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      const uint32_t full = own.blocks;
      status = poll_until<memory_order::acquire, scope::device>(
          grid, words, [full](uint32_t current) { return current == full; }, context);
      Grid::memory::template add<memory_order::release, scope::device>(words, ~0u);
    }
    return sync_block_status(grid, status, context);
  }
};

/// Each block waits for its two neighbours only, through a flag per block.
struct joins_neighbours : correct {
  using token = uint32_t;
  struct state {
    uint32_t rank;
    uint32_t blocks;
    uint32_t phase;
  };
  static constexpr size_t words(uint32_t blocks) { return blocks; }
  static uint32_t stamp(token phase) { return phase << 1 | 1u; }
  static uint32_t next_stamp(token phase) { return stamp(phase + 1); }
  static void start_at(uint32_t*, uint32_t, uint32_t) {}

  template <class Grid>
  static state join(Grid, const uint32_t*, membership who) {
    return {who.rank, who.count, 0};
  }
  template <class Grid>
  static token arrive(Grid grid, uint32_t* words, state& own) {
    grid.sync_block();
    ++own.phase;
    if (grid.thread() == 0) {
      Grid::memory::template store<memory_order::release, scope::device>(words + own.rank, own.phase);
    }
    return own.phase;
  }
  template <class Grid, class Context>
  static wait_status wait(Grid grid, const uint32_t* words, const state& own, token phase, Context& context) {
    wait_status status = wait_status::completed;
    if (grid.thread() == 0) {
      for (const uint32_t step : {1u, own.blocks - 1}) {
        status = poll_until<memory_order::acquire, scope::device>(
            grid, words + (own.rank + step) % own.blocks,
            [phase](uint32_t current) { return phase_reached(current, phase); }, context);
      }
    }
    return sync_block_status(grid, status, context);
  }
};

}  // namespace gpusync::verify
