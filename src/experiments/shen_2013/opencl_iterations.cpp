// Experiment opencl-iterations: repeated synchronization at the largest number of work-groups. Figures 4-5 and 4-6 and
// appendix I of Shen 2013 (item S7), with equations 5 and 6.
#include <algorithm>

#include "experiments/shen_2013/thesis_comparison.hpp"

namespace gpusync::tool::opencl_iterations_experiment {

namespace {

constexpr const char* name = "opencl-iterations";

/// Those of the thesis, on to the 5,000 that its text speaks of, and fewer, among which a barrier overtakes the host
/// today.
std::vector<int64_t> iterations_of(const experiment_request& request) {
  std::vector<int64_t> numbers = request.axes.numbers_or(
      "iterations", request.quick ? std::vector<int64_t>{1, 10, 50, 200}
                                  : std::vector<int64_t>{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 1500, 2000, 2500,
                                                         3000, 4000, 5000});
  std::ranges::sort(numbers);  // cheapest to check
  return numbers;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto finish = [&](std::vector<method_result>& results, const memory_by_method&) {
    for (method_result& result : results) {
      result.entry.metrics = {{"total_time", result.median_of(host_sample, 1e-6, "ms", request.keep_samples)},
                              {"device_time", result.median_of(device_sample, 1e-6, "ms", request.keep_samples)}};
    }
  };
  answer_thesis({name, {"S7", "S9"}, iterations_of(request), true, thesis_rounds(request.quick), finish}, request,
                sink);
}

std::vector<axis> axes() {
  std::vector<axis> all = thesis_axes();
  all.push_back(
      {"iterations", "synchronizations in a run", 1, 100000, false, "17 from 1 to 5000; with --quick 1,10,50,200"});
  return all;
}

const register_experiment registered({
    name,
    "from how many synchronizations on a barrier of OpenCL work-groups beats the host, beside the thesis of 2013",
    {"S1", "S2", "S3", "S4", "S7", "S9"},
    {device_kind::opencl},
    axes(),
    run,
    check_methods([](const device_description& device) { return open_side<thesis_device>(device)->methods(); }),
    case_time{6, 3},
});

}  // namespace

}  // namespace gpusync::tool::opencl_iterations_experiment
