#include "workloads/task_graph/task_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace gpusync::tool {

const std::vector<std::string>& task_graph_form_names() {
  static const std::vector<std::string> names{"layered", "wavefront", "chain"};
  return names;
}

task_graph::task_graph(task_graph_form form, uint32_t tasks, uint32_t width, task_work work) : work_(work) {
  constexpr uint32_t most_tasks = 1u << 24, most_work = 1u << 20;
  if (tasks == 0 || tasks > most_tasks || width == 0) {
    throw invalid_argument(
        fmt::format("A task graph has 1 to {} tasks, and one at least in a level, not {} in levels of {}.", most_tasks,
                    tasks, width));
  }
  if (work.mean > most_work) {
    throw invalid_argument(fmt::format("A task makes up to {} multiply-adds of a word, not {}.", most_work, work.mean));
  }
  if (form == task_graph_form::layered) make_layered(tasks, width);
  if (form == task_graph_form::wavefront) make_wavefront(tasks);
  for (uint32_t task = 0; form == task_graph_form::chain && task < tasks; ++task) {
    add_level(task);
    add_task(task == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{task - 1});
  }
  level_first_.push_back(this->tasks());
  behind_first_.assign(size_t{this->tasks()} + 1, 0);
  for (const uint32_t needed : before_) ++behind_first_[needed + 1];
  for (uint32_t task = 0; task < this->tasks(); ++task) behind_first_[task + 1] += behind_first_[task];
  behind_.resize(before_.size());
  std::vector<uint32_t> next(behind_first_);
  for (uint32_t task = 0; task < this->tasks(); ++task) {
    for (uint32_t i = before_first_[task]; i < before_first_[task + 1]; ++i) behind_[next[before_[i]]++] = task;
  }
  make_values();
}

void task_graph::add_level(uint32_t shift) {
  level_first_.push_back(tasks());
  level_shift_.push_back(shift);
}

void task_graph::add_task(const std::vector<uint32_t>& before) {
  before_.insert(before_.end(), before.begin(), before.end());
  before_first_.push_back(static_cast<uint32_t>(before_.size()));
}

void task_graph::make_layered(uint32_t tasks, uint32_t width) {
  std::minstd_rand dice(1);  // the same graph in every run
  for (uint32_t first = 0; first < tasks; first += width) {
    add_level(0);
    for (uint32_t task = first; task < std::min(tasks, first + width); ++task) {
      std::vector<uint32_t> before;
      const uint32_t count = first == 0 ? 0 : 1 + static_cast<uint32_t>(dice() >> 8) % 4;
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t needed = first - width + static_cast<uint32_t>(dice() >> 4) % width;
        if (std::find(before.begin(), before.end(), needed) == before.end()) before.push_back(needed);
      }
      add_task(before);
    }
    if (tasks - first <= width) break;
  }
}

void task_graph::make_wavefront(uint32_t tasks) {
  const auto side = std::max(1u, static_cast<uint32_t>(std::sqrt(static_cast<double>(tasks))));
  // A row is one block's, as long as there are enough of them.
  uint32_t of_last = 0, last_row = 0;  // the first task of the diagonal before, and its row
  for (uint32_t diagonal = 0; diagonal < 2 * side - 1; ++diagonal) {
    const uint32_t row = diagonal < side ? 0 : diagonal - side + 1, first = this->tasks();
    add_level(row);
    for (uint32_t r = row; r <= std::min(diagonal, side - 1); ++r) {
      std::vector<uint32_t> before;
      if (r > 0) before.push_back(of_last + (r - 1 - last_row));     // above
      if (diagonal > r) before.push_back(of_last + (r - last_row));  // to the left
      add_task(before);
    }
    of_last = first;
    last_row = row;
  }
}

std::vector<uint32_t> task_graph::expected(task_counters what) const {
  std::vector<uint32_t> all(tasks());
  const std::vector<uint32_t>& first = what == task_counters::needs ? before_first_ : behind_first_;
  for (uint32_t task = 0; task < tasks(); ++task) {
    const uint32_t count = first[task + 1] - first[task];
    all[task] = what == task_counters::needs ? count : std::min(count, 1u);
  }
  return all;
}

void task_graph::make_values() {
  // n multiply-adds are one.
  std::vector<uint32_t> factor{1}, summand{0};
  for (uint32_t i = 0; i < (work_.unlike ? 2 : 1) * work_.mean; ++i) {
    factor.push_back(factor.back() * task_factor);
    summand.push_back(summand.back() * task_factor + task_summand);
  }
  values_.resize(size_t{tasks()} * task_words);
  for (uint32_t task = 0; task < tasks(); ++task) {
    const uint32_t rounds = work_.of(task);
    for (uint32_t word = 0; word < task_words; ++word) {
      uint32_t value = task_begun(task, word);
      for (uint32_t i = before_first_[task]; i < before_first_[task + 1]; ++i) {
        value = task_mixed(value, values_[size_t{before_[i]} * task_words + (word + 1) % task_words]);
      }
      values_[size_t{task} * task_words + word] = value * factor[rounds] + summand[rounds];
    }
  }
}

namespace {

/// No device has arrays of nothing.
std::vector<uint32_t> at_least_one(std::vector<uint32_t> words) {
  if (words.empty()) words.push_back(0);
  return words;
}

}  // namespace

std::vector<array_content> task_graph::content() const {
  array_content made = array_content::filled(values_.size(), uint32_t{0});
  const auto right = std::make_shared<const std::vector<uint32_t>>(values_);
  made.expected = {right, right->data()};
  return {made,
          array_content::once(values_),
          array_content::once(level_first_),
          array_content::once(level_shift_),
          array_content::once(before_first_),
          array_content::once(at_least_one(before_)),
          array_content::once(behind_first_),
          array_content::once(at_least_one(behind_))};
}

std::shared_ptr<run_data> task_graph::result(std::shared_ptr<arrays> memory) const {
  return std::make_shared<expected_array>(
      std::move(memory), values_.size() * sizeof(uint32_t),
      fmt::format("all words of {} tasks, each mixed of those that it needs, compared after every run", tasks()));
}

step_method task_counter_method() {
  return {task_methods::needs,
          "a dependency counter for each task, of what it needs",
          {},
          method_kind::neighbours,
          true,
          true};
}
step_method task_event_method() {
  return {
      task_methods::ends, "a dependency counter for each task, of its end", {}, method_kind::neighbours, true, true};
}
step_method task_floor_method() {
  return {method_names::none, "no waiting (the work alone)", {}, method_kind::floor, true, true};
}

}  // namespace gpusync::tool
