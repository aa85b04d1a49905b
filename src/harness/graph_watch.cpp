#include "harness/graph_watch.hpp"

#include <algorithm>
#include <memory>

#include <gpusync/core/error.hpp>

#include "boundary/program.hpp"
#include "measure/comparison.hpp"
#include "measure/host_timer.hpp"
#include "measure/repeat_difference.hpp"
#include "measure/statistics.hpp"

namespace gpusync::tool {

namespace {

/// A tenth of a second, half of it for clocks to rise.
double step_time_of(program& graph) {
  const host_timer clock;
  while (clock.nanoseconds() < 50e6) (void)graph.run();
  repeat_options how;
  how.target_run_ns = 2e6;
  candidate turns = by_repeat_difference({[&](uint64_t steps) { return graph.run(steps); }, graph.steps_unit()}, how);
  const compared figures = compare({std::move(turns)}, {stop_rule{11, 11, 0, 0, 1e9}}).front();
  if (figures.failure) std::rethrow_exception(figures.failure);
  return summarize(figures.of(step_sample)).median * 1e-3;
}

}  // namespace

graph_watch::graph_watch(const std::vector<device_description>& devices) {
  for (const device_description& device : devices) {
    if (device.kind != device_kind::cuda) continue;
    try {
      const std::shared_ptr<workload> average = open_workload("average", device);
      const std::vector<step_method> methods = average->methods();
      const auto graph = std::ranges::find(methods, std::string(method_names::graph), &step_method::name);
      const std::shared_ptr<program> made =
          kept_if_stuck(average->prepare(*graph, {static_cast<uint32_t>(device.compute_units), 256, false}));
      (void)made->run();
      by_device_[device.id] = [average, made] { return step_time_of(*made); };
    } catch (const error&) {  // what is to be measured says why
    }
  }
}

double graph_watch::step_time(const device_description& device) const {
  const auto found = by_device_.find(device.id);
  if (found == by_device_.end()) return 0;
  try {
    require_not_stuck(device.id);
    return found->second();
  } catch (const error&) {
    return 0;
  }
}

}  // namespace gpusync::tool
