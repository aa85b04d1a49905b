// Experiment reduction: the sum of an array by this library, by CUB, with the barrier at a kernel's end and with one in
// the kernel, beside kernels that do no more than to read it.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/answers.hpp"
#include "experiments/choices.hpp"
#include "experiments/method_comparison.hpp"
#include "experiments/published.hpp"
#include "measure/repeat_difference.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool::reduction_experiment {

namespace {

constexpr const char* name = "reduction";
constexpr const char* library_method = "gpusync";

/// How many elements are summed of those that so many bytes hold.
struct part_of_input {
  const char* word;
  uint64_t (*elements)(uint64_t all);
};
constexpr part_of_input parts[] = {
    {"n", [](uint64_t all) { return all; }},
    {"n-1", [](uint64_t all) { return all - 1; }},
    {"3n/4+1", [](uint64_t all) { return 3 * all / 4 + 1; }},
};

/// How one sum follows the other.
struct way_to_pass {
  const char* word;
  const char* passing;
};
constexpr way_to_pass ways_to_pass[] = {
    {"graph", method_names::graph}, {"stream", method_names::relaunch}, {"single", method_names::host_wait}};

struct element_type {
  const char* word;
  bool wide;
};
constexpr element_type types[] = {{"float", false}, {"double", true}};

struct input_state {
  const char* word;
  bool cached;
};
constexpr input_state inputs[] = {{"cold", false}, {"l2", true}};

/// One combination of axes.
struct one_case {
  element_type type;
  uint64_t bytes;
  part_of_input part;
  input_state input;
  way_to_pass way;
  uint32_t offset;

  reduction_problem problem() const {
    return {type.wide, part.elements(bytes / (type.wide ? 8 : 4)), offset, input.cached, way.passing};
  }
};

bool on_gpu(const experiment_request& request) {
  return request.device.kind == device_kind::cuda;
}

std::vector<int64_t> sizes_of(const experiment_request& request) {
  std::vector<int64_t> defaults;
  if (request.quick) {
    defaults = {1 << 14, 1 << 20, 1 << 26};
  } else {
    for (int power = 10; power <= (on_gpu(request) ? 32 : 24); power += 2) defaults.push_back(int64_t{1} << power);
  }
  return request.axes.numbers_or("bytes", defaults);
}

std::vector<one_case> cases_of(const experiment_request& request) {
  std::vector<one_case> all;
  const std::vector<int64_t> sizes = sizes_of(request), offsets = request.axes.numbers_or("offset", {0});
  const std::vector<std::string> cold_and_cached =
      on_gpu(request) ? std::vector<std::string>{"cold", "l2"} : std::vector<std::string>{"l2"};
  for (const element_type& type : chosen_of(request, "type", types, &element_type::word, {"float"})) {
    for (const input_state& input : chosen_of(request, "input", inputs, &input_state::word, cold_and_cached)) {
      for (const way_to_pass& way : chosen_of(request, "passing", ways_to_pass, &way_to_pass::word, {"graph"})) {
        for (const part_of_input& part : chosen_of(request, "count", parts, &part_of_input::word, {"n"})) {
          for (const int64_t offset : offsets) {
            for (const int64_t bytes : sizes) {
              const auto all_bytes = static_cast<uint64_t>(bytes);
              all.push_back({type, all_bytes, part, input, way, static_cast<uint32_t>(offset)});
            }
          }
        }
      }
    }
  }
  return all;
}

/// The method of that kind with the least median; null if none has one.
const method_result* fastest(const std::vector<method_result>& results,
                             const std::function<bool(const step_method&)>& wanted) {
  const method_result* best = nullptr;
  const auto time = [](const method_result& result) { return value_of(result.entry, "step_time"); };
  for (const method_result& result : results) {
    if (!wanted(result.method) || result.entry.status != row_status::ok || !time(result)) continue;
    if (best == nullptr || *time(result) < *time(*best)) best = &result;
  }
  return best;
}

bool is_cub(const step_method& method) {
  return method.name.starts_with("cub-");
}

/// Adds what a sum's time means: the rate, and the ratio to the better form of CUB and to the fastest kernel that only
/// reads as much.
void add_meaning(std::vector<method_result>& results, uint64_t bytes) {
  const method_result* const cub = fastest(results, is_cub);
  const method_result* const read =
      fastest(results, [](const step_method& method) { return method.kind == method_kind::floor; });
  for (method_result& result : results) {
    const std::optional<double> time = value_of(result.entry, "step_time");
    if (result.entry.status != row_status::ok || !time) continue;
    const metric& measured = result.entry.metrics.front().second;
    result.entry.metrics.emplace_back("bandwidth",
                                      plain_metric(static_cast<double>(bytes) / *time / 1e3, "GB/s", measured.n));
    for (const auto& [rival, metric_name] :
         {std::pair(cub, "step_time_over_cub"), std::pair(read, "step_time_over_read")}) {
      if (rival == nullptr) continue;
      result.entry.metrics.emplace_back(metric_name,
                                        ratio_of(result.figures.of(step_sample), rival->figures.of(step_sample)));
    }
  }
}

std::vector<step_method> methods_of(const experiment_request& request, const workload& workload) {
  if (on_gpu(request)) {
    return chosen_methods(request, workload.methods(),
                          {library_method, "cub-int", "cub-size", "implicit", "implicit-pdl", "grid-cg", "grid",
                           "read-128x4", "read-256x4", "read-512x8", "read-dealt", "read-claimed"});
  }
  return chosen_methods(request, workload.methods(),
                        {"launch-wait", "relaunch", "lock-based-acquire-release", "sense-reversing-acquire-release"});
}

step_shape shape_of(const experiment_request& request) {
  if (on_gpu(request)) return {1, 1};  // sums know their own
  return {static_cast<uint32_t>(std::max(1, request.device.compute_units)), 1};
}

std::string label(const one_case& one) {
  return fmt::format("{} {} of {} ({}), {}, {}", one.problem().elements, one.type.word, bytes_in_words(one.bytes),
                     one.part.word, one.input.word, one.way.word);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<reduction_device>(request.device);
  std::vector<one_case> cases = cases_of(request);
  // Of inputs that fill more than half of the cache nothing is known to be in it.
  std::erase_if(cases, [most = device->most_cached_bytes()](const one_case& one) {
    return one.input.cached && one.bytes > most;
  });
  for_each_case(cases, sink, label, [&](const one_case& one, const auto& progress) {
    const auto workload = kept_if_stuck(device->summing(one.problem()));
    auto results = compare_steps(*workload, {name, request, sink, {"Z14", "Z15"}}, methods_of(request, *workload),
                                 shape_of(request), progress);
    add_meaning(results, one.problem().bytes());
    axis_values axes{{"type", std::string(one.type.word)},
                     {"bytes", static_cast<int64_t>(one.bytes)},
                     {"count", std::string(one.part.word)}};
    if (on_gpu(request)) {
      axes.emplace_back("input", std::string(one.input.word));
      axes.emplace_back("passing", std::string(one.way.word));
    }
    axes.emplace_back("offset", int64_t{one.offset});
    add_rows(results, axes, sink);
  });
  add_all(published_rows(paper::zhang_2020, name), sink);
}

std::string answer(const measured_rows& measured) {
  double best = 0, worst = 0;
  const row* where = nullptr;
  for (const row* entry : measured.rows) {
    const std::optional<double> ratio = value_of(*entry, "step_time_over_cub");
    if (entry->method != library_method || !ratio) continue;
    if (where == nullptr || *ratio < best) best = *ratio, where = entry;
    worst = std::max(worst, *ratio);
  }
  if (where == nullptr) {
    const row* const fastest_row = least(measured, "step_time");
    if (fastest_row == nullptr) return "";
    return answer_in(
        measured,
        {fmt::format("Sum with {}: {} us", fastest_row->method, figure(*value_of(*fastest_row, "step_time")))},
        fastest_row);
  }
  const std::string size = bytes_in_words(static_cast<uint64_t>(*axis_number(where->axes, "bytes")));
  if (worst <= 1) {
    return answer_in(measured, {fmt::format("Use gpusync::reduce: {} to {} of CUB's time, {} us for {}", figure(best),
                                            figure(worst), figure(*value_of(*where, "step_time")), size)});
  }
  return answer_in(measured, {fmt::format("Use gpusync::reduce where it is measured to win: {} to {} of CUB's time, "
                                          "the least at {}",
                                          figure(best), figure(worst), size)});
}

template <class Values, class WordOf>
std::string words_of(const Values& values, const WordOf& word_of) {
  std::string all;
  for (const auto& one : values) all += (all.empty() ? "" : ",") + std::string(std::invoke(word_of, one));
  return all;
}

void check(const experiment_request& request) {
  for (const one_case& one : cases_of(request)) {
    if (one.bytes < (one.type.wide ? 16u : 8u)) throw usage_error("Axis bytes takes 16 or more.");
  }
}

request_check request_check_of_sums() {
  request_check made = check_methods(
      [](const device_description& device) { return open_side<reduction_device>(device)->summing({})->methods(); });
  made.check = [methods = made.check](const experiment_request& request) {
    check(request);
    methods(request);
  };
  return made;
}

const register_experiment registered({
    name,
    "the sum of an array: one launch of ours, CUB, two kernels, or a kernel with a grid barrier",
    {"Z14", "Z15"},
    {device_kind::cuda, device_kind::host},
    {{"bytes", "size of the input", 16, int64_t{1} << 35, false,
      "2^10 to 2^32, every fourth size; with --quick 2^14,2^20,2^26; on the host at most 2^24"},
     {"type", "of the elements: float or double", 0, 0, true, "float"},
     {"count", "elements of those that so many bytes hold: " + words_of(parts, &part_of_input::word), 0, 0, true, "n"},
     {"input", "cold: in no cache; l2: the same again and again, up to half the cache", 0, 0, true,
      "cold,l2; on the host l2"},
     {"passing", "graph: a node of a graph for each sum; stream: queued; single: the host waits for each", 0, 0, true,
      "graph"},
     {"offset", "elements between a boundary of 256 bytes and the first", 0, 3, false, "0"},
     {"method", "ways to sum, by name; on the host ways to pass from step to step", 0, 0, true,
      "those that differ most"}},
    run,
    request_check_of_sums(),
    case_time{10, 3},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::reduction_experiment
