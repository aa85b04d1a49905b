// Experiment multi-gpu-reduction: the sum of an array that is spread over the GPUs of a host, in every way that there
// is, beside what one GPU alone takes for its part.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "experiments/zhang_2020/sum_cases.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/method_comparison.hpp"
#include "harness/published.hpp"
#include "measure/repeat_difference.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/multi_gpu_reduction/multi_gpu_reduction.hpp"

namespace gpusync::tool::multi_gpu_reduction_experiment {

namespace {

constexpr const char *name = "multi-gpu-reduction", *over_single = "over_single";

/// One case; the axis `bytes` is of each GPU.
struct across_case {
  sum_case sum;
  uint32_t gpus;

  across_problem problem() const { return {sum.problem(gpus), gpus}; }
};

std::vector<across_case> cases_of(const experiment_request& request, uint32_t gpus) {
  std::vector<int64_t> sizes{1 << 28};
  if (!request.quick) sizes = {1 << 20, 1 << 24, 1 << 28, int64_t{1} << 32};
  std::vector<uint32_t> counts{1, gpus};
  for (uint32_t i = 2; !request.quick && i < gpus; ++i) counts.push_back(i);
  std::vector<across_case> cases;
  for (const sum_case& sum : sum_cases(request, {sizes, {"cold"}, "stream"})) {
    for (const int64_t count : chosen_numbers(request, "gpus", distinct(counts))) {
      cases.push_back({sum, static_cast<uint32_t>(count)});
    }
  }
  return cases;
}

/// Adds what a sum's time means: the rate of all GPUs together, and that rate over as many times the rate of one GPU
/// that sums its part alone, by rounds.
void add_meaning(std::vector<method_result>& results, const across_problem& problem) {
  const reduction_problem part = problem_of_gpu(problem, 0);
  const method_result* const single = find_ok(results, one_gpu_sum);
  for (method_result& result : results) {
    const std::optional<double> time = value_of(result.entry, "step_time");
    if (result.entry.status != row_status::ok || !time) continue;
    const bool alone = result.method.name == one_gpu_sum;
    const auto bytes = static_cast<double>(alone ? part.bytes() : problem.whole.bytes());
    const metric& measured = result.entry.metrics.front().second;
    result.entry.metrics.emplace_back("bandwidth", plain_metric(bytes / *time / 1e3, "GB/s", measured.n));
    if (single == nullptr || alone) continue;
    const double parts = bytes / (static_cast<double>(part.bytes()) * problem.gpus);
    result.entry.metrics.emplace_back(over_single,
                                      ratio_of(single->figures.of(step_sample), result.figures.of(step_sample), parts));
  }
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<multi_gpu_reduction_device>(request.device);
  std::vector<across_case> cases = cases_of(request, device->gpus());
  std::erase_if(cases,
                [most = device->most_cached_bytes()](const across_case& one) { return is_uncached(one.sum, most); });
  const auto label = [](const across_case& one) {
    return fmt::format("{} GPU{}, {}", one.gpus, one.gpus == 1 ? "" : "s",
                       label_of(one.sum, one.problem().whole.elements));
  };
  for_each_case(cases, sink, label, [&](const across_case& one, const auto& progress) {
    const auto workload = kept_if_stuck(device->summing(one.problem()));
    auto results = compare_steps(*workload, {name, request, sink, {"Z16"}},
                                 chosen_methods(request, workload->methods()), {1, 1}, progress);
    add_meaning(results, one.problem());
    add_rows(results,
             {{"gpus", int64_t{one.gpus}},
              {"type", one.sum.type},
              {"bytes", static_cast<int64_t>(one.sum.bytes)},
              {"count", one.sum.count},
              {"input", one.sum.input},
              {"passing", one.sum.passing}},
             sink);
  });
  add_all(published_rows(paper::zhang_2020, name), sink);
}

std::string answer(const measured_rows& measured) {
  const row* best = nullptr;
  const auto merit = [](const row& entry) {
    return std::tuple(axis_number(entry.axes, "gpus"), axis_number(entry.axes, "bytes"), value_of(entry, "bandwidth"));
  };
  for (const row* entry : measured.rows) {
    if (entry->rival || is_floor(*entry) || !value_of(*entry, "bandwidth")) continue;
    if (best == nullptr || merit(*entry) > merit(*best)) best = entry;
  }
  if (best == nullptr) return "";
  const int64_t gpus = *axis_number(best->axes, "gpus");
  const std::string head = fmt::format("Sum over {} GPU{} by {}: {} GB/s for {} on each", gpus, gpus == 1 ? "" : "s",
                                       best->method, figure(*value_of(*best, "bandwidth")),
                                       bytes_in_words(static_cast<uint64_t>(*axis_number(best->axes, "bytes"))));
  const auto share = value_of(*best, over_single);
  if (!share) return answer_in(measured, {head});
  return answer_in(measured, {fmt::format("{}, {} of {} x one GPU", head, figure(*share), gpus), head});
}

request_check checks() {
  request_check made = check_methods([](const device_description& device) {
    return open_side<multi_gpu_reduction_device>(device)->summing({})->methods();
  });
  made.check = [methods = made.check](const experiment_request& request) {
    (void)cases_of(request, 1);
    methods(request);
  };
  return made;
}

std::vector<axis> axes_of_experiment() {
  std::vector<axis> all = axes_of_sums("cold", "stream");
  all.insert(all.begin(), {{"bytes", "of the input, on each GPU", 16, int64_t{1} << 35, false,
                            "2^20,2^24,2^28,2^32; with --quick 2^28"},
                           {"gpus", "how many, from the device's on", 1, 16, false,
                            "from 1 to all that reach each other; with --quick 1, and all"}});
  all.push_back({"method", "ways to sum, by name", 0, 0, true, "all"});
  return all;
}

const register_experiment registered({
    name,
    "the sum of an array that is spread over several GPUs, in every way that there is",
    {"Z16"},
    {device_kind::cuda},
    axes_of_experiment(),
    run,
    checks(),
    case_time{15, 6},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::multi_gpu_reduction_experiment
