// Experiment vector-add: a barrier behind every addition of two vectors (Lo et al. 2014, algorithm 2, figure 6, table
// 3).
#include "experiments/lo_2014/paced_rows.hpp"
#include "harness/shapes.hpp"

namespace gpusync::tool::vector_add_experiment {

namespace {

constexpr const char* name = "vector-add";

std::vector<std::string> default_shapes(const experiment_request& request) {
  if (!is_gpu(request)) return {host_shape(request)};
  if (request.quick) return {"256x256"};
  return {"256x256", shape_of_units(request, 8, 256), shape_of_units(request, 2, 1024)};
}

std::vector<int64_t> sizes_of(const experiment_request& request) {
  std::vector<int64_t> sizes;
  if (!is_gpu(request)) {
    sizes = {1 << 12, 1 << 16};
  } else if (request.quick) {
    sizes = {1 << 20, 1 << 26};
  } else {
    for (int power = 16; power <= 28; power += 2) sizes.push_back(int64_t{1} << power);
  }
  return request.axes.numbers_or("elements", sizes);
}

std::vector<paced_case> cases_of(const experiment_request& request) {
  std::vector<paced_case> all;
  for (const bool small : chosen_l1(request, false)) {
    for (const step_shape& shape : shapes_or(request, default_shapes(request))) {
      for (const int64_t elements : sizes_of(request)) {
        paced_case& one = all.emplace_back();
        one.text = name;
        one.problem.shape = shape;
        one.problem.elements = static_cast<uint64_t>(elements);
        one.problem.small_l1 = small;
        one.axes = {{"shape", to_word(shape)}, {"elements", elements}, {"l1", std::string(l1_word(small))}};
      }
    }
  }
  return all;
}

const paced_experiment what{name, {"L8"}, {"L9", "L6"}, {"L5"}, cases_of};

const register_experiment registered({
    name,
    "whether a barrier behind every addition speeds up the sum of two vectors",
    {"L5", "L6", "L8", "L9"},
    {device_kind::cuda, device_kind::opencl, device_kind::host},
    paced_axes({{"elements", "of a vector", 1, int64_t{1} << 34, false,
                 "2^16 to 2^28, every fourth size; with --quick 2^20,2^26; elsewhere 2^12,2^16"}},
               "256x256, and 8 blocks of 256 and 2 of 1024 threads for each multiprocessor"),
    [](const experiment_request& request, const experiment_sink& sink) { run_paced(what, request, sink); },
    check_paced(cases_of, {name}),
    case_time{18, 3},
    paced_answer,
});

}  // namespace

}  // namespace gpusync::tool::vector_add_experiment
