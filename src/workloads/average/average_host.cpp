// Workload "average" on host threads.
#include <gpusync/gpusync.hpp>

#include "measure/host_timer.hpp"
#include "workloads/average/average_result.hpp"
#include "workloads/barrier_methods.hpp"

namespace gpusync::tool {

namespace {

/// Memory, counting and timing; what differs is how the steps of a run are carried out.
class host_program : public step_program {
 public:
  host_program(const step_shape& shape, bool synchronizes)
      : shape_(shape), result_(shape, synchronizes), values_(result_.first_values()) {}

  double run(uint64_t steps) override {
    const host_timer timer;
    carry_out(static_cast<uint32_t>(steps));
    const double elapsed = timer.nanoseconds();
    result_.add_run(steps, wrong_);
    wrong_ = 0;
    return elapsed;
  }
  uint64_t steps_unit() const override { return average_period; }
  verification verify() override { return result_.verify(values_); }

 protected:
  virtual void carry_out(uint32_t steps) = 0;

  average_data data() { return {values_.data(), &wrong_}; }
  launch_shape shape() const { return {shape_.blocks, shape_.threads}; }

  const host_device device_{};
  const step_shape shape_;

 private:
  average_result result_;
  std::vector<float> values_;
  uint32_t wrong_ = 0;
};

/// The work alone.
class unsynchronized_program : public host_program {
 public:
  explicit unsynchronized_program(const step_shape& shape) : host_program(shape, false) {}

 private:
  void carry_out(uint32_t steps) override {
    launch(device_, shape(),
           [this, steps] { average_steps(host_grid::current(), data(), false, shape_.stores, steps, [] {}); });
  }
};

/// Threads that start for each step and end with it: the host's counterpart of a kernel launch and a wait.
class launch_wait_program : public host_program {
 public:
  explicit launch_wait_program(const step_shape& shape) : host_program(shape, true) {}

 private:
  void carry_out(uint32_t steps) override {
    average_each_step(shape_.stores, steps, [this](uint32_t step, bool data_step, bool check) {
      launch(device_, shape(), [this, step, data_step, check] {
        if (!data_step) return;
        const uint32_t wrong = average_step(data(), average_place::of(host_grid::current(), true), step, check);
        if (wrong != 0) host_memory::fetch_add<memory_order::relaxed, scope::device>(data().wrong, wrong);
      });
    });
  }
};

/// Threads that stay, with a barrier of the library between steps.
template <class Algorithm>
class barrier_program : public host_program {
 public:
  explicit barrier_program(const step_shape& shape) : host_program(shape, true), storage_(shape.blocks) {}

 private:
  void carry_out(uint32_t steps) override {
    launch(
        device_, shape(),
        [this, steps](basic_grid_barrier<Algorithm, host_grid> barrier) {
          average_steps(host_grid::current(), data(), true, shape_.stores, steps, [&barrier] { barrier.sync(); });
        },
        storage_.barrier());
  }

  host_barrier_storage<Algorithm> storage_;
};

class host_average : public step_workload {
 public:
  std::vector<step_method> methods() const override {
    std::vector<step_method> all{
        {"no-barrier", "no barrier (the work alone)", {"F12"}, method_kind::floor, true, false},
        {"launch-wait", "threads started and joined for each step", {"F1"}, method_kind::host_wait, true, false},
    };
    for (step_method& method : barrier_methods<grid::portable_algorithms>("barrier")) all.push_back(std::move(method));
    return all;
  }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    require_co_resident(device_, {shape.blocks, shape.threads});
    if (method.name == "no-barrier") return std::make_unique<unsynchronized_program>(shape);
    if (method.name == "launch-wait") return std::make_unique<launch_wait_program>(shape);
    auto program = with_algorithm<std::unique_ptr<step_program>, grid::portable_algorithms>(
        method, [&](auto algorithm) { return std::make_unique<barrier_program<decltype(algorithm)>>(shape); });
    if (!program) throw invalid_argument("There is no method " + method.name + " on the host.");
    return program;
  }

  uint64_t max_co_resident(uint32_t threads) override { return device_.max_threads().threads / threads; }
  std::vector<uint32_t> default_blocks(bool quick) override {
    const uint32_t cores = device_.cores();
    if (quick || cores == 1) return {cores};
    std::vector<uint32_t> blocks{1};
    for (uint32_t b = 2; b < cores; b *= 2) blocks.push_back(b);
    blocks.push_back(cores);
    blocks.push_back(2 * cores);
    return blocks;
  }
  std::vector<uint32_t> default_threads(bool) override { return {1}; }

 private:
  const host_device device_{};
};

const register_workload registered("average", device_kind::host,
                                   [](const device_description&) { return std::make_unique<host_average>(); });

}  // namespace

}  // namespace gpusync::tool
