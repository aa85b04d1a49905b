// Workload "stencil" on CUDA devices.
#include <algorithm>

#include <gpusync/core/cuda_code.cuh>

#include "boundary/cuda_kernel_ends.cuh"
#include "measure/cuda_clock.cuh"
#include "measure/cuda_full_blocks.cuh"
#include "measure/cuda_timer.cuh"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

namespace {

/// One step of a rod: points are dealt out to threads.
__device__ __forceinline__ void relax_rod(const cuda_grid& grid, const float* from, float* to, uint32_t points) {
  const uint32_t first = 1 + grid.block() * grid.threads() + grid.thread();
  for (uint32_t i = first; i + 1 < points; i += grid.blocks() * grid.threads()) {
    to[i] = __fmul_rn(__fadd_rn(from[i - 1], from[i + 1]), 0.5f);
  }
}

/// One step of a plate: rows are dealt out to blocks, columns to threads.
__device__ __forceinline__ void relax_plate(const cuda_grid& grid, const float* from, float* to,
                                            const stencil_size& size) {
  for (uint32_t row = 1 + grid.block(); row + 1 < size.rows; row += grid.blocks()) {
    const float* here = from + size_t{row} * size.columns;
    for (uint32_t column = 1 + grid.thread(); column + 1 < size.columns; column += grid.threads()) {
      const float* point = here + column;
      const float upright = __fadd_rn(*(point - size.columns), point[size.columns]);
      const float across = __fadd_rn(*(point - 1), point[1]);
      to[size_t{row} * size.columns + column] = __fmul_rn(__fadd_rn(upright, across), 0.25f);
    }
  }
}

__device__ __forceinline__ void relax(const cuda_grid& grid, const float* from, float* to, const stencil_size& size) {
  if (size.is_rod()) {
    relax_rod(grid, from, to, size.columns);
  } else {
    relax_plate(grid, from, to, size);
  }
}

/// All steps in one kernel.
template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    relax_persistent(float* from, float* to, stencil_size size, Barrier barrier) {
  const cuda_grid grid;
  for (uint32_t step = 0; step < stencil_steps; ++step) {
    relax(grid, from, to, size);
    barrier.sync();
    float* const old = from;
    from = to;
    to = old;
  }
}

/// One step; the end of the kernel is the boundary.
__global__ void __launch_bounds__(1024, full_blocks<1024>) relax_once(const float* from, float* to, stencil_size size) {
  relax(cuda_grid::current(), from, to, size);
}

/// The same with programmatic dependent launch: blocks are set up while the step before runs, and wait for it.
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    relax_once_dependent(const float* from, float* to, stencil_size size) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  relax(cuda_grid::current(), from, to, size);
}

/// Counts points that differ in any bit.
__global__ void compare(const float* found, const float* expected, size_t points, unsigned long long* wrong) {
  unsigned long long mine = 0;
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < points; i += stride) {
    mine += __float_as_uint(found[i]) == __float_as_uint(expected[i]) ? 0 : 1;
  }
  if (mine != 0) (void)atomicAdd(wrong, mine);
}

/// A plate's first and last state on the device, for all programs.
struct plate {
  plate(const cuda_device& device, const stencil_size& extent)
      : size(extent), bytes(size.points() * sizeof(float)), start(device, bytes), reference(device, bytes) {
    const cuda_device_scope scope(device.ordinal());
    check_cuda(cudaMemcpy(start.address(), stencil_start(size).data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    check_cuda(cudaMemcpy(reference.address(), stencil_reference(size).data(), bytes, cudaMemcpyHostToDevice),
               "cudaMemcpy");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  stencil_size size;
  size_t bytes;
  cuda_buffer start, reference;
};

/// Memory, timing and comparison; what differs is how the steps are carried out.
class stencil_program : public step_program {
 public:
  stencil_program(const cuda_target& where, const plate& on, const step_shape& shape)
      : where_(where),
        plate_(on),
        shape_(shape),
        a_(where.device(), on.bytes),
        b_(where.device(), on.bytes),
        wrong_(where.device(), sizeof(unsigned long long)) {}

  uint64_t steps_unit() const override { return stencil_steps; }

  double run(uint64_t steps) override {
    const cuda_device_scope scope(where_.device().ordinal());
    double elapsed = 0;
    for (uint64_t done = 0; done < steps; done += stencil_steps) elapsed += relax_from_start();
    return elapsed;
  }

  verification verify() override {
    const cuda_device_scope scope(where_.device().ordinal());
    unsigned long long wrong = 0;
    check_cuda(cudaMemcpy(&wrong, wrong_.address(), sizeof(wrong), cudaMemcpyDeviceToHost), "cudaMemcpy");
    verification found;
    found.performed = relaxations_ > 0;
    found.checked = relaxations_ * plate_.size.points();
    found.wrong = wrong;
    found.how = "every point after each of the " + std::to_string(relaxations_) + " timed relaxations of " +
                std::to_string(stencil_steps) + " steps, bit for bit as the host computed it";
    return found;
  }

 protected:
  /// Queues the steps of one relaxation, from buffer a to b and back.
  virtual void carry_out() = 0;

  float* a() const { return static_cast<float*>(a_.address()); }
  float* b() const { return static_cast<float*>(b_.address()); }
  launch_shape launched() const { return {shape_.blocks, shape_.threads}; }

  const cuda_target& where_;
  const plate& plate_;
  const step_shape shape_;

 private:
  /// One relaxation, and its nanoseconds.
  double relax_from_start() {
    const cudaStream_t stream = where_.stream();
    for (const cuda_buffer* buffer : {&a_, &b_}) {
      check_cuda(
          cudaMemcpyAsync(buffer->address(), plate_.start.address(), plate_.bytes, cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync");
    }
    timer_.start(stream);
    carry_out();
    const double elapsed = timer_.stop(stream);
    compare<<<static_cast<unsigned>(4 * where_.device().sm_count()), 256, 0, stream>>>(
        a(), static_cast<const float*>(plate_.reference.address()), plate_.size.points(),
        static_cast<unsigned long long*>(wrong_.address()));
    check_cuda(cudaGetLastError(), "launch of compare");
    check_cuda(cudaStreamSynchronize(stream), "compare");
    relaxations_ += 1;
    return elapsed;
  }

  cuda_buffer a_, b_;
  cuda_buffer wrong_;
  cuda_timer timer_;
  uint64_t relaxations_ = 0;
};

/// A kernel for each step.
class relaunch_program : public stencil_program {
 public:
  using stencil_program::stencil_program;

 protected:
  void start(uint32_t step, kernel_start how) {
    const float* const from = step % 2 == 0 ? a() : b();
    float* const to = step % 2 == 0 ? b() : a();
    start_kernel(where_.stream(), launched(), how, how == kernel_start::dependent ? relax_once_dependent : relax_once,
                 from, to, plate_.size);
  }

 private:
  void carry_out() override {
    for (uint32_t step = 0; step < stencil_steps; ++step) start(step, kernel_start::plain);
  }
};

/// Steps as nodes of a CUDA graph, replayed.
class graph_program : public relaunch_program {
 public:
  graph_program(const cuda_target& where, const plate& on, const step_shape& shape, kernel_start how)
      : relaunch_program(where, on, shape), replayed_(where.stream(), [&] {
          for (uint32_t step = 0; step < nodes; ++step) start(step, how);
        }) {}

 private:
  // Enough that a replay's own cost is under 1 % of its steps'; even, so that each replay begins in buffer a.
  static constexpr uint32_t nodes = 500;
  static_assert(stencil_steps % nodes == 0 && nodes % 2 == 0);

  void carry_out() override {
    for (uint32_t step = 0; step < stencil_steps; step += nodes) replayed_.replay(where_.stream());
  }

  const cuda_graph replayed_;
};

/// One kernel for all steps.
template <class Algorithm>
class barrier_program : public stencil_program {
 public:
  barrier_program(const cuda_target& where, const plate& on, const step_shape& shape)
      : stencil_program(where, on, shape), storage_(where.device(), shape.blocks) {
    require_launchable(where.device(), kernel, launched());
  }

 private:
  static constexpr auto kernel = relax_persistent<basic_grid_barrier<Algorithm, cuda_grid>>;

  void carry_out() override {
    launch(where_.device(), where_.stream(), launched(), kernel, a(), b(), plate_.size, storage_.barrier());
  }

  cuda_barrier_storage<Algorithm> storage_;
};

class cuda_stencil_workload : public step_workload {
 public:
  cuda_stencil_workload(const cuda_target& where, const stencil_size& size)
      : where_(where), plate_(where.device(), size) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all;
    const auto add = [&all](const std::string& name, const std::string& title, method_kind kind) {
      step_method method;
      method.name = name;
      method.title = title;
      method.kind = kind;
      all.push_back(method);
    };
    add("relaunch", "stream relaunch", method_kind::launch);
    add("graph", "CUDA graph of kernels", method_kind::graph);
    // Where the code for this device is older, its kernels do not wait for the step before.
    if (code_for(where_.device()) >= 90) {
      add("graph-pdl", "CUDA graph of kernels with programmatic dependent launch", method_kind::graph);
    }
    for (const step_method& method : ordered_barriers()) all.push_back(method);
    return all;
  }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    detail::check_shape(where_.device(), {shape.blocks, shape.threads});
    if (method.name == "relaunch") return std::make_unique<relaunch_program>(where_, plate_, shape);
    if (method.name == "graph") return std::make_unique<graph_program>(where_, plate_, shape, kernel_start::plain);
    if (method.name == "graph-pdl")
      return std::make_unique<graph_program>(where_, plate_, shape, kernel_start::dependent);
    return with_ordered_barrier<std::unique_ptr<step_program>>(method.name, [&](auto algorithm) {
      return std::make_unique<barrier_program<decltype(algorithm)>>(where_, plate_, shape);
    });
  }

  uint64_t max_co_resident(uint32_t threads) override {
    return gpusync::max_co_resident(where_.device(), relax_once, {1, threads}).blocks();
  }
  std::vector<uint32_t> default_blocks(bool) override { return {static_cast<uint32_t>(where_.device().sm_count())}; }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target& where_;
  const plate plate_;
};

class cuda_stencil : public stencil_device {
 public:
  explicit cuda_stencil(const device_description& description) : where_(description.index) {}

  std::unique_ptr<step_workload> on_plate(const stencil_size& size) override {
    return std::make_unique<cuda_stencil_workload>(where_, size);
  }

 private:
  const cuda_target where_;
};

const register_side<stencil_device> registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_stencil>(device);
});

}  // namespace

}  // namespace gpusync::tool
