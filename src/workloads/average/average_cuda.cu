// Workload "average" on CUDA devices.
#include <gpusync/core/cuda_code.cuh>

#include "measure/cuda_clock.cuh"
#include "measure/cuda_timer.cuh"
#include "measure/host_timer.hpp"
#include "workloads/average/average_kernels.cuh"
#include "workloads/average/average_result.hpp"
#include "workloads/barrier_methods.hpp"

namespace gpusync::tool {

namespace {

/// A stream that ends with its owner.
class stream_owner {
 public:
  explicit stream_owner(const cuda_device& device) {
    const cuda_device_scope scope(device.ordinal());
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~stream_owner() { (void)cudaStreamDestroy(stream_); }
  stream_owner(const stream_owner&) = delete;
  stream_owner& operator=(const stream_owner&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

/// Where programs run. All of them share one stream: with a stream each, graphs' empty steps were a third slower on
/// H200 (docs/measuring.md).
struct target {
  explicit target(int ordinal) : device(ordinal), stream(device) {}
  cuda_device device;
  stream_owner stream;
};

/// Memory, counting and timing; what differs is how the steps of a run are carried out.
class cuda_program : public step_program {
 public:
  cuda_program(const target& where, const step_shape& shape, bool synchronizes)
      : device_(where.device),
        shape_(shape),
        stream_(where.stream),
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
    const double elapsed = timed(static_cast<uint32_t>(steps));
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
  virtual double timed(uint32_t steps) {
    timer_.start(stream_);
    carry_out(steps);
    return timer_.stop(stream_);
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
  unsynchronized_program(const target& where, const step_shape& shape) : cuda_program(where, shape, false) {}

 private:
  void carry_out(uint32_t steps) override {
    average_unsynchronized<<<shape_.blocks, shape_.threads, 0, stream_>>>(data(), shape_.stores, steps);
    check_cuda(cudaGetLastError(), "launch of average_unsynchronized");
  }
};

/// A kernel for each step; the end of one is the boundary.
class relaunch_program : public cuda_program {
 public:
  enum class how { queued, waited_for, cooperative };

  relaunch_program(const target& where, const step_shape& shape, how kind)
      : cuda_program(where, shape, true), kind_(kind) {
    if (kind == how::cooperative) {
      const auto attributes = detail::attributes_of(reinterpret_cast<const void*>(average_single));
      require_co_resident(max_co_resident(device_, average_single, this->shape()), device_.name(), this->shape(),
                          detail::needs_of(attributes, this->shape()));
    }
  }

 private:
  double timed(uint32_t steps) override {
    if (kind_ != how::waited_for) return cuda_program::timed(steps);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const host_timer timer;
    carry_out(steps);
    return timer.nanoseconds();
  }

  void carry_out(uint32_t steps) override {
    average_each_step(shape_.stores, steps, [this](uint32_t step, bool data_step, bool check) {
      if (kind_ == how::cooperative) {
        launch_cooperatively(step, data_step, check);
      } else if (data_step) {
        average_single<<<shape_.blocks, shape_.threads, 0, stream_>>>(data(), step, check);
      } else {
        average_idle<<<shape_.blocks, shape_.threads, 0, stream_>>>();
      }
      check_cuda(cudaGetLastError(), "kernel launch");
      if (kind_ == how::waited_for) check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    });
  }

  void launch_cooperatively(uint32_t step, bool data_step, bool check) {
    average_data target = data();
    void* arguments[] = {&target, &step, &check};
    const void* kernel =
        data_step ? reinterpret_cast<const void*>(average_single) : reinterpret_cast<const void*>(average_idle);
    check_cuda(
        cudaLaunchCooperativeKernel(kernel, shape_.blocks, shape_.threads, data_step ? arguments : nullptr, 0, stream_),
        "cudaLaunchCooperativeKernel");
  }

  const how kind_;
};

/// Steps as nodes of CUDA graphs, replayed.
class graph_program : public cuda_program {
 public:
  graph_program(const target& where, const step_shape& shape, bool dependent_launch)
      : cuda_program(where, shape, true), dependent_launch_(dependent_launch) {
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

  struct destroy {
    void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
  };
  using executable = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, destroy>;

  void add_node(uint32_t step, bool data_step, bool check) {
    cudaLaunchConfig_t config{};
    config.gridDim = shape_.blocks;
    config.blockDim = shape_.threads;
    config.stream = stream_;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = dependent_launch_ ? 1 : 0;
    if (data_step) {
      const auto kernel = dependent_launch_ ? average_single_dependent : average_single;
      check_cuda(cudaLaunchKernelEx(&config, kernel, data(), step, check), "cudaLaunchKernelEx");
    } else {
      const auto kernel = dependent_launch_ ? average_idle_dependent : average_idle;
      check_cuda(cudaLaunchKernelEx(&config, kernel), "cudaLaunchKernelEx");
    }
  }

  /// `count` steps from the start of the cycle of inputs. `check_first`: what stands before is a data step or the
  /// filled buffer, so that the first step has something to check.
  executable capture(uint32_t count, bool data_steps, bool check_first) {
    check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
      for (uint32_t s = 0; s < count; ++s)
        add_node(s % average_period, data_steps, data_steps && (check_first || s != 0));
    } catch (const error&) {
      cudaGraph_t unfinished = nullptr;  // the stream serves the other programs too: it must not stay in capture
      (void)cudaStreamEndCapture(stream_, &unfinished);
      (void)cudaGetLastError();
      throw;
    }
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t instance = nullptr;
    const cudaError_t code = cudaGraphInstantiate(&instance, graph, 0);
    (void)cudaGraphDestroy(graph);
    check_cuda(code, "cudaGraphInstantiate");
    executable owner(instance);
    check_cuda(cudaGraphUpload(instance, stream_), "cudaGraphUpload");
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return owner;
  }

  void replay(const executable& graph) { check_cuda(cudaGraphLaunch(graph.get(), stream_), "cudaGraphLaunch"); }

  void carry_out(uint32_t steps) override {
    const uint32_t bodies = steps / nodes;
    if (shape_.stores) {
      for (uint32_t i = 0; i < bodies; ++i) replay(body_);
      return;
    }
    replay(head_);
    replay(rest_);
    for (uint32_t i = 1; i < bodies; ++i) replay(body_);
    replay(tail_);
  }

  const bool dependent_launch_;
  executable head_, rest_, body_, tail_;
};

/// One kernel for all steps, with a grid barrier between them.
template <class Algorithm>
class barrier_program : public cuda_program {
 public:
  barrier_program(const target& where, const step_shape& shape, const step_method& method)
      : cuda_program(where, shape, true),
        cluster_(method.cluster),
        storage_(where.device, shape.blocks, tuning(where.device, method.plan)) {
    detail::check_shape(device_, clustered());
    const auto attributes = detail::attributes_of(reinterpret_cast<const void*>(kernel));
    require_co_resident(max_co_resident(device_, kernel, clustered()), device_.name(), clustered(),
                        detail::needs_of(attributes, clustered()));
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
        {"no-barrier", "no barrier (the work alone)", {"F12"}, false, true, false},
        {"launch-wait", "kernel launch and host wait for each step", {"F1"}, true, true, false},
        {"relaunch", "stream relaunch", {"F1"}, true, true, false},
        {"cooperative-relaunch", "cooperative relaunch", {}, true, true, true},
        {"graph", "CUDA graph of kernels", {}, true, true, false},
    };
    // Where the code for this device is older, its kernels do not wait for the step before.
    if (code_for(where_.device) >= 90) {
      all.push_back({"graph-pdl", "CUDA graph of kernels with programmatic dependent launch", {}, true, true, false});
    }
    for (step_method& method : barrier_methods<grid::cuda_algorithms>("grid barrier")) all.push_back(std::move(method));
    return all;
  }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device.ordinal());
    detail::check_shape(where_.device, {shape.blocks, shape.threads});
    if (method.name == "no-barrier") return std::make_unique<unsynchronized_program>(where_, shape);
    if (method.name == "launch-wait") return relaunch(shape, relaunch_program::how::waited_for);
    if (method.name == "relaunch") return relaunch(shape, relaunch_program::how::queued);
    if (method.name == "cooperative-relaunch") return relaunch(shape, relaunch_program::how::cooperative);
    if (method.name == "graph") return std::make_unique<graph_program>(where_, shape, false);
    if (method.name == "graph-pdl") return std::make_unique<graph_program>(where_, shape, true);
    auto program = with_algorithm<std::unique_ptr<step_program>, grid::cuda_algorithms>(method, [&](auto algorithm) {
      return std::make_unique<barrier_program<decltype(algorithm)>>(where_, shape, method);
    });
    if (!program) throw invalid_argument("There is no method " + method.name + " on CUDA devices.");
    return program;
  }

  uint64_t max_co_resident(uint32_t threads) override {
    uint64_t least = UINT64_MAX;
    grid::cuda_algorithms::for_each([&](auto algorithm) {
      least = std::min(least, barrier_program<decltype(algorithm)>::max_blocks(where_.device, threads));
    });
    return least;
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto sms = static_cast<uint32_t>(where_.device.sm_count());
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
    const grid::cuda_line_lease lease(where_.device, 1);
    const grid::line_survey& survey = lease.stock().survey();
    return {static_cast<uint32_t>(where_.device.sm_count()),
            static_cast<uint32_t>(where_.device.properties().maxThreadsPerMultiProcessor), survey.has_sides(),
            survey.near(), survey.far()};
  }
  double clock_mhz() override { return measure_clock_mhz(where_.device); }

 private:
  std::unique_ptr<step_program> relaunch(const step_shape& shape, relaunch_program::how kind) {
    return std::make_unique<relaunch_program>(where_, shape, kind);
  }

  const target where_;
};

const register_workload registered("average", device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_average>(device);
});

}  // namespace

}  // namespace gpusync::tool
