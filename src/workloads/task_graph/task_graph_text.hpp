// Workload "task-graph": tasks that each need what some others have made. Their levels, each of tasks that need nothing
// of each other, are the steps of a computation; or each task awaits those that it needs. One text for CUDA and host
// threads. C++17: CUDA sources include it.
#pragma once

#include <gpusync/neighbours/dependency_counters.hpp>

#include "boundary/computation.hpp"

namespace gpusync::tool {

/// How much a task computes beside mixing what it needs: dependent multiply-adds on each of its words.
struct task_work {
  uint32_t mean = 0;
  bool unlike = false;  ///< from 0 to twice the mean, by task; else all the same

  /// Of a task.
  GPUSYNC_HD uint32_t of(uint32_t task) const {
    if (!unlike || mean == 0) return mean;
    uint32_t h = (task + 1) * 2654435761u;
    h ^= h >> 15;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    return h % (2 * mean + 1);
  }
};

/// Words that a task makes: each of those that need it reads them all.
inline constexpr uint32_t task_words = 64;

/// A word before anything is mixed into it.
GPUSYNC_HD inline uint32_t task_begun(uint32_t task, uint32_t word) {
  return task * 2654435761u + word;
}
/// With a word of a task that it needs.
GPUSYNC_HD inline uint32_t task_mixed(uint32_t own, uint32_t other) {
  const uint32_t x = (own ^ (other * 0x9e3779b9u)) * 0x85ebca6bu;
  return (x ^ (x >> 15)) + other;
}
inline constexpr uint32_t task_factor = 1664525u, task_summand = 1013904223u;  ///< of a multiply-add

/// The graph, in tables. Tasks are numbered level by level. The tasks of a level are dealt out to blocks in turn, the
/// first of them to block `shift`.
struct task_tables {
  const uint32_t* level_first;   ///< by level, and one more
  const uint32_t* level_shift;   ///< by level
  const uint32_t* before_first;  ///< by task, and one more: its part of `before`
  const uint32_t* before;        ///< tasks that it needs
  const uint32_t* behind_first;  ///< by task, and one more: its part of `behind`
  const uint32_t* behind;        ///< tasks that need it
};

/// What a task's counter counts.
enum class task_counters {
  needs,  ///< those that the task needs: each publishes to all that need it, and a task awaits one counter
  ends    ///< its own end: a task publishes once, and awaits a counter of each that it needs
};

struct task_graph_text : computation {
  uint32_t* values;      ///< task_words of each task
  const uint32_t* from;  ///< where what is needed is read: `values`, or what was made before, for who waits for nobody
  task_tables at;
  task_work work;

  /// The calling thread's part of a task.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void run(Grid grid, uint32_t task) const {
    const uint32_t first = at.before_first[task], end = at.before_first[task + 1], rounds = work.of(task);
    for (uint32_t word = grid.thread(); word < task_words; word += grid.threads()) {
      uint32_t value = task_begun(task, word);
      // Not its own word of the others: another thread has made it.
      for (uint32_t i = first; i < end; ++i) {
        value = task_mixed(value, from[size_t{at.before[i]} * task_words + (word + 1) % task_words]);
      }
      GPUSYNC_UNROLL(1)
      for (uint32_t i = 0; i < rounds; ++i) value = value * task_factor + task_summand;
      values[size_t{task} * task_words + word] = value;
    }
  }

  /// Calls `use(task)` for each of the block's tasks of a level.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Use>
  GPUSYNC_HD void for_level(Grid grid, uint32_t level, Use&& use) const {
    const uint32_t first = at.level_first[level], end = at.level_first[level + 1], blocks = grid.blocks();
    const uint32_t shift = at.level_shift[level] % blocks, block = grid.block();
    for (uint32_t task = first + (block >= shift ? block - shift : block + blocks - shift); task < end;
         task += blocks) {
      use(task);
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Kept>
  GPUSYNC_HD void step(Grid grid, uint32_t level, Kept&) const {
    for_level(grid, level, [&](uint32_t task) { run(grid, task); });
  }

  /// All levels, where tasks await each other.
  GPUSYNC_API_TEMPLATE
  template <task_counters What, class Grid, class Counters>
  GPUSYNC_HD void run_all(Grid grid, uint32_t levels, Counters& counters) const {
    counters.enter();
    for (uint32_t level = 0; level < levels; ++level) {
      for_level(grid, level, [&](uint32_t task) {
        const uint32_t first = at.before_first[task], needs = at.before_first[task + 1] - first;
        const uint32_t next = at.behind_first[task], followers = at.behind_first[task + 1] - next;
        if (What == task_counters::needs) {
          if (needs != 0) counters.await(task);
          run(grid, task);
          if (followers != 0) counters.publish(at.behind + next, followers);
        } else {
          if (needs != 0) counters.await(at.before + first, needs);
          run(grid, task);
          if (followers != 0) counters.publish(task);
        }
      });
    }
  }

  /// The same where nobody waits.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void run_alone(Grid grid, uint32_t levels) const {
    for (uint32_t level = 0; level < levels; ++level) {
      for_level(grid, level, [&](uint32_t task) { run(grid, task); });
    }
  }
};

}  // namespace gpusync::tool
