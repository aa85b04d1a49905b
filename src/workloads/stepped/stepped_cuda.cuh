// Computations in steps on CUDA devices, under every way to pass from step to step.
//
// A computation is a trivially copyable class Work, an argument of its kernels:
//
//   kept                        a type: what a thread keeps from step to step while its kernel lives
//   most_threads, full_blocks   per block, and blocks of so many per multiprocessor, if it holds them: this limits a
//                               thread's registers
//   steps()                     how many there are
//   load(Grid, step)            returns what is kept, as it is before that step
//   step(Grid, step, kept&)     the calling thread's part of the step
//   save(Grid, const kept&)     leaves what is kept where load() finds it
//
// for a Grid that is a cuda_exchange_grid here, and host threads elsewhere.
//
// Where the end of a kernel is the boundary, every step is load, step, save: the same code as between the barriers of a
// persistent kernel, which loads and saves once.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpusync/core/cuda_code.cuh>

#include "boundary/cuda_kernel_ends.cuh"
#include "measure/cuda_full_blocks.cuh"
#include "measure/cuda_timer.cuh"
#include "measure/host_timer.hpp"
#include "workloads/barrier_methods.hpp"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/stepped/exchange_cuda.cuh"
#include "workloads/whole_program.hpp"

namespace gpusync::tool {

/// All steps in one kernel.
template <class Work, class Barrier>
__global__ void __launch_bounds__(Work::most_threads, full_blocks<Work::most_threads, Work::full_blocks>)
    stepped_persistent(Work work, Barrier barrier) {
  barrier.enter();
  const cuda_exchange_grid grid;
  typename Work::kept kept = work.load(grid, 0);
  const uint32_t steps = work.steps();
  for (uint32_t step = 0; step < steps; ++step) {
    work.step(grid, step, kept);
    barrier.sync();
  }
  work.save(grid, kept);
}

/// In the place of a barrier, and none.
struct waits_for_nothing {
  __device__ void enter() const {}
  __device__ void sync() const {}
};

template <class Work>
__device__ __forceinline__ void stepped_once(const Work& work, uint32_t step) {
  const cuda_exchange_grid grid;
  typename Work::kept kept = work.load(grid, step);
  work.step(grid, step, kept);
  work.save(grid, kept);
}

/// One step; the end of the kernel is the boundary.
template <class Work>
__global__ void __launch_bounds__(Work::most_threads, full_blocks<Work::most_threads, Work::full_blocks>)
    stepped_single(Work work, uint32_t step) {
  stepped_once(work, step);
}

/// The same with programmatic dependent launch: blocks are set up while the step before runs, and wait for its end.
template <class Work>
__global__ void __launch_bounds__(Work::most_threads, full_blocks<Work::most_threads, Work::full_blocks>)
    stepped_dependent(Work work, uint32_t step) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  stepped_once(work, step);
}

namespace stepped {

/// What the programs of one computation have in common.
template <class Work>
class program : public checked_program {
 public:
  program(const cuda_target& where, const step_shape& shape, const Work& work, std::shared_ptr<run_data> data)
      : checked_program(std::move(data)), where_(where), shape_{shape.blocks, shape.threads}, work_(work) {}

 protected:
  /// Queues all steps on the stream.
  virtual void carry_out() = 0;

  /// Nanoseconds of carry_out(): device time, unless the method involves the host.
  virtual double timed(cuda_timer& timer) {
    timer.start(where_.stream());
    carry_out();
    return timer.stop(where_.stream());
  }

  const cuda_target& where_;
  const launch_shape shape_;
  const Work work_;

 private:
  double compute() override {
    const cuda_device_scope scope(where_.device().ordinal());
    return timed(timer_);
  }

  cuda_timer timer_;
};

/// A kernel for each step.
template <class Work>
class relaunch_program : public program<Work> {
 public:
  relaunch_program(const cuda_target& where, const step_shape& shape, const Work& work, std::shared_ptr<run_data> data,
                   relaunch how)
      : program<Work>(where, shape, work, std::move(data)), how_(how) {
    if (how == relaunch::cooperative) require_launchable(where.device(), stepped_single<Work>, this->shape_);
  }

 private:
  double timed(cuda_timer& timer) override {
    return timed_steps(how_, timer, this->where_.stream(), [this] { carry_out(); });
  }

  void carry_out() override {
    for (uint32_t step = 0; step < this->work_.steps(); ++step) {
      start_kernel(this->where_.stream(), this->shape_, start_of(how_), stepped_single<Work>, this->work_, step);
      end_step(how_);
    }
  }

  const relaunch how_;
};

/// Steps as nodes of CUDA graphs.
template <class Work>
class graph_program : public program<Work> {
 public:
  graph_program(const cuda_target& where, const step_shape& shape, const Work& work, std::shared_ptr<run_data> data,
                kernel_start how)
      : program<Work>(where, shape, work, std::move(data)) {
    const auto kernel = how == kernel_start::dependent ? stepped_dependent<Work> : stepped_single<Work>;
    for (uint32_t first = 0; first < work.steps(); first += most_nodes) {
      graphs_.emplace_back(where.stream(), [&] {
        const uint32_t end = std::min(work.steps(), first + most_nodes);
        for (uint32_t step = first; step < end; ++step) {
          start_kernel(where.stream(), this->shape_, how, kernel, this->work_, step);
        }
      });
    }
  }

 private:
  // A graph of all steps would do as well, but for the memory that instantiating it takes.
  static constexpr uint32_t most_nodes = 1u << 14;

  void carry_out() override {
    for (const cuda_graph& graph : graphs_) graph.replay(this->where_.stream());
  }

  std::vector<cuda_graph> graphs_;
};

/// One kernel for all steps, with a grid barrier between them.
template <class Work, class Algorithm>
class barrier_program : public program<Work> {
 public:
  barrier_program(const cuda_target& where, const step_shape& shape, const Work& work, std::shared_ptr<run_data> data,
                  uint32_t cluster)
      : program<Work>(where, shape, work, std::move(data)), cluster_(cluster), storage_(where.device(), shape.blocks) {
    require_launchable(where.device(), kernel, clustered());
  }

  static uint64_t max_blocks(const cuda_device& device, uint32_t threads) {
    return gpusync::max_co_resident(device, kernel, {1, threads}).blocks();
  }

 private:
  static constexpr auto kernel = stepped_persistent<Work, basic_grid_barrier<Algorithm, cuda_grid>>;

  launch_shape clustered() const {
    launch_shape shape = this->shape_;
    shape.cluster = cluster_;
    return shape;
  }

  void carry_out() override {
    launch(this->where_.device(), this->where_.stream(), clustered(), kernel, this->work_, storage_.barrier());
  }

  const uint32_t cluster_;
  cuda_barrier_storage<Algorithm> storage_;
};

/// One kernel for all steps that waits for nothing between them.
template <class Work>
class no_barrier_program : public program<Work> {
 public:
  using program<Work>::program;

 private:
  void carry_out() override {
    stepped_persistent<<<static_cast<unsigned>(this->shape_.blocks.count()),
                         static_cast<unsigned>(this->shape_.threads.count()), 0, this->where_.stream()>>>(
        this->work_, waits_for_nothing{});
    check_cuda(cudaGetLastError(), "launch of all steps");
  }
};

/// Every method that a computation has on a CUDA device, with the barriers of a list.
template <class Barriers>
std::vector<step_method> methods(const cuda_device& device) {
  std::vector<step_method> all{
      {"launch-wait", "kernel launch and host wait for each step", {"F1"}, method_kind::host_wait, true, false},
      {"relaunch", "stream relaunch", {"F1"}, method_kind::launch, true, false},
      {"cooperative-relaunch", "cooperative relaunch", {}, method_kind::launch, true, true},
      {"graph", "CUDA graph of kernels", {}, method_kind::graph, true, false},
  };
  // Where the code for this device is older, its kernels do not wait for the step before.
  if (code_for(device) >= 90) {
    all.push_back(
        {"graph-pdl", "CUDA graph of kernels with programmatic dependent launch", {}, method_kind::graph, true, false});
  }
  for (step_method& method : barrier_methods<Barriers>("grid barrier")) all.push_back(std::move(method));
  return all;
}

/// The program of one of these methods; see whole_workload::prepare().
template <class Barriers, class Work>
std::unique_ptr<whole_program> prepare(const cuda_target& where, const step_method& method, const step_shape& shape,
                                       const Work& work, const std::shared_ptr<run_data>& data) {
  static_assert(std::is_trivially_copyable_v<Work>, "an argument of kernels");
  const cuda_device_scope scope(where.device().ordinal());
  detail::check_shape(where.device(), {shape.blocks, shape.threads});
  const auto launched = [&](relaunch how) {
    return std::make_unique<relaunch_program<Work>>(where, shape, work, data, how);
  };
  const auto in_graphs = [&](kernel_start how) {
    return std::make_unique<graph_program<Work>>(where, shape, work, data, how);
  };
  if (method.name == no_barrier_method) return std::make_unique<no_barrier_program<Work>>(where, shape, work, data);
  if (method.name == "launch-wait") return launched(relaunch::waited_for);
  if (method.name == "relaunch") return launched(relaunch::queued);
  if (method.name == "cooperative-relaunch") return launched(relaunch::cooperative);
  if (method.name == "graph") return in_graphs(kernel_start::plain);
  if (method.name == "graph-pdl") return in_graphs(kernel_start::dependent);
  auto program = with_algorithm<std::unique_ptr<whole_program>, Barriers>(method, [&](auto algorithm) {
    return std::make_unique<barrier_program<Work, decltype(algorithm)>>(where, shape, work, data, method.cluster);
  });
  if (!program) throw invalid_argument("There is no method " + method.name + " on CUDA devices.");
  return program;
}

/// See whole_workload::max_co_resident().
template <class Barriers, class Work>
uint64_t max_co_resident(const cuda_device& device, const std::vector<step_method>& methods, uint32_t threads) {
  uint64_t least = UINT64_MAX;
  for (const step_method& method : methods) {
    if (method.name == "cooperative-relaunch") {
      least = std::min(least, gpusync::max_co_resident(device, stepped_single<Work>, {1, threads}).blocks());
    }
    Barriers::for_each([&](auto algorithm) {
      // Of methods for clusters too, which stand for several names.
      if (method.name.compare(0, grid::name_of<decltype(algorithm)>().size(), grid::name_of<decltype(algorithm)>()) ==
          0) {
        least = std::min(least, barrier_program<Work, decltype(algorithm)>::max_blocks(device, threads));
      }
    });
  }
  return least;
}

/// Barriers that computations in registers are compiled with: our default, our simplest, NVIDIA's.
using few_barriers = grid::algorithm_list<grid::cooperative_groups, grid::lock_based<ordering::acquire_release>,
                                          grid::placed_counters<ordering::acquire_release>>;

}  // namespace stepped

}  // namespace gpusync::tool
