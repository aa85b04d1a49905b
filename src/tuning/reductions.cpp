#include "tuning/reductions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <gpusync/core/error.hpp>

#include "harness/method_comparison.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool {

namespace {

/// Microseconds of a sum, by plan, in its words.
using times_of_plans = std::map<std::string, double>;

times_of_plans measure(reduction_device& device, const experiment_request& request, const reduction_problem& problem) {
  experiment_sink sink;
  sink.interrupted = [] { return false; };
  const auto workload = kept_if_stuck(device.summing(problem));
  std::vector<step_method> plans = workload->methods();
  std::erase_if(plans, [](const step_method& method) { return words_of_plan(method.name).empty(); });
  times_of_plans times;
  for (const method_result& result : compare_steps(*workload, {"tune", request, sink}, plans, {1, 1}, [](double) {})) {
    if (result.entry.status == row_status::failed) throw runtime_failure(*result.entry.reason, 0);
    const std::optional<double> time = value_of(result.entry, "step_time");
    if (result.entry.status == row_status::ok && time) times[words_of_plan(result.method.name)] = *time;
  }
  return times;
}

double least_of(const times_of_plans& times) {
  double least = 0;
  for (const auto& [words, time] : times) least = least == 0 ? time : std::min(least, time);
  return least;
}

}  // namespace

std::string reduction_lines(const std::string& type, const std::vector<tuned_sum>& found) {
  std::string lines;
  for (size_t i = 0; i < found.size(); ++i) {
    const tuned_sum& one = found[i];
    lines +=
        fmt::format("# {}: {} us cold{}\n", bytes_in_words(one.bytes), figure(one.microseconds),
                    one.microseconds_cached > 0 ? fmt::format(", {} us cached", figure(one.microseconds_cached)) : "");
    if (i + 1 < found.size() && found[i + 1].words == one.words) continue;
    lines +=
        fmt::format("reduce {} {} {}\n", type, i + 1 == found.size() ? "any" : std::to_string(one.bytes), one.words);
  }
  return lines;
}

std::vector<tuned_sum> tune_sums(const device_description& device, bool wide,
                                 const std::function<void(double, const std::string&)>& tried) {
  constexpr int first = 10, last = 31;
  const auto side = open_side<reduction_device>(device);
  experiment_request request;
  request.device = device;
  request.quick = true;
  std::vector<tuned_sum> found;
  for (int power = first; power <= last; ++power) {
    const uint64_t bytes = uint64_t{1} << power;
    tried(static_cast<double>(power - first) / (last - first + 1),
          fmt::format("sums of {} of {}", bytes_in_words(bytes), wide ? "double" : "float"));
    reduction_problem problem{wide, bytes / (wide ? 8 : 4), 0, false, method_names::graph};
    const times_of_plans cold = measure(*side, request, problem);
    problem.cached = true;
    const bool fits = bytes <= side->most_cached_bytes();
    const times_of_plans cached = fits ? measure(*side, request, problem) : times_of_plans();
    tuned_sum best;
    double best_score = 0;
    for (const auto& [words, time] : cold) {
      const auto in_cache = cached.find(words);
      if (fits && in_cache == cached.end()) continue;
      const double score = time / least_of(cold) + (fits ? in_cache->second / least_of(cached) : 0);
      if (!best.words.empty() && score >= best_score) continue;
      best = {bytes, words, time, fits ? in_cache->second : 0};
      best_score = score;
    }
    if (best.words.empty()) throw runtime_failure("No plan could be measured.", 0);
    found.push_back(best);
  }
  // The last is for any size, which not every plan holds: those that walk over tiles do.
  if (found.back().words.find("-dealt") == std::string::npos &&
      found.back().words.find("-claimed") == std::string::npos) {
    found.push_back({found.back().bytes * 2, "messages-claimed 512 8 2", 0, 0});
  }
  return found;
}

}  // namespace gpusync::tool
