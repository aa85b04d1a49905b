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

#include "measure/cuda_full_blocks.cuh"
#include "measure/cuda_timer.cuh"
#include "measure/host_timer.hpp"
#include "workloads/barrier_methods.hpp"
#include "workloads/device_part/cuda_part.cuh"
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

  /// Device time, unless the method involves the host.
  double compute() override {
    const cuda_device_scope scope(where_.device().ordinal());
    timer_.start(where_.stream());
    carry_out();
    return timer_.stop(where_.stream());
  }

  const cuda_target& where_;
  const launch_shape shape_;
  const Work work_;

 private:
  cuda_timer timer_;
};

/// A kernel for each step.
template <class Work>
class relaunch_program : public program<Work> {
 public:
  enum class how { queued, waited_for, cooperative };

  relaunch_program(const cuda_target& where, const step_shape& shape, const Work& work, std::shared_ptr<run_data> data,
                   how kind)
      : program<Work>(where, shape, work, std::move(data)), kind_(kind) {
    if (kind == how::cooperative) require_launchable(where.device(), stepped_single<Work>, this->shape_);
  }

 private:
  double compute() override {
    if (kind_ != how::waited_for) return program<Work>::compute();
    const cuda_device_scope scope(this->where_.device().ordinal());
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const host_timer timer;
    carry_out();
    return timer.nanoseconds();
  }

  void carry_out() override {
    const auto blocks = static_cast<unsigned>(this->shape_.blocks.count());
    const auto threads = static_cast<unsigned>(this->shape_.threads.count());
    Work work = this->work_;
    for (uint32_t step = 0; step < work.steps(); ++step) {
      if (kind_ == how::cooperative) {
        void* arguments[] = {&work, &step};
        check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(stepped_single<Work>), blocks, threads,
                                               arguments, 0, this->where_.stream()),
                   "cudaLaunchCooperativeKernel");
      } else {
        stepped_single<Work><<<blocks, threads, 0, this->where_.stream()>>>(work, step);
        check_cuda(cudaGetLastError(), "launch of a step");
      }
      if (kind_ == how::waited_for) check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
  }

  const how kind_;
};

/// Steps as nodes of CUDA graphs.
template <class Work>
class graph_program : public program<Work> {
 public:
  graph_program(const cuda_target& where, const step_shape& shape, const Work& work, std::shared_ptr<run_data> data,
                bool dependent_launch)
      : program<Work>(where, shape, work, std::move(data)), dependent_launch_(dependent_launch) {
    for (uint32_t first = 0; first < work.steps(); first += most_nodes) {
      graphs_.push_back(capture(first, std::min(work.steps(), first + most_nodes)));
    }
  }

 private:
  // A graph of all steps would do as well, but for the memory that instantiating it takes.
  static constexpr uint32_t most_nodes = 1u << 14;

  struct destroy {
    void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
  };
  using executable = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, destroy>;

  executable capture(uint32_t first, uint32_t end) {
    const cudaStream_t stream = this->where_.stream();
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      for (uint32_t step = first; step < end; ++step) add_node(step);
    } catch (const error&) {
      (void)cudaStreamEndCapture(stream, &graph);  // the stream serves the other programs too
      if (graph != nullptr) (void)cudaGraphDestroy(graph);
      (void)cudaGetLastError();
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t instance = nullptr;
    const cudaError_t code = cudaGraphInstantiate(&instance, graph, 0);
    (void)cudaGraphDestroy(graph);
    check_cuda(code, "cudaGraphInstantiate");
    executable owner(instance);
    check_cuda(cudaGraphUpload(instance, stream), "cudaGraphUpload");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return owner;
  }

  void add_node(uint32_t step) {
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(this->shape_.blocks.count());
    config.blockDim = static_cast<unsigned>(this->shape_.threads.count());
    config.stream = this->where_.stream();
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = dependent_launch_ ? 1 : 0;
    const auto kernel = dependent_launch_ ? stepped_dependent<Work> : stepped_single<Work>;
    check_cuda(cudaLaunchKernelEx(&config, kernel, this->work_, step), "cudaLaunchKernelEx");
  }

  void carry_out() override {
    for (const executable& graph : graphs_) {
      check_cuda(cudaGraphLaunch(graph.get(), this->where_.stream()), "cudaGraphLaunch");
    }
  }

  const bool dependent_launch_;
  std::vector<executable> graphs_;
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
      {"launch-wait", "kernel launch and host wait for each step", {"F1"}, true, true, false},
      {"relaunch", "stream relaunch", {"F1"}, true, true, false},
      {"cooperative-relaunch", "cooperative relaunch", {}, true, true, true},
      {"graph", "CUDA graph of kernels", {}, true, true, false},
  };
  // Where the code for this device is older, its kernels do not wait for the step before.
  if (code_for(device) >= 90) {
    all.push_back({"graph-pdl", "CUDA graph of kernels with programmatic dependent launch", {}, true, true, false});
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
  using relaunch = relaunch_program<Work>;
  const auto launched = [&](typename relaunch::how kind) {
    return std::make_unique<relaunch>(where, shape, work, data, kind);
  };
  if (method.name == no_barrier_method) return std::make_unique<no_barrier_program<Work>>(where, shape, work, data);
  if (method.name == "launch-wait") return launched(relaunch::how::waited_for);
  if (method.name == "relaunch") return launched(relaunch::how::queued);
  if (method.name == "cooperative-relaunch") return launched(relaunch::how::cooperative);
  if (method.name == "graph") return std::make_unique<graph_program<Work>>(where, shape, work, data, false);
  if (method.name == "graph-pdl") return std::make_unique<graph_program<Work>>(where, shape, work, data, true);
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
