// Workload "split phase" on CUDA devices.
#include <algorithm>
#include <cmath>
#include <map>

#include <gpusync/grid/proxy_barrier.cuh>

#include "boundary/cuda_launch.hpp"
#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/split_phase/split_phase.hpp"

namespace gpusync::tool {

namespace {

/// Data steps at the start and as many at the end of every run: those of runs without stores, which cancel in repeat
/// differences.
constexpr uint32_t edge = 32;
constexpr uint32_t unit = 64;

struct split_task {
  exchange data;
  uint32_t first;  ///< number of the first step, which goes into the words
  uint32_t steps;
  uint32_t workers;  ///< threads per block that work
  uint32_t links;    ///< of the chain of multiply-adds, a multiple of 8
  bool stores;
};

/// A chain of `links` multiply-adds, each of which needs the one before. The value stays between 1 and 3.
__device__ __forceinline__ float chain(float value, uint32_t links) {
  asm volatile("" : "+f"(value)::"memory");  // the chain stays between what stands around it
#pragma unroll 1
  for (uint32_t i = 0; i < links; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; ++j) value = __fmaf_rn(value, 0.5f, 1.0f);
  }
  asm volatile("" : "+f"(value)::"memory");
  return value;
}

/// All steps of a worker. `around(work)` arrives, works and waits.
template <bool Synchronized, class Around>
__device__ __forceinline__ void work_through(const split_task& task, Around&& around) {
  const cuda_grid grid;
  const uint32_t block = grid.block(), blocks = grid.blocks();
  const uint32_t next = (block + 1) % blocks, opposite = (block + blocks / 2) % blocks;
  float value = 1.0f + 1.0f / static_cast<float>(1 + grid.thread());
  uint32_t wrong = 0;
  for (uint32_t s = 0; s < task.steps; ++s) {
    const uint32_t step = task.first + s;
    const bool data = task.stores || s < edge || s + edge >= task.steps;
    if (data) task.data.write(grid, step);
    around([&] { value = chain(value, task.links); });
    if (data) {
      if constexpr (Synchronized) {
        wrong += task.data.check(grid, step, next) + task.data.check(grid, step, opposite);
      } else {
        wrong += task.data.check_past_l1(grid, step, next) + task.data.check_past_l1(grid, step, opposite);
      }
    }
  }
  if (value < 0.5f) wrong = 1;  // never: the chain must have a reader
  if (Synchronized || value < 0.5f) task.data.report(wrong);
  if (!Synchronized && wrong == ~0u) task.data.report(1);  // never: the loads must have one
}

__global__ void __launch_bounds__(1024, full_blocks<1024>) work_only(split_task task) {
  work_through<false>(task, [](auto&& work) { work(); });
}

template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>) work_within_phase(split_task task, Barrier barrier) {
  work_through<true>(task, [&barrier](auto&& work) {
    auto token = barrier.arrive();
    work();
    barrier.wait(static_cast<decltype(token)&&>(token));
  });
}

/// The block's last warp serves the barrier.
template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>) work_by_proxy(split_task task, Barrier barrier) {
  proxy_barrier<Barrier> proxy(barrier, task.workers);
  if (cuda_grid::current().thread() >= task.workers) {
    for (uint32_t s = 0; s < task.steps; ++s) proxy.serve();
    return;
  }
  work_through<true>(task, [&proxy](auto&& work) {
    proxy.arrive();
    work();
    proxy.wait();
  });
}

__global__ void __launch_bounds__(1024, full_blocks<1024>) chain_only(uint32_t links, float* sink) {
  const float value = chain(1.0f + 1.0f / static_cast<float>(1 + threadIdx.x), links);
  if (value < 0.5f) *sink = value;  // never
}

/// Links of the chain that take `microseconds` in blocks of this shape, by the difference of two lengths.
uint32_t calibrate(const cuda_target& where, const step_shape& shape, double microseconds) {
  const cuda_device_scope scope(where.device().ordinal());
  cuda_timer timer;
  const auto time = [&](uint32_t links) {
    double least = INFINITY;
    for (int i = 0; i < 4; ++i) {
      timer.start(where.stream());
      chain_only<<<shape.blocks, shape.threads, 0, where.stream()>>>(links, nullptr);
      check_cuda(cudaGetLastError(), "launch of chain_only");
      least = std::min(least, timer.stop(where.stream()));
    }
    return least;
  };
  constexpr uint32_t shorter = 1u << 16, longer = 1u << 20;
  const double per_link = (time(longer) - time(shorter)) / (longer - shorter);
  return static_cast<uint32_t>(std::max(0.0, std::round(microseconds * 1e3 / per_link / 8))) * 8;
}

/// What the runs of a program exchange, and its numbers.
class split_data : public run_data {
 public:
  split_data(const cuda_target& where, const step_shape& shape, uint32_t threads, uint32_t links, bool checks)
      : shape_(shape), links_(links), checks_(checks), memory_(where, exchange_arrays(shape.blocks, threads)) {}

  split_task task(uint32_t steps) const {
    return {exchange_in(memory_), next_step_, steps, shape_.threads, links_, shape_.stores};
  }

  void reset() override { memory_.reset(); }
  check_result check(uint64_t steps) override {
    const auto count = static_cast<uint32_t>(steps);
    next_step_ += count;
    if (!checks_) return {};
    const uint32_t data_steps = shape_.stores ? count : std::min(count, 2 * edge);
    return {uint64_t{2} * data_steps * shape_.blocks * shape_.threads, memory_.word<uint64_t>(1)};
  }
  std::string how() const override {
    if (!checks_) return "the work alone has nothing to check";
    return std::string(shape_.stores ? "every thread's word of every step"
                                     : "every thread's word of the first and last steps of each run") +
           ", read by two other blocks in the runs that were timed";
  }

 private:
  const step_shape shape_;
  const uint32_t links_;
  const bool checks_;
  cuda_arrays memory_;
  uint32_t next_step_ = 1;
};

/// One kernel for all steps of a run.
class split_program : public cuda_program {
 public:
  /// `barrier`: null for the work alone.
  split_program(const cuda_target& where, const launch_shape& shape, const void* kernel,
                std::unique_ptr<cuda_barrier> barrier, const std::shared_ptr<split_data>& data)
      : cuda_program(where, shape, data, {unit, false, unit, {}}),
        data_(*data),
        kernel_(kernel),
        barrier_(std::move(barrier)) {
    if (barrier_) require_co_resident(where.device(), kernel, shape);
  }

  void place_anew() override {
    if (barrier_) barrier_->place_anew();
  }

 private:
  void carry_out(uint32_t steps) override {
    split_task task = data_.task(steps);
    if (barrier_) return launch_with(where_, shape_, kernel_, {&task}, barrier_.get());
    void* arguments[] = {&task};
    start_kernel(where_.stream(), shape_, kernel_start::plain, kernel_, arguments);
  }

  const split_data& data_;
  const void* const kernel_;
  const std::unique_ptr<cuda_barrier> barrier_;
};

class cuda_split_workload : public workload {
 public:
  cuda_split_workload(const cuda_target& where, double microseconds) : where_(where), microseconds_(microseconds) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all{{work_alone, "the work alone", {}, method_kind::floor}};
    for (step_method& method : cuda_barrier_methods_in(kernels_)) {
      method.title = method.name + " with work between arrival and wait";
      method.items.clear();
      all.push_back(method);
      if (by_proxy_.find(method.name) == nullptr) continue;
      all.push_back(all.back());
      all.back().barrier = method.name;
      all.back().name += proxy_suffix;
      all.back().title += ", served by a warp of its own";
    }
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_shape(where_.device(), {shape.blocks, shape.threads});
    const auto known = links_.find({shape.blocks, shape.threads});
    const uint32_t links = known != links_.end() ? known->second : calibrate(where_, shape, microseconds_);
    links_[{shape.blocks, shape.threads}] = links;
    if (method.name == work_alone) {
      return std::make_unique<split_program>(where_, launch_shape{shape.blocks, shape.threads},
                                             reinterpret_cast<const void*>(&work_only), nullptr,
                                             std::make_shared<split_data>(where_, shape, shape.threads, links, false));
    }
    const std::string& name = barrier_name_of(method);
    const bool proxy = method.name == name + proxy_suffix;
    const void* const kernel = proxy ? by_proxy_.find(name) : kernels_.find(name);
    if (kernel == nullptr && proxy && kernels_.find(name) != nullptr) {
      throw invalid_argument("A warp alone cannot be the proxy at this barrier: its text is for whole blocks.");
    }
    if (kernel == nullptr) throw invalid_argument("There is no grid barrier " + name + " that orders data.");
    if (proxy) require_whole_warps(shape);
    const uint32_t threads = shape.threads + (proxy ? 32 : 0);
    return std::make_unique<split_program>(where_, launch_shape{shape.blocks, threads}, kernel,
                                           make_cuda_barrier(name, where_, shape.blocks, method.plan),
                                           std::make_shared<split_data>(where_, shape, threads, links, true));
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return gpusync::max_co_resident(where_.device(), reinterpret_cast<const void*>(&work_only), {1, threads}).blocks();
  }
  std::vector<uint32_t> default_blocks(bool) override { return {static_cast<uint32_t>(where_.device().sm_count())}; }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }

 private:
  const cuda_target& where_;
  const double microseconds_;
  const kernel_table kernels_ = kernels_with_barriers<grid::cuda_algorithms, barriers::that_order>(
      [](auto algorithm) { return &work_within_phase<barrier_with<decltype(algorithm)>>; });
  const kernel_table by_proxy_ = kernels_with_barriers<grid::cuda_algorithms, barriers::that_divide>(
      [](auto algorithm) { return &work_by_proxy<barrier_with<decltype(algorithm)>>; });
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> links_;  // by shape: all methods of one have the same
};

class cuda_split_phase : public split_phase_device {
 public:
  explicit cuda_split_phase(const device_description& description) : where_(description.index) {}

  std::unique_ptr<workload> with_work(double microseconds) override {
    return std::make_unique<cuda_split_workload>(where_, microseconds);
  }

 private:
  const cuda_target where_;
};

const register_side<split_phase_device> split_phase_registered(device_kind::cuda, make_side<cuda_split_phase>);

}  // namespace

}  // namespace gpusync::tool
