#include "workloads/stepped/stepped_host.hpp"

#include <atomic>

#include "measure/host_timer.hpp"
#include "workloads/barrier_methods.hpp"

namespace gpusync::tool {

namespace {

class program : public checked_program {
 public:
  program(const step_shape& shape, host_steps steps, std::shared_ptr<run_data> data)
      : checked_program(std::move(data)), shape_{shape.blocks, shape.threads}, steps_(std::move(steps)) {}

 protected:
  virtual void carry_out() = 0;

  double compute() override {
    const host_timer timer;
    carry_out();
    const double elapsed = timer.nanoseconds();
    if (is_interrupted()) throw run_interrupted();  // some steps may be missing
    return elapsed;
  }

  const host_device device_{};
  const launch_shape shape_;
  const host_steps steps_;
};

/// Threads that start for each step and end with it: the host's counterpart of a kernel launch and a wait.
class launch_wait_program : public program {
 public:
  using program::program;

 private:
  void carry_out() override {
    for (uint32_t step = 0; step < steps_.count && !is_interrupted(); ++step) {
      launch(device_, shape_, [this, step] { steps_.step(host_grid::current(), step); });
    }
  }
};

/// Threads that stay, with a barrier of the library between steps.
template <class Algorithm>
class barrier_program : public program {
 public:
  barrier_program(const step_shape& shape, host_steps steps, std::shared_ptr<run_data> data)
      : program(shape, std::move(steps), std::move(data)), storage_(shape.blocks) {}

 private:
  void carry_out() override {
    // All threads must leave before the same step, or one waits for the others. Who is told to end says so some steps
    // ahead: by then all know, whatever the barrier orders. Until there, there is nothing more to compute.
    std::atomic<uint32_t> end{steps_.count};
    launch(
        device_, shape_,
        [this, &end](basic_grid_barrier<Algorithm, host_grid> barrier) {
          const host_grid grid = host_grid::current();
          const bool asks = grid.block() == 0 && grid.thread() == 0;
          for (uint32_t step = 0; step < end.load(std::memory_order_relaxed); ++step) {
            const bool told = end.load(std::memory_order_relaxed) != steps_.count;
            if (!told) steps_.step(grid, step);
            if (asks && !told && steps_.count - step > steps_ahead && is_interrupted()) end.store(step + steps_ahead);
            barrier.sync();
          }
        },
        storage_.barrier());
  }

  static constexpr uint32_t steps_ahead = 64;

  host_barrier_storage<Algorithm> storage_;
};

/// Threads that stay and wait for nothing: what a check must find wrong.
class no_barrier_program : public program {
 public:
  using program::program;

 private:
  void carry_out() override {
    launch(device_, shape_, [this] {
      for (uint32_t step = 0; step < steps_.count; ++step) steps_.step(host_grid::current(), step);
    });
  }
};

class workload : public whole_workload {
 public:
  workload(host_steps steps, std::shared_ptr<run_data> data) : steps_(std::move(steps)), data_(std::move(data)) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all{
        {"launch-wait", "threads started and joined for each step", {"F1"}, method_kind::host_wait, true, false},
    };
    for (step_method& method : barrier_methods<grid::portable_algorithms>("barrier")) all.push_back(std::move(method));
    return all;
  }

  std::unique_ptr<whole_program> prepare(const step_method& method, const step_shape& shape) override {
    require_co_resident(host_device{}, {shape.blocks, shape.threads});
    if (method.name == no_barrier_method) return std::make_unique<no_barrier_program>(shape, steps_, data_);
    if (method.name == "launch-wait") return std::make_unique<launch_wait_program>(shape, steps_, data_);
    auto program = with_algorithm<std::unique_ptr<whole_program>, grid::portable_algorithms>(
        method,
        [&](auto algorithm) { return std::make_unique<barrier_program<decltype(algorithm)>>(shape, steps_, data_); });
    if (!program) throw invalid_argument("There is no method " + method.name + " on the host.");
    return program;
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return host_device{}.max_threads().threads / threads;
  }

 private:
  const host_steps steps_;
  const std::shared_ptr<run_data> data_;
};

}  // namespace

std::unique_ptr<whole_workload> stepped_on_host(host_steps steps, std::shared_ptr<run_data> data) {
  return std::make_unique<workload>(std::move(steps), std::move(data));
}

}  // namespace gpusync::tool
