// Workload "launch barriers" on CUDA devices.
#include <gpusync/gpusync.cuh>

#include "boundary/cuda_graph.hpp"
#include "boundary/cuda_launch.hpp"
#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/launch_barriers/launch_barriers.hpp"

namespace gpusync::tool {

namespace {

/// What a launch is told. The count of launches is written by one thread, before the first barrier.
struct launch_task {
  exchange data;
  unsigned long long* launches;
  uint32_t barriers;
  uint32_t first;  ///< number of its first phase, which goes into the words: no launch must find those of another
};

/// Checks: in each phase every thread writes a word, and reads one of the next block behind the barrier.
template <class Barrier, bool Checks>
__global__ void __launch_bounds__(1024, full_blocks<1024>) some_barriers(launch_task task, Barrier barrier) {
  const cuda_grid grid;
  if (grid.block() == 0 && grid.thread() == 0) (void)atomicAdd(task.launches, 1ull);
  uint32_t wrong = 0;
  // Down, in a register: a limit that is a parameter would be loaded anew behind every barrier.
  for (uint32_t left = task.barriers; left != 0; --left) {
    if constexpr (Checks) task.data.write(grid, task.first + left);
    barrier.sync();
    if constexpr (Checks) wrong += task.data.check(grid, task.first + left, (grid.block() + 1) % grid.blocks());
  }
  if constexpr (Checks) task.data.report(wrong);
}

/// The same without a barrier: nothing but the launch.
__global__ void __launch_bounds__(1024, full_blocks<1024>) no_barriers(launch_task task) {
  const cuda_grid grid;
  if (grid.block() == 0 && grid.thread() == 0) (void)atomicAdd(task.launches, 1ull);
}

/// Launches of a graph, so many that what a replay costs besides is little for each. Runs are multiples of this,
/// streamed ones too.
constexpr uint32_t launches_at_once = 128;

/// What is to be found in memory when a run is over: all launches counted, no wrong word.
class launch_result : public run_data {
 public:
  launch_result(const step_shape& shape, uint32_t barriers, bool waits, std::shared_ptr<cuda_arrays> memory)
      : checked_(waits ? uint64_t{2} * barriers * elements_of(shape) : 0), waits_(waits), memory_(std::move(memory)) {}

  void reset() override { memory_->reset(); }
  check_result check(uint64_t steps) override {
    const uint64_t launches = steps + 2, found = memory_->word<uint64_t>(2);
    const uint64_t missing = found < launches ? launches - found : found - launches;
    return {checked_ + launches, memory_->word<uint64_t>(1) + missing};
  }
  std::string how() const override {
    return std::string("the count that every launch adds itself to in the runs that were timed") +
           (waits_ ? "; and in the first and the last launch of each run every thread's word of every phase, read by "
                     "another block"
                   : "");
  }

 private:
  const uint64_t checked_;
  const bool waits_;
  const std::shared_ptr<cuda_arrays> memory_;
};

/// The kernels of one method.
struct launch_kernels {
  const void* idle;
  const void* checking;
};

/// Launches as the steps of runs. A run's first and last launch check, and cancel in the difference of two runs.
class launches_program : public cuda_program {
 public:
  launches_program(const cuda_target& where, const launch_shape& shape, const launch_kernels& kernels, kernel_start how,
                   std::unique_ptr<cuda_barrier> barrier, uint32_t barriers, bool in_graph,
                   const std::shared_ptr<cuda_arrays>& memory, std::shared_ptr<run_data> data)
      : cuda_program(where, shape, std::move(data), {launches_at_once, false, 0, {}}),
        kernels_(kernels),
        how_(how),
        barrier_(std::move(barrier)),
        in_graph_(in_graph),
        memory_(memory),
        task_{exchange_in(*memory), memory->address<unsigned long long>(2), barriers, 0} {}

  void place_anew() override {
    if (!barrier_) return;
    graph_ = cuda_graph();  // its nodes hold the words' addresses
    is_made_ = false;
    barrier_->place_anew();
  }

 private:
  void start(const void* kernel) {
    if (barrier_) return barrier_->launch(where_, shape_, kernel, {&task_});
    void* arguments[] = {&task_};
    start_kernel(where_.stream(), shape_, how_, kernel, arguments);
  }

  /// A graph that is new is replayed once, which uploads it.
  void arrange(uint32_t) override {
    if (!in_graph_ || is_made_) return;
    graph_ = cuda_graph(where_.stream(), [this] {
      for (uint32_t i = 0; i < launches_at_once; ++i) start(kernels_.idle);
    });
    graph_.replay(where_.stream());
    check_cuda(cudaStreamSynchronize(where_.stream()), "a graph's first replay");
    is_made_ = true;
    start_again();
  }

  void start_checking() {
    task_.first += task_.barriers;
    start(kernels_.checking);
  }
  void carry_out(uint32_t launches) override {
    start_checking();
    if (in_graph_) {
      for (uint32_t i = 0; i < launches / launches_at_once; ++i) graph_.replay(where_.stream());
    } else {
      for (uint32_t i = 0; i < launches; ++i) start(kernels_.idle);
    }
    start_checking();
  }

  const launch_kernels kernels_;
  const kernel_start how_;
  const std::unique_ptr<cuda_barrier> barrier_;
  const bool in_graph_;
  const std::shared_ptr<cuda_arrays> memory_;
  launch_task task_;
  cuda_graph graph_;
  bool is_made_ = false;
};

template <bool Checks>
kernel_table kernels_of_all_barriers() {
  return kernels_with_barriers<few_barriers, barriers::that_order>(
      [](auto algorithm) { return &some_barriers<barrier_with<decltype(algorithm)>, Checks>; });
}

class cuda_launches : public workload {
 public:
  cuda_launches(const cuda_target& where, uint32_t barriers, bool in_graph)
      : where_(where), barriers_(barriers), in_graph_(in_graph) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all{
        {launch_floor, "a launch without a barrier", {}, method_kind::floor},
        {cooperative_launch_floor, "a cooperative launch without a barrier", {}, method_kind::floor, true, true}};
    for (step_method& method : cuda_barrier_methods_in(idle_)) all.push_back(std::move(method));
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    const launch_shape launched{shape.blocks, shape.threads};
    check_shape(where_.device(), launched);
    const bool waits = method.kind != method_kind::floor;
    const void* const alone = reinterpret_cast<const void*>(&no_barriers);
    const launch_kernels kernels{waits ? idle_.find(method.name) : alone, waits ? checking_.find(method.name) : alone};
    if (kernels.idle == nullptr) throw invalid_argument("There is no method " + method.name + " for launches.");
    if (method.needs_co_residency) {
      require_co_resident(where_.device(), kernels.idle, launched);
      require_co_resident(where_.device(), kernels.checking, launched);
    }
    const auto memory =
        std::make_shared<cuda_arrays>(where_, exchange_arrays(shape.blocks, shape.threads, {array_content::counts()}));
    return std::make_unique<launches_program>(
        where_, launched, kernels, method.needs_co_residency ? kernel_start::cooperative : kernel_start::plain,
        waits ? make_cuda_barrier(method.name, where_, shape.blocks, method.plan) : nullptr, barriers_, in_graph_,
        memory, std::make_shared<launch_result>(shape, barriers_, waits, memory));
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return gpusync::max_co_resident(where_.device(), reinterpret_cast<const void*>(&no_barriers), {1, threads})
        .blocks();
  }

 private:
  const cuda_target& where_;
  const uint32_t barriers_;
  const bool in_graph_;
  const kernel_table idle_ = kernels_of_all_barriers<false>(), checking_ = kernels_of_all_barriers<true>();
};

class cuda_launch_barriers : public launch_barriers_device {
 public:
  explicit cuda_launch_barriers(const device_description& description) : where_(description.index) {}

  std::unique_ptr<workload> launches(uint32_t barriers, bool in_graph) override {
    return std::make_unique<cuda_launches>(where_, barriers, in_graph);
  }

 private:
  const cuda_target where_;
};

const register_side<launch_barriers_device> launch_barriers_registered(device_kind::cuda,
                                                                       make_side<cuda_launch_barriers>);

}  // namespace

}  // namespace gpusync::tool
