// Workload "task-graph" on CUDA devices.
#include <gpusync/neighbours/dependency_counters.cuh>

#include "boundary/cuda_text.cuh"
#include "boundary/cuda_waiting.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/task_graph/task_graph.hpp"

namespace gpusync::tool {

namespace {

template <task_counters What>
__global__ void __launch_bounds__(task_graph_text::most_threads)
    run_task_graph(task_graph_text text, uint32_t levels, dependency_counters counters) {
  text.run_all<What>(cuda_exchange_grid{}, levels, counters);
}

__global__ void __launch_bounds__(task_graph_text::most_threads)
    run_task_graph_alone(task_graph_text text, uint32_t levels) {
  text.run_alone(cuda_exchange_grid{}, levels);
}

template <task_counters What>
cuda_own_method task_graph_by_counters(step_method method, const task_graph& graph) {
  const auto waits_by = [expected = graph.expected(What)](const cuda_target& where, const step_shape& shape) {
    return waiting_by(
        where,
        [&where, expected, blocks = shape.blocks] {
          return dependency_counter_storage(where.device(), blocks, expected);
        },
        [](dependency_counter_storage& storage) { return storage.counters(); });
  };
  return {std::move(method), reinterpret_cast<const void*>(&run_task_graph<What>), waits_by};
}

class cuda_task_graph_device : public task_graph_device {
 public:
  explicit cuda_task_graph_device(const device_description& description) : where_(description.index) {}

  std::unique_ptr<workload> running(const task_graph& graph) override {
    const auto memory = std::make_shared<cuda_arrays>(where_, graph.content());
    cuda_computation all{where_, kernels_of<task_graph_text, few_barriers>(), graph.text(*memory), graph.steps(),
                         graph.result(memory)};
    const std::vector<unsigned char> alone = bytes_of(graph.text(*memory, true));
    all.own = {task_graph_by_counters<task_counters::needs>(task_counter_method(), graph),
               task_graph_by_counters<task_counters::ends>(task_event_method(), graph),
               {task_floor_method(), reinterpret_cast<const void*>(&run_task_graph_alone), nullptr,
                [alone](const step_shape&) {
                  return cuda_on_chip::fitted{alone, 0};
                }}};
    return workload_of(std::move(all));
  }

 private:
  const cuda_target where_;
};

const register_side<task_graph_device> task_graph_registered(device_kind::cuda, make_side<cuda_task_graph_device>);

}  // namespace

}  // namespace gpusync::tool
