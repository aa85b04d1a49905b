// Workload "average" on CUDA devices.
#include <gpusync/core/cuda_code.cuh>

#include "boundary/cuda_kernel_ends.cuh"
#include "boundary/cuda_target.cuh"
#include "measure/cuda_clock.cuh"
#include "workloads/average/average_kernels.cuh"
#include "workloads/average/average_result.hpp"
#include "workloads/barrier_methods.hpp"

namespace gpusync::tool {

namespace {

/// Memory, counting and timing; what differs is how the steps of a run are carried out.
class cuda_program : public step_program {
 public:
  cuda_program(const cuda_target& where, const step_shape& shape, bool synchronizes)
      : device_(where.device()),
        shape_(shape),
        stream_(where.stream()),
        result_(shape, synchronizes),
        values_(device_, 2 * size_t{result_.elements()} * sizeof(float)),
        wrong_(device_, sizeof(uint32_t)) {
    const std::vector<float> first = result_.first_values();
    check_cuda(cudaMemcpy(values_.address(), first.data(), values_.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    // The program's stream does not wait for the legacy stream, on which this copy may still be under way.
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  double run(uint64_t steps) override {
    const cuda_device_scope scope(device_.ordinal());
    check_cuda(cudaMemsetAsync(wrong_.address(), 0, wrong_.bytes(), stream_), "cudaMemsetAsync");
    const double elapsed = timed(static_cast<uint32_t>(steps), timer_);
    uint32_t wrong = 0;
    check_cuda(cudaMemcpy(&wrong, wrong_.address(), sizeof(wrong), cudaMemcpyDeviceToHost), "cudaMemcpy");
    result_.add_run(steps, wrong);
    return elapsed;
  }

  uint64_t steps_unit() const override { return average_period; }

  verification verify() override {
    const cuda_device_scope scope(device_.ordinal());
    std::vector<float> values(2 * size_t{result_.elements()});
    check_cuda(cudaMemcpy(values.data(), values_.address(), values_.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result_.verify(values);
  }

 protected:
  /// Queues all steps on the stream.
  virtual void carry_out(uint32_t steps) = 0;

  /// Device time, unless the method involves the host.
  virtual double timed(uint32_t steps, cuda_timer& timer) {
    timer.start(stream_);
    carry_out(steps);
    return timer.stop(stream_);
  }

  average_data data() const {
    return {static_cast<float*>(values_.address()), static_cast<uint32_t*>(wrong_.address())};
  }
  launch_shape shape() const { return {shape_.blocks, shape_.threads}; }

  const cuda_device& device_;
  const step_shape shape_;
  const cudaStream_t stream_;

 private:
  average_result result_;
  cuda_buffer values_;
  cuda_buffer wrong_;
  cuda_timer timer_;
};

/// The work alone.
class unsynchronized_program : public cuda_program {
 public:
  unsynchronized_program(const cuda_target& where, const step_shape& shape) : cuda_program(where, shape, false) {}

 private:
  void carry_out(uint32_t steps) override {
    average_unsynchronized<<<shape_.blocks, shape_.threads, 0, stream_>>>(data(), shape_.stores, steps);
    check_cuda(cudaGetLastError(), "launch of average_unsynchronized");
  }
};

/// A kernel for each step; the end of one is the boundary.
class relaunch_program : public cuda_program {
 public:
  relaunch_program(const cuda_target& where, const step_shape& shape, relaunch how)
      : cuda_program(where, shape, true), how_(how) {
    if (how == relaunch::cooperative) require_launchable(device_, average_single, this->shape());
  }

 private:
  double timed(uint32_t steps, cuda_timer& timer) override {
    return timed_steps(how_, timer, stream_, [&] { carry_out(steps); });
  }

  void carry_out(uint32_t steps) override {
    average_each_step(shape_.stores, steps, [this](uint32_t step, bool data_step, bool check) {
      if (data_step) {
        start_kernel(stream_, shape(), start_of(how_), average_single, data(), step, check);
      } else {
        start_kernel(stream_, shape(), start_of(how_), average_idle);
      }
      end_step(how_);
    });
  }

  const relaunch how_;
};

/// Steps as nodes of CUDA graphs, replayed.
class graph_program : public cuda_program {
 public:
  graph_program(const cuda_target& where, const step_shape& shape, kernel_start how)
      : cuda_program(where, shape, true), how_(how) {
    if (shape.stores) {
      body_ = capture(nodes, true, true);
    } else {
      head_ = capture(average_checked, true, true);
      rest_ = capture(nodes - 2 * average_checked, false, false);
      body_ = capture(nodes, false, false);
      tail_ = capture(average_checked, true, false);
    }
  }

  uint64_t steps_unit() const override { return nodes; }

 private:
  // Enough that a replay's own cost is under 1 % of its steps'.
  static constexpr uint32_t nodes = 256;
  static_assert(nodes % average_period == 0 && nodes > 2 * average_checked);

  /// `count` steps from the start of the cycle of inputs. `check_first`: what stands before is a data step or the
  /// filled buffer, so that the first step has something to check.
  cuda_graph capture(uint32_t count, bool data_steps, bool check_first) const {
    const bool dependent = how_ == kernel_start::dependent;
    return cuda_graph(stream_, [&] {
      for (uint32_t s = 0; s < count; ++s) {
        if (data_steps) {
          start_kernel(stream_, shape(), how_, dependent ? average_single_dependent : average_single, data(),
                       s % average_period, check_first || s != 0);
        } else {
          start_kernel(stream_, shape(), how_, dependent ? average_idle_dependent : average_idle);
        }
      }
    });
  }

  void carry_out(uint32_t steps) override {
    const uint32_t bodies = steps / nodes;
    if (shape_.stores) {
      for (uint32_t i = 0; i < bodies; ++i) body_.replay(stream_);
      return;
    }
    head_.replay(stream_);
    rest_.replay(stream_);
    for (uint32_t i = 1; i < bodies; ++i) body_.replay(stream_);
    tail_.replay(stream_);
  }

  const kernel_start how_;
  cuda_graph head_, rest_, body_, tail_;
};

/// One kernel for all steps, with a grid barrier between them.
template <class Algorithm>
class barrier_program : public cuda_program {
 public:
  barrier_program(const cuda_target& where, const step_shape& shape, const step_method& method)
      : cuda_program(where, shape, true),
        cluster_(method.cluster),
        storage_(where.device(), shape.blocks, tuning(where.device(), method.plan)) {
    require_launchable(device_, kernel, clustered());
  }

  static uint64_t max_blocks(const cuda_device& device, uint32_t threads) {
    return max_co_resident(device, kernel, {1, threads}).blocks();
  }

 private:
  static barrier_tuning tuning(const cuda_device& device, const std::optional<grid::counter_plan>& plan) {
    barrier_tuning rules = barrier_tuning::shipped_for(device.name());
    if (plan) {
      rules.rules.count = 1;
      rules.rules.rules[0] = {grid::counter_rules::any, grid::counter_rules::any, *plan};
    }
    return rules;
  }

  using barrier = basic_grid_barrier<Algorithm, cuda_grid>;
  static constexpr auto kernel = average_persistent<barrier>;

  void carry_out(uint32_t steps) override {
    launch(device_, stream_, clustered(), kernel, data(), shape_.stores, steps, storage_.barrier());
  }

  launch_shape clustered() const {
    launch_shape shape = this->shape();
    shape.cluster = cluster_;
    return shape;
  }

  const uint32_t cluster_;

  cuda_barrier_storage<Algorithm> storage_;
};

class cuda_average : public step_workload {
 public:
  explicit cuda_average(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all{
        {"no-barrier", "no barrier (the work alone)", {"F12"}, method_kind::floor, true, false},
        {"launch-wait", "kernel launch and host wait for each step", {"F1"}, method_kind::host_wait, true, false},
        {"relaunch", "stream relaunch", {"F1"}, method_kind::launch, true, false},
        {"cooperative-relaunch", "cooperative relaunch", {}, method_kind::launch, true, true},
        {"graph", "CUDA graph of kernels", {}, method_kind::graph, true, false},
    };
    // Where the code for this device is older, its kernels do not wait for the step before.
    if (code_for(where_.device()) >= 90) {
      all.push_back({"graph-pdl",
                     "CUDA graph of kernels with programmatic dependent launch",
                     {},
                     method_kind::graph,
                     true,
                     false});
    }
    for (step_method& method : barrier_methods<grid::cuda_algorithms>("grid barrier")) all.push_back(std::move(method));
    return all;
  }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    detail::check_shape(where_.device(), {shape.blocks, shape.threads});
    if (method.name == "no-barrier") return std::make_unique<unsynchronized_program>(where_, shape);
    if (method.name == "launch-wait") return by_relaunch(shape, relaunch::waited_for);
    if (method.name == "relaunch") return by_relaunch(shape, relaunch::queued);
    if (method.name == "cooperative-relaunch") return by_relaunch(shape, relaunch::cooperative);
    if (method.name == "graph") return std::make_unique<graph_program>(where_, shape, kernel_start::plain);
    if (method.name == "graph-pdl") return std::make_unique<graph_program>(where_, shape, kernel_start::dependent);
    auto program = with_algorithm<std::unique_ptr<step_program>, grid::cuda_algorithms>(method, [&](auto algorithm) {
      return std::make_unique<barrier_program<decltype(algorithm)>>(where_, shape, method);
    });
    if (!program) throw invalid_argument("There is no method " + method.name + " on CUDA devices.");
    return program;
  }

  uint64_t max_co_resident(uint32_t threads) override {
    uint64_t least = UINT64_MAX;
    grid::cuda_algorithms::for_each([&](auto algorithm) {
      least = std::min(least, barrier_program<decltype(algorithm)>::max_blocks(where_.device(), threads));
    });
    return least;
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    if (quick) return {sms};
    std::vector<uint32_t> blocks;
    for (const uint32_t count : {1u, sms / 4, sms / 2, sms, 2 * sms, 8 * sms}) {
      if (count > (blocks.empty() ? 0 : blocks.back())) blocks.push_back(count);
    }
    return blocks;
  }
  std::vector<uint32_t> default_threads(bool quick) override {
    if (quick) return {256};
    return {32, 256, 1024};
  }
  grid_facts facts() override {
    const grid::cuda_line_lease lease(where_.device(), 1);
    const grid::line_survey& survey = lease.stock().survey();
    return {static_cast<uint32_t>(where_.device().sm_count()),
            static_cast<uint32_t>(where_.device().properties().maxThreadsPerMultiProcessor), survey.has_partitions(),
            survey.near(), survey.far()};
  }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  std::unique_ptr<step_program> by_relaunch(const step_shape& shape, relaunch kind) {
    return std::make_unique<relaunch_program>(where_, shape, kind);
  }

  const cuda_target where_;
};

const register_workload registered("average", device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_average>(device);
});

}  // namespace

}  // namespace gpusync::tool
