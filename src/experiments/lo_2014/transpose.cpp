// Experiment transpose: writes of a block's warps that share lines; and the better cure, tiles in shared memory.
#include <algorithm>

#include "experiments/lo_2014/paced_rows.hpp"
#include "harness/shapes.hpp"

namespace gpusync::tool::transpose_experiment {

namespace {

constexpr const char* name = "transpose";
constexpr uint64_t most_blocks = 65535;

/// As many blocks as there are parts of so many rows, by a warp's columns.
std::string shape_for(const experiment_request& request, int64_t size, int64_t part) {
  if (!is_gpu(request)) return host_shape(request);
  const auto ceiling = [](int64_t all, int64_t each) { return static_cast<uint64_t>((all + each - 1) / each); };
  const uint64_t blocks = ceiling(size, 32) * ceiling(size, part);
  return std::to_string(std::min(blocks, most_blocks)) + "x256";
}

std::vector<paced_case> cases_of(const experiment_request& request) {
  std::vector<paced_case> all;
  const std::vector<int64_t> sizes = chosen_numbers(request, "rows", {is_gpu(request) ? 8192u : 256u});
  const std::vector<int64_t> parts = chosen_numbers(
      request, "part-rows", is_gpu(request) ? std::vector<uint32_t>{256, 2048} : std::vector<uint32_t>{64});
  for (const bool small : chosen_l1(request, false)) {
    for (const int64_t size : sizes) {
      for (const int64_t part : parts) {
        for (const step_shape& shape : shapes_or(request, {shape_for(request, size, part)})) {
          paced_case& one = all.emplace_back();
          one.text = name;
          one.problem.shape = shape;
          one.problem.elements = static_cast<uint64_t>(size);
          one.problem.length = static_cast<uint64_t>(part);
          one.problem.small_l1 = small;
          one.axes = {
              {"shape", to_word(shape)}, {"rows", size}, {"part-rows", part}, {"l1", std::string(l1_word(small))}};
        }
      }
    }
  }
  return all;
}

const paced_experiment what{name, {"L1", "L17"}, {"L6"}, {"L5"}, cases_of};

const register_experiment registered({
    name,
    "what pacing gains where a block's warps write to the same lines, and what tiles in shared memory gain",
    {"L1", "L5", "L6", "L17"},
    {device_kind::cuda, device_kind::host},
    paced_axes({{"rows", "of the square matrix", 1, 65536, false, "8192; on the host 256"},
                {"part-rows", "rows that a block takes", 1, 65536, false, "256,2048; on the host 64"}},
               "a block for each part of a warp's columns, of 256 threads"),
    [](const experiment_request& request, const experiment_sink& sink) { run_paced(what, request, sink); },
    check_paced(cases_of, {name}),
    case_time{18, 3},
    paced_answer,
});

}  // namespace

}  // namespace gpusync::tool::transpose_experiment
