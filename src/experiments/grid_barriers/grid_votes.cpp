// Experiment grid-votes: a sum or a yes or no of all blocks, step after step.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "boundary/device_side.hpp"
#include "harness/method_comparison.hpp"
#include "harness/shapes.hpp"
#include "measure/repeat_difference.hpp"
#include "workloads/grid_votes/grid_votes.hpp"

namespace gpusync::tool::grid_votes_experiment {

namespace {

constexpr const char* name = "grid-votes";

std::vector<step_shape> shapes_of(const experiment_request& request) {
  if (request.device.kind == device_kind::host && !has_chosen(request, "shape")) {
    return {{static_cast<uint32_t>(std::max(1, request.device.compute_units)), 1}};
  }
  return shapes_or(request, request.quick
                                ? std::vector<std::string>{"132x256"}
                                : std::vector<std::string>{"32x256", "132x256", "132x1024", "264x512", "1056x256"});
}

/// The ways to add partials up that are compared, besides all votes, if the user names none.
const std::vector<std::string> ways_on_gpu{"graph", "graph-pdl", "graph-pdl-late", "cg", method_names::default_barrier};
const std::vector<std::string> ways_on_host{"launch-wait", "lock-based-acquire-release"};

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  std::vector<std::string> defaults = request.device.kind == device_kind::host ? ways_on_host : ways_on_gpu;
  for (const vote_method& one : vote_methods) defaults.emplace_back(one.name);
  return chosen_methods(request, workload.methods(), defaults);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto votes = open_workload("grid-votes", request.device);
  const auto label = [](const step_shape& shape) { return to_word(shape); };
  for_each_case(shapes_of(request), sink, label, [&](const step_shape& shape, const auto& progress) {
    auto results = compare_steps(*votes, {name, request, sink}, methods_of(request, *votes), shape, progress);
    add_ratios(results, "step_time", step_sample,
               {"barrier-alone", "cg", method_names::default_barrier, "graph-pdl", "graph-pdl-late"});
    add_rows(results, {{"shape", to_word(shape)}}, sink);
  });
}

const register_experiment registered({
    name,
    "a sum, or a yes or no, of all blocks in each step: brought by the barrier itself, by partials that are read "
    "behind a barrier, and by a kernel for each step",
    {},
    {device_kind::cuda, device_kind::host},
    {shape_axis(
         "32x256,132x256,132x1024,264x512,1056x256; with --quick 132x256; on the host a block on each processor"),
     {"method", "ways to come to the answer, by name", 0, 0, true,
      on_axis(ways_on_gpu) +
          " (partials, read behind these), sync-add,vote-add,sync-or,vote-or,barrier-alone,cg-alone; on the host " +
          on_axis(ways_on_host) + " and the votes"}},
    run,
    check_methods([](const device_description& device) { return open_workload("grid-votes", device)->methods(); }),
});

}  // namespace

}  // namespace gpusync::tool::grid_votes_experiment
