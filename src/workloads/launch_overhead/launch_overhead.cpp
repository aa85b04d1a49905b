#include "workloads/launch_overhead/launch_overhead.hpp"

namespace gpusync::tool {

std::vector<step_method> launch_methods() {
  using enum method_kind;
  const auto made = [](const char* name, const char* title, method_kind kind, std::vector<std::string> items = {}) {
    step_method method;
    method.name = name;
    method.title = title;
    method.items = std::move(items);
    method.kind = kind;
    return method;
  };
  std::vector<step_method> all{
      made(launch_names::traditional, "cudaLaunchKernel()", launch, {"Z1", "Z2", "Z3", "Z19"}),
      made(launch_names::cooperative, "cudaLaunchCooperativeKernel()", launch, {"Z1", "Z2", "Z3", "Z19"}),
      made(launch_names::cluster, "a launch in clusters of 2 blocks", launch),
      made(launch_names::checked, "gpusync::launch()", launch),
      made(launch_names::dependent, "launches with programmatic stream serialization", launch),
      made(launch_names::graph_replays, "replays of a graph of one kernel", graph),
      made(launch_names::graph, "one graph of all kernels", graph),
      made(launch_names::cooperative_graph, "one graph of all kernels, launched cooperatively", graph),
      made(launch_names::dependent_graph, "one graph of all kernels, with programmatic dependent launch", graph),
      made(launch_names::device_graph, "a graph of one kernel that launches itself again (tail launch)", graph)};
  for (step_method& method : all) {
    method.needs_co_residency = method.name == launch_names::cooperative || method.name == launch_names::checked ||
                                method.name == launch_names::cooperative_graph;
    if (method.name == launch_names::cluster) method.cluster = 2;
  }
  return all;
}

}  // namespace gpusync::tool
