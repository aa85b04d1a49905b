// Experiment switch-points: from which size on more threads and a barrier beat fewer (Zhang et al. 2020, items Z10 to
// Z12, Equations 1 to 5, Figure 10, Tables 3 and 4), predicted and measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/zhang_2020/level_rows.hpp"
#include "experiments/zhang_2020/switch_rows.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/published.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool::switch_points_experiment {

namespace {

constexpr const char *name = "switch-points", *proxy = "proxy", *switches = "switch", *kernels = "kernels";
constexpr const char *cold = "cold", *cached = "l2", *single = "float", *wide = "double";

const std::vector<std::string> parts{proxy, switches, kernels}, inputs{cold, cached}, types{single, wide};

axis_values part_axes(const char* part) {
  return {{"part", std::string(part)}};
}

// ---- in one multiprocessor

stop_rule rule_for_curves(bool quick) {
  return quick ? stop_rule{7, 9, 0.01, 0.01, 1e9, 7} : stop_rule{11, 31, 0.002, 0.01, 4e9, 11};
}

step_method method_of_group(const std::string& method) {
  step_method made;
  made.name = made.title = method;
  return made;
}

/// A whole curve in each turn: samples by the number of doubles.
prepared_method prepare_curve(shared_sums_device& device, const summing_group& group, sum_ending ending,
                              const std::vector<uint32_t>& sizes) {
  const auto program = kept_if_stuck(device.prepare(group, ending));
  candidate turns;
  turns.run = [program, sizes]() -> turn_samples {
    turn_samples turn;
    for (const uint32_t elements : sizes) turn.emplace_back(std::to_string(elements), program->run(elements));
    return turn;
  };
  return {turns, [program] { return program->verify(); }};
}

/// The latency of what a group synchronizes by: a warp by shuffles, as table 4 takes it, a block by its barrier.
prepared_method prepare_synchronization(const device_description& device, const summing_group& group) {
  const bool warp = group.threads == 32;
  const auto levels = open_side<levels_device>(device, warp ? level_sides::warp : level_sides::block);
  const std::vector<level_variant> all = levels->variants();
  const auto found = std::ranges::find_if(all, [&](const level_variant& one) {
    return warp ? one.method == "tile-shuffle" && one.group == 32 : one.method == "syncthreads";
  });
  if (found == all.end()) throw invalid_argument("There is no synchronization of " + group.method + ".");
  prepared_method made = prepare_latency(*levels, *found, {group.threads, 0, 1});
  made.program.run = [levels, run = made.program.run] { return run(); };  // keeps the device
  made.verify = [levels, verify = made.verify] { return verify(); };
  return made;
}

struct measuring {
  const comparison_setting& setting;
  shared_sums_device& device;
};

void measure_proxy(const measuring& what, const std::function<void(double)>& progress) {
  const std::vector<summing_group>& groups = summing_groups();
  std::vector<step_method> all;
  for (const summing_group& group : groups) all.push_back(method_of_group(group.method));
  const auto prepare = [&](const step_method& method) {
    const summing_group& group = *std::ranges::find(groups, method.name, &summing_group::method);
    return prepare_curve(what.device, group, sum_ending::each_its_own,
                         sizes_of_proxy(group, what.device.most_elements()));
  };
  auto results = compare_methods(what.setting, all, prepare, rule_for_curves(what.setting.request.quick), progress);
  const bool keep = what.setting.request.keep_samples;
  std::vector<double> iterations;  // of a thread alone, by round: the table's latency
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<double> rates;
    for (const auto& curve : curves_of(groups[i], results[i].figures).rounds) {
      rates.push_back(throughput_between(curve, 0, INFINITY).value_or(NAN));
    }
    if (i == 0) std::ranges::transform(rates, std::back_inserter(iterations), [](double rate) { return 8 / rate; });
    const auto product = [](double rate, double latency) { return rate * latency; };
    row& entry = results[i].entry;
    entry.kind.reset();
    entry.items = {"Z11"};
    if (std::ranges::any_of(rates, [](double rate) { return std::isnan(rate); })) {
      if (entry.status == row_status::ok) mark_skipped(entry, "The times do not rise with the size.");
      continue;
    }
    entry.metrics = {{"bandwidth", median_metric(rates, 1, "B/cycle", keep)},
                     {"latency", median_metric(iterations, 1, "cycles", keep)},
                     {"concurrency", median_metric(by_round(rates, iterations, product), 1, "B", keep)}};
  }
  add_rows(results, part_axes(proxy), what.setting.sink);
}

/// The levels of one comparison, each with its curves and the latency of its synchronization.
struct measured_levels {
  std::vector<level_curves> curves;
  std::vector<std::vector<double>> latencies;
  std::vector<row> rows;  ///< of the curves, as compared
};

measured_levels compare_levels(const measuring& what, const std::function<void(double)>& progress) {
  const std::vector<summing_group>& groups = summing_groups();
  const std::string synchronization = "synchronization-";
  std::vector<step_method> all;
  for (const summing_group& group : groups) all.push_back(method_of_group(group.method));
  for (const summing_group& group : groups) all.push_back(method_of_group(synchronization + group.method));
  const auto prepare = [&](const step_method& method) {
    const auto found = std::ranges::find(groups, method.name, &summing_group::method);
    if (found != groups.end()) {
      return prepare_curve(what.device, *found, sum_ending::one_sum,
                           sizes_of_curve(*found, what.device.most_elements()));
    }
    const std::string of = method.name.substr(synchronization.size());
    const summing_group& group = *std::ranges::find(groups, of, &summing_group::method);
    if (group.threads == 1) throw invalid_argument("One thread has nobody to wait for.");
    return prepare_synchronization(what.setting.request.device, group);
  };
  const auto results =
      compare_methods(what.setting, all, prepare, rule_for_curves(what.setting.request.quick), progress);
  measured_levels found;
  for (size_t i = 0; i < results.size(); ++i) {
    if (i < groups.size()) {
      found.curves.push_back(curves_of(groups[i], results[i].figures));
      found.rows.push_back(results[i].entry);
      found.rows.back().kind.reset();
    } else {
      const bool right = results[i].entry.status == row_status::ok;
      found.latencies.push_back(right ? results[i].figures.of(latency_sample) : std::vector<double>{});
    }
  }
  found.latencies.resize(found.curves.size());
  return found;
}

/// A row of each level, and some points of its curve.
void add_levels(const measured_levels& levels, const measuring& what) {
  const bool keep = what.setting.request.keep_samples;
  std::vector<double> before;  // what the level before takes for one double, by round
  for (size_t i = 0; i < levels.rows.size(); ++i) {
    std::vector<double> at_one, slopes;
    std::map<double, std::vector<double>> points;
    for (const auto& curve : levels.curves[i].rounds) {
      at_one.push_back(time_at_one(curve).value_or(NAN));
      if (const auto slope = slope_of(curve, levels.curves[i].group.threads)) slopes.push_back(*slope);
      for (const curve_point& point : curve) points[point.x].push_back(point.y);
    }
    row entry = levels.rows[i];
    entry.items = {"Z10"};
    entry.axes = part_axes("levels");
    const auto beyond = by_round(at_one, before, [](double more, double basic) { return more - basic; });
    entry.metrics = {{"time_at_one", median_metric(at_one, 1, "cycles", keep)},
                     {"bandwidth", median_metric(slopes, 1, "B/cycle", keep)},
                     {"sync_latency", median_metric(beyond, 1, "cycles", keep)}};
    what.setting.sink.add(entry, true);
    before = at_one;
    if (entry.status != row_status::ok) continue;
    for (const auto& [bytes, cycles] : points) {
      const auto size = static_cast<int64_t>(bytes);
      if ((size & (size - 1)) != 0) continue;
      entry.axes = part_axes("curve");
      entry.axes.emplace_back("bytes", size);
      entry.metrics = {{"latency", median_metric(cycles, 1, "cycles", keep)}};
      what.setting.sink.add(entry, true);
    }
  }
}

void measure_switches(const measuring& what, const std::function<void(double)>& progress) {
  const measured_levels levels = compare_levels(what, progress);
  add_levels(levels, what);
  for (const level_pair& pair : level_pairs()) {
    if (pair.to >= levels.rows.size()) break;
    const row &from = levels.rows[pair.from], &to = levels.rows[pair.to];
    row entry = from.status == row_status::ok ? to : from;  // what failed says why
    entry.method = to.method;
    entry.items = {"Z10", "Z12"};
    entry.axes = part_axes(switches);
    entry.axes.emplace_back("from", from.method);
    if (entry.status == row_status::ok) {
      entry.verified.reset();
      fill_in_switch(entry, figures_of(levels.curves[pair.from], levels.curves[pair.to], levels.latencies[pair.to]),
                     pair.promised, what.setting.request.keep_samples);
    }
    what.setting.sink.add(entry, true);
  }
}

// ---- over the whole device, by the library's own plans

/// Who brings the sums of a grid's blocks together: nobody, a cluster, messages.
const std::vector<std::string> classes{"one-block", "cluster", "messages"};

std::string class_of(const std::string& plan) {
  return plan.substr(0, plan.find('.'));
}

std::vector<step_method> plans_of(const workload& workload, bool quick) {
  const std::vector<std::string> few{"one-block.256.2",  "one-block.512.4", "cluster.256.4.16",
                                     "cluster.512.4.16", "messages.256.4",  "messages.256.8"};
  std::vector<step_method> plans = workload.methods();
  std::erase_if(plans, [&](const step_method& method) {
    if (quick) return std::ranges::find(few, method.name) == few.end();
    return std::ranges::find(classes, class_of(method.name)) == classes.end() || words_of_plan(method.name).empty();
  });
  return plans;
}

struct kernel_case {
  std::string type, input;

  reduction_problem problem(uint64_t bytes) const {
    const uint64_t size = type == wide ? 8 : 4;
    return {type == wide, std::max<uint64_t>(1, bytes / size), 0, input == cached, method_names::graph};
  }
};

/// One element, and what the classes' capacities and switches lie between.
std::vector<uint64_t> kernel_sizes(bool quick) {
  constexpr uint64_t kib = 1024;
  std::vector<uint64_t> sizes{1};
  if (quick) {
    for (const uint64_t each : {4, 16, 32, 128, 512, 1024}) sizes.push_back(each * kib);
  } else {
    for (const uint64_t each : {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 448, 512, 768, 1024}) {
      sizes.push_back(each * kib);
    }
  }
  return sizes;
}

/// The least time of each class at one size, as rows; adds them to the curves. Whether no sum was wrong.
bool measure_kernels_at(uint64_t bytes, const kernel_case& one, reduction_device& device,
                        const comparison_setting& setting, std::map<std::string, std::vector<curve_point>>& curves,
                        const std::function<void(double)>& progress) {
  const reduction_problem problem = one.problem(bytes);
  const auto workload = kept_if_stuck(device.summing(problem));
  const auto results = compare_steps(*workload, setting, plans_of(*workload, setting.request.quick), {1, 1}, progress);
  bool right = true;
  for (const std::string& each : classes) {
    const row* best = nullptr;
    for (const method_result& result : results) {
      const row& entry = result.entry;
      if (class_of(entry.method) != each) continue;
      const auto time = value_of(entry, "step_time");
      const bool failed = entry.status == row_status::failed;
      if (!failed && (entry.status != row_status::ok || !time)) continue;
      if (failed) {
        right = false;
        best = &entry;
        break;
      }
      if (best == nullptr || *time < *value_of(*best, "step_time")) best = &entry;
    }
    if (best == nullptr) continue;  // no plan of the class holds so much
    row entry = *best;
    entry.method = each;
    entry.rival = false;
    entry.verification = best->method + (best->verification ? ": " + *best->verification : "");
    entry.items = {"Z10"};
    entry.axes = part_axes(kernels);
    entry.axes.insert(entry.axes.end(),
                      {{"type", one.type}, {"input", one.input}, {"bytes", static_cast<int64_t>(problem.bytes())}});
    if (entry.status == row_status::ok) {
      curves[each].push_back({static_cast<double>(problem.bytes()), *value_of(entry, "step_time")});
    }
    setting.sink.add(entry, true);
  }
  return right;
}

void measure_kernels(const kernel_case& one, const comparison_setting& setting,
                     const std::function<void(double)>& progress) {
  const auto device = open_side<reduction_device>(setting.request.device);
  std::vector<uint64_t> sizes = kernel_sizes(setting.request.quick);
  std::erase_if(sizes, [&](uint64_t bytes) { return one.input == cached && bytes > device->most_cached_bytes(); });
  std::map<std::string, std::vector<curve_point>> curves;
  bool right = true;
  for (size_t i = 0; i < sizes.size() && !setting.sink.interrupted(); ++i) {
    right &= measure_kernels_at(sizes[i], one, *device, setting, curves, part_of(progress, i, sizes.size()));
  }
  if (setting.sink.interrupted()) return;
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 2)}) {
    row entry = new_row(name, setting.request, classes[to], method_kind::launch);
    entry.kind.reset();
    entry.items = {"Z10"};
    entry.axes = part_axes("kernel-switch");
    entry.axes.insert(entry.axes.end(), {{"type", one.type}, {"input", one.input}, {"from", classes[from]}});
    constexpr double least_bytes = 1024;
    fill_in_switch(entry, switch_of_kernels(curves[classes[from]], curves[classes[to]], least_bytes));
    if (!right) {
      entry.verified.reset();
      mark_skipped(entry, "Some of the sums were wrong, and are not in the curves.");
    }
    setting.sink.add(entry, true);
  }
}

// ---- the experiment

struct one_case {
  std::string part;
  kernel_case sums = {};
};

std::vector<one_case> cases_of(const experiment_request& request) {
  std::vector<one_case> all;
  for (const std::string& part : chosen_words(request, "part", parts)) {
    if (part != kernels) {
      all.push_back({part});
      continue;
    }
    for (const std::string& type : chosen_words(request, "type", types, {single})) {
      for (const std::string& input : chosen_words(request, "input", inputs)) all.push_back({part, {type, input}});
    }
  }
  return all;
}

std::string label(const one_case& one) {
  return one.part == kernels ? fmt::format("{} of {}, {}", one.part, one.sums.type, one.sums.input) : one.part;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<shared_sums_device>(request.device);
  const comparison_setting setting{name, request, sink};
  for_each_case(cases_of(request), sink, label, [&](const one_case& one, const auto& progress) {
    const std::function<void(double)> told = [&](double fraction) { progress(fraction); };
    if (one.part == kernels) return measure_kernels(one.sums, setting, told);
    const measuring what{setting, *device};
    one.part == proxy ? measure_proxy(what, told) : measure_switches(what, told);
  });
  if (!sink.interrupted()) add_all(published_rows(paper::zhang_2020, name), sink);
}

/// The switch to a level; null if it was not measured.
const row* find_switch(const measured_rows& measured, const char* from, const char* to) {
  const axis_values axes{{"part", std::string(switches)}, {"from", std::string(from)}};
  for (const row* const entry : measured.rows) {
    if (entry->method == to && entry->axes == axes && value_of(*entry, "measured_switch_point")) return entry;
  }
  return nullptr;
}

/// Up to which size each class of kernels was the fastest, of inputs of the first kind that there is.
std::string answer_of_kernels(const measured_rows& measured) {
  std::map<int64_t, const row*> fastest;
  axis_values first;
  for (const row* const entry : measured.rows) {
    if (std::ranges::find(classes, entry->method) == classes.end() || !value_of(*entry, "step_time")) continue;
    const axis_values where(entry->axes.begin(), entry->axes.end() - 1);  // all but the size
    if (first.empty()) first = where;
    if (where != first) continue;
    const row*& best = fastest[axis_number(entry->axes, "bytes").value_or(0)];
    if (best == nullptr || *value_of(*entry, "step_time") < *value_of(*best, "step_time")) best = entry;
  }
  std::map<std::string, int64_t> until;
  for (const auto& [bytes, entry] : fastest) until[entry->method] = bytes;
  std::vector<std::string> said;
  for (const std::string& each : classes) {
    if (until.count(each) != 0) said.push_back(fmt::format("{} up to {}", each, bytes_in_words(until[each])));
  }
  return said.empty() ? "" : answer_in(measured, {fmt::format("Sum by {}", join_words(said))});
}

std::string answer(const measured_rows& measured) {
  const row *const warp = find_switch(measured, "1-thread", "1-warp"), *const block = find_switch(measured, "1-warp",
                                                                                                  "1024-threads");
  std::vector<std::string> said;
  double error = 0;
  for (const auto& [entry, who] : {std::pair(warp, "a warp"), std::pair(block, "1024 threads")}) {
    if (entry == nullptr) continue;
    said.push_back(fmt::format("{} from {} on", who, short_bytes(*value_of(*entry, "measured_switch_point"))));
    error = std::max(error, std::abs(value_of(*entry, "prediction_error").value_or(0)));
  }
  if (said.empty()) return answer_of_kernels(measured);
  const std::string head = fmt::format("Take {}", fmt::join(said, ", "));
  return answer_in(measured, {head + fmt::format("; the model is {:.0f} % off at most", 100 * error), head});
}

const register_experiment registered({
    name,
    "from which size on more threads and a barrier beat fewer, predicted and measured",
    {"Z10", "Z11", "Z12"},
    {device_kind::cuda},
    {{"part",
      "proxy: bandwidth of the loop alone; switch: levels in one multiprocessor; kernels: gpusync::reduce's plans", 0,
      0, true, "all"},
     {"type", "of the elements that kernels sum: float or double", 0, 0, true, "float"},
     {"input", "of kernels: cold, in no cache; l2, the same again and again", 0, 0, true, "cold,l2"}},
    run,
    {[](const experiment_request& request) { (void)cases_of(request); }},
    case_time{150, 10},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::switch_points_experiment
