#include "workloads/stepped/stepped_host.hpp"

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
    return timer.nanoseconds();
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
    for (uint32_t step = 0; step < steps_.count; ++step) {
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
    launch(
        device_, shape_,
        [this](basic_grid_barrier<Algorithm, host_grid> barrier) {
          for (uint32_t step = 0; step < steps_.count; ++step) {
            steps_.step(host_grid::current(), step);
            barrier.sync();
          }
        },
        storage_.barrier());
  }

  host_barrier_storage<Algorithm> storage_;
};

class workload : public whole_workload {
 public:
  workload(host_steps steps, std::shared_ptr<run_data> data) : steps_(std::move(steps)), data_(std::move(data)) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all{
        {"launch-wait", "threads started and joined for each step", {"F1"}, true, true, false},
    };
    for (step_method& method : barrier_methods<grid::portable_algorithms>("barrier")) all.push_back(std::move(method));
    return all;
  }

  std::unique_ptr<whole_program> prepare(const step_method& method, const step_shape& shape) override {
    require_co_resident(host_device{}, {shape.blocks, shape.threads});
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
