// Experiment column-walk: a block whose warps share every line of the cache, and take it at different times: the
// pattern of Lo et al. (2014, figure 1) at its purest.
#include "experiments/lo_2014/paced_rows.hpp"
#include "harness/shapes.hpp"

namespace gpusync::tool::column_walk_experiment {

namespace {

constexpr const char* name = "column-walk";

std::vector<std::string> default_shapes(const experiment_request& request) {
  if (!is_gpu(request)) return {host_shape(request)};
  if (request.quick) return {shape_of_units(request, 2, 1024)};
  return {shape_of_units(request, 2, 1024), shape_of_units(request, 8, 256), shape_of_units(request, 1, 1024)};
}

std::vector<paced_case> cases_of(const experiment_request& request) {
  std::vector<paced_case> all;
  const std::vector<int64_t> rows = chosen_numbers(request, "rows", {is_gpu(request) ? 16384u : 64u});
  for (const step_shape& shape : shapes_or(request, default_shapes(request))) {
    for (const bool small : chosen_l1(request, is_gpu(request) && !request.quick)) {
      for (const int64_t count : rows) {
        for (const int64_t columns : chosen_numbers(request, "columns", {is_gpu(request) ? 32768u : 8192u})) {
          paced_case& one = all.emplace_back();
          one.text = name;
          one.problem.shape = shape;
          one.problem.elements = static_cast<uint64_t>(count);
          one.problem.length = static_cast<uint64_t>(columns);
          one.problem.small_l1 = small;
          one.axes = {
              {"shape", to_word(shape)}, {"rows", count}, {"columns", columns}, {"l1", std::string(l1_word(small))}};
        }
      }
    }
  }
  return all;
}

const paced_experiment what{name, {"L1", "L17"}, {"L6"}, {"L5"}, cases_of};

const register_experiment registered({
    name,
    "what pacing gains where a block's warps share every line that they read",
    {"L1", "L5", "L6", "L17"},
    {device_kind::cuda, device_kind::host},
    paced_axes({{"rows", "of the matrix", 1, int64_t{1} << 24, false, "16384; on the host 64"},
                {"columns", "of the matrix", 1, int64_t{1} << 24, false, "32768; on the host 8192"}},
               "2 blocks of 1024, 8 of 256 and 1 of 1024 threads for each multiprocessor"),
    [](const experiment_request& request, const experiment_sink& sink) { run_paced(what, request, sink); },
    check_paced(cases_of, {name}),
    case_time{18, 3},
    paced_answer,
});

}  // namespace

}  // namespace gpusync::tool::column_walk_experiment
