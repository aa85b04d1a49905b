// Workload "panels" on host threads.
#include <gpusync/gpusync.hpp>
#include <gpusync/pace/host.hpp>

#include "measure/host_timer.hpp"
#include "workloads/panels/panels.hpp"

namespace gpusync::tool {

namespace {

/// The memory of a problem and what it must hold after a run.
struct host_panels {
  explicit host_panels(const panel_problem& asked) : problem(asked), work(asked.work()) {
    table.resize(work.words());
    sums.resize(work.elements());
    expected_sums.resize(work.elements());
    if (problem.op == panel_op::scatter) {
      expected_table.resize(work.words());
      for_each_place([&](uint64_t place) { ++expected_table[place]; });
      return;
    }
    for (uint64_t i = 0; i < work.words(); ++i) table[i] = panel_word(i);
    for (uint32_t e = 0; e < work.elements(); ++e) {
      const uint32_t block = e / work.threads, thread = e % work.threads;
      expected_sums[e] = problem.op == panel_op::stream ? text<panel_op::stream>().expected(block, thread)
                                                        : text<panel_op::gather>().expected(block, thread);
    }
    if (problem.op != panel_op::probe) return;
    places.resize(size_t{work.panels} * work.most_accesses() * work.elements());
    for (uint32_t panel = 0; panel < work.panels; ++panel) {
      for (uint32_t e = 0; e < work.elements(); ++e) {
        panel_dice dice(work, e, panel);
        for (uint32_t i = 0; i < work.most_accesses(); ++i) {
          places[(size_t{panel} * work.most_accesses() + i) * work.elements() + e] = dice.next();
        }
      }
    }
  }

  template <panel_op Op>
  panel_text<Op> text() {
    return {work, table.data(), places.data(), sums.data()};
  }

  void reset() {
    std::fill(sums.begin(), sums.end(), 0);
    if (problem.op == panel_op::scatter) std::fill(table.begin(), table.end(), 0);
  }
  /// What is wrong after a run.
  uint64_t wrong() const {
    uint64_t wrong = 0;
    for (size_t i = 0; i < expected_table.size(); ++i) wrong += table[i] != expected_table[i];
    for (size_t i = 0; i < sums.size(); ++i) wrong += sums[i] != expected_sums[i];
    return wrong;
  }
  uint64_t checked() const { return expected_table.size() + sums.size(); }

  const panel_problem problem;
  const panel_work work;
  std::vector<uint32_t> table, places, sums, expected_table, expected_sums;

 private:
  template <class Use>
  void for_each_place(const Use& use) {
    for (uint32_t panel = 0; panel < work.panels; ++panel) {
      for (uint32_t e = 0; e < work.elements(); ++e) {
        panel_dice dice(work, e, panel);
        const uint32_t count = work.accesses_of(e / work.threads, panel);
        for (uint32_t i = 0; i < count; ++i) use((uint64_t{panel} << work.log2_words) + dice.next());
      }
    }
  }
};

/// A grid barrier in a window's place.
struct by_barrier {
  host_grid_barrier& barrier;
  void end_epoch() { barrier.sync(); }
};

class host_panel_program : public panel_program {
 public:
  host_panel_program(std::shared_ptr<host_panels> memory, const std::string& method)
      : memory_(std::move(memory)), method_(method) {
    const uint32_t blocks = memory_->work.blocks;
    if (const uint32_t lead = lead_of_window(method)) window_ = std::make_unique<host_window_storage<>>(lead);
    if (const uint32_t lead = lead_of_window(method, "strict-window-")) {
      strict_ = std::make_unique<host_window_storage<pace::strict>>(lead);
    }
    if (method == "lock-based-acquire-release") barrier_ = std::make_unique<host_grid_barrier_storage>(blocks);
  }

  double run() override {
    switch (memory_->problem.op) {
      case panel_op::gather: return run_as<panel_op::gather>();
      case panel_op::scatter: return run_as<panel_op::scatter>();
      case panel_op::probe: return run_as<panel_op::probe>();
      case panel_op::stream: return run_as<panel_op::stream>();
    }
    return 0;
  }
  verification verify() override {
    return {true, checked_, wrong_, "every thread's sum, or every word of the table, after every run"};
  }
  uint32_t given_up() const override { return window_ ? window_->given_up() : 0; }

 private:
  template <panel_op Op>
  double run_as() {
    memory_->reset();
    const launch_shape shape{memory_->work.blocks, memory_->work.threads};
    const panel_text<Op> text = memory_->text<Op>();
    const host_device host;
    const host_timer clock;
    if (window_) {
      launch(
          host, shape, [&](host_grid_window<> window) { all_panels<host_grid>(text, window); }, window_->window());
    } else if (strict_) {
      launch(
          host, shape, [&](host_grid_window<pace::strict> window) { all_panels<host_grid>(text, window); },
          strict_->window());
    } else if (barrier_) {
      launch(
          host, shape,
          [&](host_grid_barrier barrier) {
            by_barrier pace{barrier};
            all_panels<host_grid>(text, pace);
          },
          barrier_->barrier());
    } else if (method_ == "launch-a-panel") {
      for (uint32_t epoch = 0; epoch < memory_->work.panels; ++epoch) {
        launch(host, shape, [&] {
          const host_grid grid = host_grid::current();
          text.sums[grid.block() * text.work.threads + grid.thread()] +=
              text.template visit<host_memory>(grid.block(), grid.thread(), text.work.panel_of(grid.block(), epoch));
        });
      }
    } else {
      launch(host, shape, [&] {
        no_pace none;
        all_panels<host_grid>(text, none);
      });
    }
    const double taken = clock.nanoseconds();
    checked_ += memory_->checked();
    wrong_ += memory_->wrong();
    return taken;
  }

  const std::shared_ptr<host_panels> memory_;
  const std::string method_;
  std::unique_ptr<host_window_storage<>> window_;
  std::unique_ptr<host_window_storage<pace::strict>> strict_;
  std::unique_ptr<host_grid_barrier_storage> barrier_;
  uint64_t checked_ = 0, wrong_ = 0;
};

class host_panels_side : public panels_device {
 public:
  std::vector<step_method> methods() const override {
    std::vector<step_method> all{panel_method(method_names::none, "each block at its own pace")};
    for (const step_method& window : window_methods()) all.push_back(window);
    all.push_back(panel_method("lock-based-acquire-release", "a grid barrier", method_kind::barrier, true));
    all.push_back(panel_method("launch-a-panel", "a launch for each panel", method_kind::host_wait));
    return all;
  }
  std::unique_ptr<panel_program> prepare(const panel_problem& problem, const std::string& method) override {
    require_co_resident(host_device{}, {problem.blocks, problem.threads});
    if (!known_ || !(known_->problem == problem)) {
      known_.reset();
      known_ = std::make_shared<host_panels>(problem);
    }
    return std::make_unique<host_panel_program>(known_, method);
  }

 private:
  std::shared_ptr<host_panels> known_;
};

const register_side<panels_device> panels_on_host_registered(device_kind::host, make_side<host_panels_side>);

}  // namespace

}  // namespace gpusync::tool
