// Workload "oversubscription" on CUDA devices.
#include "boundary/cuda_kernel_ends.cuh"
#include "measure/cuda_clock.cuh"
#include "measure/cuda_timer.cuh"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/oversubscription/relay_result.hpp"

namespace gpusync::tool {

namespace {

/// All phases of a run in one kernel.
template <class PhasedGrid>
__global__ void relay_phased(PhasedGrid grid, relay_data data, uint32_t first, uint32_t phases) {
  relay_phases(cuda_grid::current(), grid, data, first, phases);
}

/// One phase; the end of the kernel is its end.
__global__ void relay_single(relay_data data, uint32_t phase) {
  const cuda_grid grid;
  const uint32_t wrong = relay_step(data, grid.block(), grid.threads(), grid.thread(), phase);
  if (wrong != 0) (void)cuda_memory::fetch_add<memory_order::relaxed, scope::device>(data.wrong, wrong);
}

/// Memory, counting and timing; what differs is how the phases of a run are carried out.
class cuda_relay : public step_program {
 public:
  cuda_relay(const cuda_target& where, const step_shape& shape)
      : where_(where),
        shape_(shape),
        result_(shape),
        words_(where.device(), 2 * size_t{result_.elements()} * sizeof(uint32_t)),
        wrong_(where.device(), sizeof(uint32_t)) {
    const std::vector<uint32_t> first = result_.first_words();
    check_cuda(cudaMemcpy(words_.address(), first.data(), words_.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    // The programs' stream does not wait for the legacy stream, on which this copy may still be under way.
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  double run(uint64_t phases) override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemsetAsync(wrong_.address(), 0, wrong_.bytes(), where_.stream()), "cudaMemsetAsync");
    timer_.start(where_.stream());
    carry_out(result_.next_phase(), static_cast<uint32_t>(phases));
    const double elapsed = timer_.stop(where_.stream());
    uint32_t wrong = 0;
    check_cuda(cudaMemcpy(&wrong, wrong_.address(), sizeof(wrong), cudaMemcpyDeviceToHost), "cudaMemcpy");
    result_.add_run(phases, wrong);
    return elapsed;
  }

  uint64_t steps_unit() const override { return 2; }

  verification verify() override {
    const cuda_device_scope scope(where_.device().ordinal());
    std::vector<uint32_t> words(2 * size_t{result_.elements()});
    check_cuda(cudaMemcpy(words.data(), words_.address(), words_.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result_.verify(words);
  }

 protected:
  /// Queues the phases on the stream.
  virtual void carry_out(uint32_t first, uint32_t phases) = 0;

  relay_data data() const {
    return {static_cast<uint32_t*>(words_.address()), static_cast<uint32_t*>(wrong_.address()), shape_.blocks};
  }

  const cuda_target& where_;
  const step_shape shape_;

 private:
  relay_result result_;
  cuda_buffer words_;
  cuda_buffer wrong_;
  cuda_timer timer_;
};

/// A grid of all blocks for each phase.
class relaunch_program : public cuda_relay {
 public:
  using cuda_relay::cuda_relay;

 protected:
  void start(uint32_t phase) {
    start_kernel(where_.stream(), {shape_.blocks, shape_.threads}, kernel_start::plain, relay_single, data(), phase);
  }

 private:
  void carry_out(uint32_t first, uint32_t phases) override {
    for (uint32_t phase = first; phase < first + phases; ++phase) start(phase);
  }
};

/// The same as nodes of a CUDA graph, replayed.
class graph_program : public relaunch_program {
 public:
  graph_program(const cuda_target& where, const step_shape& shape)
      : relaunch_program(where, shape), replayed_(where.stream(), [&] {
          for (uint32_t phase = 0; phase < nodes; ++phase) start(phase);
        }) {}

  uint64_t steps_unit() const override { return nodes; }

 private:
  // Whole cycles, so that every replay leaves the same words.
  static constexpr uint32_t nodes = 4 * relay_period;

  void carry_out(uint32_t, uint32_t phases) override {
    for (uint32_t done = 0; done < phases; done += nodes) replayed_.replay(where_.stream());
  }

  const cuda_graph replayed_;
};

/// One kernel for all phases.
template <class Schedule>
class phased_program : public cuda_relay {
 public:
  phased_program(const cuda_target& where, const step_shape& shape)
      : cuda_relay(where, shape), storage_(where.device(), shape.blocks) {}

  static uint32_t resident(const cuda_device& device, uint32_t threads) {
    return resident_blocks(device, kernel, {UINT32_MAX, threads});
  }

 private:
  static constexpr auto kernel = relay_phased<typename cuda_phased_storage<Schedule>::grid_type>;

  void carry_out(uint32_t first, uint32_t phases) override {
    launch_phased(where_.device(), where_.stream(), {shape_.blocks, shape_.threads}, kernel, storage_, data(), first,
                  phases);
  }

  cuda_phased_storage<Schedule> storage_;
};

class cuda_oversubscription : public step_workload {
 public:
  explicit cuda_oversubscription(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all = relay_methods();
    all.insert(all.begin() + 1, {"graph", "CUDA graph of kernels, one for each phase", {}, method_kind::graph});
    return all;
  }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    detail::check_shape(where_.device(), {shape.blocks, shape.threads});
    if (method.name == "relaunch") return std::make_unique<relaunch_program>(where_, shape);
    if (method.name == "graph") return std::make_unique<graph_program>(where_, shape);
    if (method.name == "phased-striding") return std::make_unique<phased_program<phased::striding>>(where_, shape);
    if (method.name == "phased-claiming") return std::make_unique<phased_program<phased::claiming>>(where_, shape);
    if (method.name == "phased-flag-claiming") {
      return std::make_unique<phased_program<phased::flag_claiming>>(where_, shape);
    }
    throw invalid_argument("There is no method " + method.name + " on CUDA devices.");
  }

  /// Under every schedule.
  uint64_t max_co_resident(uint32_t threads) override {
    const cuda_device_scope scope(where_.device().ordinal());
    detail::check_shape(where_.device(), {1, threads});
    return std::min({phased_program<phased::striding>::resident(where_.device(), threads),
                     phased_program<phased::claiming>::resident(where_.device(), threads),
                     phased_program<phased::flag_claiming>::resident(where_.device(), threads)});
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    return {static_cast<uint32_t>(max_co_resident(default_threads(quick).front()))};
  }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target where_;
};

const register_workload registered("oversubscription", device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_oversubscription>(device);
});

}  // namespace

}  // namespace gpusync::tool
