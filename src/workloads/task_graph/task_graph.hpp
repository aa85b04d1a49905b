// Workload "task-graph", whatever device it runs on. C++17: CUDA sources include it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boundary/arrays.hpp"
#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "workloads/task_graph/task_graph_text.hpp"

namespace gpusync::tool {

/// Who needs whom.
enum class task_graph_form {
  layered,    ///< levels of as many tasks each, of which each needs 1 to 4 of the level before, drawn at random
  wavefront,  ///< a square, in which a task needs its left and its upper neighbour; its levels are diagonals
  chain       ///< each task needs the one before
};
/// "layered", "wavefront", "chain".
const std::vector<std::string>& task_graph_form_names();

/// A graph and what its tasks make.
class task_graph {
 public:
  /// `tasks`: at most; a wavefront has as many as fit in a square. `width`: tasks of a level of a layered graph. Throws
  /// invalid_argument for what cannot be.
  task_graph(task_graph_form form, uint32_t tasks, uint32_t width, task_work work);

  uint32_t tasks() const { return static_cast<uint32_t>(before_first_.size() - 1); }
  uint32_t levels() const { return static_cast<uint32_t>(level_shift_.size()); }
  uint64_t edges() const { return before_.size(); }
  task_work work() const { return work_; }
  /// Publishes that the counters of tasks get.
  std::vector<uint32_t> expected(task_counters what) const;
  /// What each task must make, computed without its loops.
  const std::vector<uint32_t>& values() const { return values_; }

  /// The memory of runs: what they make, the same complete, and the tables.
  std::vector<array_content> content() const;
  /// The text on such memory. Alone: for who waits for nobody, and reads what was complete before.
  template <class Memory>
  task_graph_text text(Memory& memory, bool alone = false) const {
    const auto words = [&memory](size_t array) { return memory.template address<uint32_t>(array); };
    return {{}, words(0), words(alone ? 1 : 0), {words(2), words(3), words(4), words(5), words(6), words(7)}, work_};
  }
  /// The check of runs in such memory.
  std::shared_ptr<run_data> result(std::shared_ptr<arrays> memory) const;
  /// Its levels.
  step_sequence steps() const { return step_sequence::of_whole(levels()); }

 private:
  void add_level(uint32_t shift);
  void add_task(const std::vector<uint32_t>& before);
  void make_layered(uint32_t tasks, uint32_t width);
  void make_wavefront(uint32_t tasks);
  void make_values();

  task_work work_;
  std::vector<uint32_t> level_first_, level_shift_, before_first_{0}, before_, behind_first_, behind_, values_;
};

/// The methods of this workload besides those of the engine.
namespace task_methods {
inline constexpr const char *needs = "task-counters", *ends = "task-events";
}
/// A counter for each task, of what it needs.
step_method task_counter_method();
/// A counter for each task, of its end.
step_method task_event_method();
/// Nobody waits: each task reads what another run has made.
step_method task_floor_method();

/// The device side.
class task_graph_device {
 public:
  virtual ~task_graph_device() = default;
  /// The workload of this graph. It must not outlive this object.
  virtual std::unique_ptr<workload> running(const task_graph& graph) = 0;
};

}  // namespace gpusync::tool
