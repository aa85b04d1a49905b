// Workload "split phase" on CUDA devices.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <gpusync/grid/proxy_barrier.cuh>

#include "measure/cuda_clock.cuh"
#include "measure/cuda_full_blocks.cuh"
#include "measure/cuda_timer.cuh"
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

/// Memory, counting and timing; what differs is the kernel.
class split_program : public step_program {
 public:
  split_program(const cuda_target& where, const step_shape& shape, uint32_t links, uint32_t proxy, bool checks)
      : where_(where),
        shape_(shape),
        threads_(shape.threads + proxy),
        links_(links),
        checks_(checks),
        data_(where.device(), shape.blocks, threads_) {}

  uint64_t steps_unit() const override { return unit; }

  double run(uint64_t steps) override {
    const cuda_device_scope scope(where_.device().ordinal());
    const auto count = static_cast<uint32_t>(steps);
    timer_.start(where_.stream());
    start({data_.view(), next_step_, count, shape_.threads, links_, shape_.stores});
    const double elapsed = timer_.stop(where_.stream());
    next_step_ += count;
    checked_ += uint64_t{2} * (shape_.stores ? count : std::min(count, 2 * edge)) * shape_.blocks * shape_.threads;
    return elapsed;
  }

  verification verify() override {
    verification found;
    found.performed = checked_ > 0;
    if (!checks_) {
      found.how = "the work alone has nothing to check";
      return found;
    }
    found.checked = checked_;
    found.wrong = data_.wrong();
    found.how = std::string(shape_.stores ? "every thread's word of every step"
                                          : "every thread's word of the first and last steps of each run") +
                ", read by two other blocks in the runs that were timed";
    return found;
  }

 protected:
  virtual void start(const split_task& task) = 0;
  launch_shape launched() const { return {shape_.blocks, threads_}; }

  const cuda_target& where_;
  const step_shape shape_;

 private:
  const uint32_t threads_;
  const uint32_t links_;
  const bool checks_;
  exchange_memory data_;
  cuda_timer timer_;
  uint32_t next_step_ = 1;
  uint64_t checked_ = 0;
};

class work_program : public split_program {
 public:
  work_program(const cuda_target& where, const step_shape& shape, uint32_t links)
      : split_program(where, shape, links, 0, false) {}

 private:
  void start(const split_task& task) override {
    work_only<<<shape_.blocks, shape_.threads, 0, where_.stream()>>>(task);
    check_cuda(cudaGetLastError(), "launch of work_only");
  }
};

template <class Algorithm, bool Proxy>
class barrier_program : public split_program {
 public:
  barrier_program(const cuda_target& where, const step_shape& shape, uint32_t links)
      : split_program(where, shape, links, Proxy ? 32 : 0, true), storage_(where.device(), shape.blocks) {
    if (Proxy && shape.threads % 32 != 0) {
      throw invalid_argument("A proxy barrier needs whole warps of workers, not blocks of " +
                             std::to_string(shape.threads) + " threads.");
    }
    require_launchable(where.device(), kernel(), launched());
  }

 private:
  using barrier = basic_grid_barrier<Algorithm, cuda_grid>;

  static auto kernel() {
    if constexpr (Proxy) {
      return work_by_proxy<barrier>;
    } else {
      return work_within_phase<barrier>;
    }
  }
  void start(const split_task& task) override {
    launch(where_.device(), where_.stream(), launched(), kernel(), task, storage_.barrier());
  }

  cuda_barrier_storage<Algorithm> storage_;
};

class cuda_split_workload : public step_workload {
 public:
  cuda_split_workload(const cuda_target& where, double microseconds) : where_(where), microseconds_(microseconds) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all(1);
    all[0].name = work_alone;
    all[0].title = "the work alone";
    all[0].kind = method_kind::floor;
    grid::cuda_algorithms::for_each([&all](auto algorithm) {
      using algorithm_type = decltype(algorithm);
      if constexpr (orders_data(algorithm_type::order)) {
        step_method method;
        method.name = grid::name_of<algorithm_type>();
        method.title = method.name + " with work between arrival and wait";
        method.needs_co_residency = true;
        method.rival = std::is_same_v<algorithm_type, grid::cooperative_groups>;
        all.push_back(method);
        if (grid::is_whole_grid_only<algorithm_type>::value) return;
        method.name += proxy_suffix;
        method.title += ", served by a warp of its own";
        all.push_back(method);
      }
    });
    return all;
  }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    detail::check_shape(where_.device(), {shape.blocks, shape.threads});
    const auto known = links_.find({shape.blocks, shape.threads});
    const uint32_t links = known != links_.end() ? known->second : calibrate(where_, shape, microseconds_);
    links_[{shape.blocks, shape.threads}] = links;
    if (method.name == work_alone) return std::make_unique<work_program>(where_, shape, links);
    const size_t suffix = method.name.rfind(proxy_suffix);
    const bool proxy = suffix != std::string::npos && suffix + std::strlen(proxy_suffix) == method.name.size();
    using pointer = std::unique_ptr<step_program>;
    return with_ordered_barrier<pointer>(method.name.substr(0, suffix), [&](auto algorithm) -> pointer {
      using algorithm_type = decltype(algorithm);
      if (!proxy) return std::make_unique<barrier_program<algorithm_type, false>>(where_, shape, links);
      if constexpr (grid::is_whole_grid_only<algorithm_type>::value) {
        throw invalid_argument("A warp alone cannot be the proxy at this barrier: its text is for whole blocks.");
      } else {
        return std::make_unique<barrier_program<algorithm_type, true>>(where_, shape, links);
      }
    });
  }

  uint64_t max_co_resident(uint32_t threads) override {
    return gpusync::max_co_resident(where_.device(), work_only, {1, threads}).blocks();
  }
  std::vector<uint32_t> default_blocks(bool) override { return {static_cast<uint32_t>(where_.device().sm_count())}; }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target& where_;
  const double microseconds_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> links_;  // by shape: all methods of one have the same
};

class cuda_split_phase : public split_phase_device {
 public:
  explicit cuda_split_phase(const device_description& description) : where_(description.index) {}

  std::unique_ptr<step_workload> with_work(double microseconds) override {
    return std::make_unique<cuda_split_workload>(where_, microseconds);
  }

 private:
  const cuda_target where_;
};

const register_side<split_phase_device> registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_split_phase>(device);
});

}  // namespace

}  // namespace gpusync::tool
