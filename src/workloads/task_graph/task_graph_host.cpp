// Workload "task-graph" on host threads.
#include <gpusync/neighbours/dependency_counters_host.hpp>

#include "boundary/steps_host.hpp"
#include "workloads/task_graph/task_graph.hpp"

namespace gpusync::tool {

namespace {

template <task_counters What>
host_own_method task_graph_by_counters(step_method method, const task_graph_text& text,
                                       const std::vector<uint32_t>& expected) {
  return {std::move(method), [text, expected](const step_shape& shape) -> std::function<void(uint32_t)> {
            const auto storage = std::make_shared<host_dependency_counter_storage>(shape.blocks, expected);
            return [text, shape, storage](uint32_t levels) {
              launch(
                  host_device{}, {shape.blocks, shape.threads},
                  [&text, levels](host_dependency_counters counters) {
                    text.template run_all<What>(host_grid::current(), levels, counters);
                  },
                  storage->counters());
            };
          }};
}

host_own_method task_graph_alone(const task_graph_text& text) {
  return {task_floor_method(), [text](const step_shape& shape) -> std::function<void(uint32_t)> {
            return [text, shape](uint32_t levels) {
              launch(host_device{}, {shape.blocks, shape.threads},
                     [&text, levels] { text.run_alone(host_grid::current(), levels); });
            };
          }};
}

class host_task_graph_device : public task_graph_device {
 public:
  std::unique_ptr<workload> running(const task_graph& graph) override {
    const auto memory = std::make_shared<host_arrays>(graph.content());
    const task_graph_text text = graph.text(*memory);
    return workload_of(host_computation{
        host_text::of(text),
        graph.steps(),
        graph.result(memory),
        {task_graph_by_counters<task_counters::needs>(task_counter_method(), text,
                                                      graph.expected(task_counters::needs)),
         task_graph_by_counters<task_counters::ends>(task_event_method(), text, graph.expected(task_counters::ends)),
         task_graph_alone(graph.text(*memory, true))}});
  }
};

const register_side<task_graph_device> task_graph_registered(device_kind::host, make_side<host_task_graph_device>);

}  // namespace

}  // namespace gpusync::tool
