// Experiment launch-overhead: what a kernel costs besides its execution, by every way to launch. Zhang et al. 2020,
// section 4, figure 3, table 1 and equation 6; items Z1, Z2, Z3 and Z19.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "harness/answers.hpp"
#include "harness/method_comparison.hpp"
#include "harness/published.hpp"
#include "harness/shapes.hpp"
#include "measure/kernel_fusion.hpp"
#include "measure/repeat_difference.hpp"
#include "measure/statistics.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "workloads/launch_overhead/launch_overhead.hpp"

namespace gpusync::tool::launch_overhead_experiment {

namespace {

constexpr const char* name = "launch-overhead";
constexpr const char *null_kernel = "null-kernel", *fusion = "fusion", *figure_3 = "figure-3";
constexpr double us = 1e-3;

/// Launches of a queue of null kernels, of the paper's figure 3, and the units of its kernels.
constexpr uint32_t queued_launches = 128, figure_launches = 5, figure_units = 10;

/// Samples, in nanoseconds.
constexpr const char *total_sample = "total", *each_sample = "each", *counted_sample = "counted total",
                     *counted_each_sample = "counted each", *host_sample = "host", *unit_sample = "unit",
                     *row_unit_sample = "unit in a row", *bias_sample = "bias", *execution_sample = "execution";

struct launch_case {
  std::string measure;
  wait_unit_name unit = wait_unit_names[0];
  uint32_t unit_us = 1;
};

struct launch_setting {
  launch_device& device;
  step_shape shape;
  fusion_counts counts;
};

std::string in_words(const launch_case& one) {
  if (one.measure == null_kernel) return one.measure;
  return fmt::format("{}, {} units of {} us", one.measure, one.unit.name, one.unit_us);
}

double mean_of(const std::vector<double>& values) {
  return summarize(values).mean;
}

/// Launches of null kernels: one, and a queue of them. Empty kernels cannot say that they ran; those that count
/// themselves run in turn with them.
turn_samples time_null_kernels(launch_program& program) {
  const auto both = [&](bool counted) {
    launched_kernel kernel;
    kernel.counted = counted;
    (void)program.run(1, kernel);
    const sequence_times one = program.run(1, kernel);
    const sequence_times all = program.run(queued_launches, kernel);
    return std::tuple(one.total, repeat_difference(all.total, one.total, {1, queued_launches}),
                      all.queued / queued_launches);
  };
  const auto [total, each, host] = both(false);
  const auto [counted_total, counted_each, counted_host] = both(true);
  (void)counted_host;
  return {{total_sample, total},
          {each_sample, each},
          {counted_sample, counted_total},
          {counted_each_sample, counted_each},
          {host_sample, host}};
}

/// Figure 3: a kernel of ten units, once and then five times.
turn_samples time_figure_3(launch_program& program, launched_kernel kernel) {
  kernel.units = figure_units;
  (void)program.run(1, kernel);
  const double one = program.run(1, kernel).total;
  const double all = program.run(figure_launches, kernel).total;
  const double execution = mean_of(program.lengths(figure_launches, kernel));
  const kernel_times times = kernel_times::of_total(repeat_difference(all, one, {1, figure_launches}), execution);
  return {{overhead_sample, times.overhead}, {total_sample, times.total()}, {execution_sample, times.execution}};
}

/// Equation 6, and how long the units are within such kernels.
candidate by_equation_6(const std::shared_ptr<launch_program>& program, launched_kernel kernel,
                        const fusion_counts& counts) {
  const auto carry_out = [program, kernel](uint64_t launches, uint64_t units) {
    launched_kernel of = kernel;
    of.units = static_cast<uint32_t>(units);
    return program->run(static_cast<uint32_t>(launches), of);
  };
  const auto lengths = [program, kernel](uint64_t launches, uint64_t units) {
    launched_kernel of = kernel;
    of.units = static_cast<uint32_t>(units);
    return mean_of(program->lengths(static_cast<uint32_t>(launches), of));
  };
  const auto host = std::make_shared<double>(0);
  candidate made = by_kernel_fusion({[=](uint64_t launches, uint64_t units) {
                                       const sequence_times times = carry_out(launches, units);
                                       if (launches == counts.launches) {
                                         *host = times.queued / static_cast<double>(launches);
                                       }
                                       return times.total;
                                     },
                                     [=] { (void)carry_out(1, counts.units); }},
                                    counts);
  made.run = [=, fused = std::move(made.run)]() -> turn_samples {
    turn_samples samples = fused();
    const double few = lengths(counts.launches, counts.units), many = lengths(counts.units, counts.launches);
    samples.insert(samples.end(), {{host_sample, *host},
                                   {unit_sample, few / static_cast<double>(counts.units)},
                                   {row_unit_sample, many / static_cast<double>(counts.launches)},
                                   {bias_sample, fusion_bias(few, many, counts)}});
    return samples;
  };
  return made;
}

prepared_method prepare(const launch_setting& setting, const launch_case& one, const step_method& method) {
  const auto program = kept_if_stuck(setting.device.prepare(method, setting.shape));
  launched_kernel kernel;
  kernel.unit = one.unit.unit;
  kernel.unit_us = one.unit_us;
  candidate turns;
  if (one.measure == null_kernel) {
    turns.run = [program] { return time_null_kernels(*program); };
  } else if (one.measure == figure_3) {
    turns.run = [program, kernel] { return time_figure_3(*program, kernel); };
  } else {
    turns = by_equation_6(program, kernel, setting.counts);
  }
  return {std::move(turns), [program] { return program->verify(); }};
}

/// Whether a row of equation 6 may be believed, in words, behind what was checked.
void say_whether_long_enough(row& entry) {
  const std::optional<double> unit = value_of(entry, "unit_time"), least = value_of(entry, "least_unit");
  if (!entry.verification || !unit || !least) return;
  *entry.verification +=
      *unit >= *least
          ? fmt::format("; a unit lasts {} us, at least the {} that equation 6 asks for", figure(*unit), figure(*least))
          : fmt::format("; a unit lasts {} us, too short for equation 6: at least {}", figure(*unit), figure(*least));
}

void add_metrics(method_result& result, const launch_case& one, const method_result* traditional, bool keep) {
  auto& metrics = result.entry.metrics;
  const auto add = [&](const char* metric, const char* sample) {
    metrics.emplace_back(metric, result.median_of(sample, us, "us", keep));
  };
  if (result.figures.samples.empty()) return;
  if (one.measure == null_kernel) {
    add("null_kernel_time", total_sample);
    add("queued_time", each_sample);
    add("counted_kernel_time", counted_sample);
    add("counted_queued_time", counted_each_sample);
    add("host_time", host_sample);
    return;
  }
  add("launch_overhead", overhead_sample);
  if (traditional != nullptr) {
    const auto minus = [](double value, double base) { return value - base; };
    metrics.emplace_back("above_traditional", median_metric(by_round(result.figures.of(overhead_sample),
                                                                     traditional->figures.of(overhead_sample), minus),
                                                            us, "us", false));
  }
  if (one.measure == figure_3) {
    add("total_latency", total_sample);
    add("execution_latency", execution_sample);
    return;
  }
  add("unit_time", unit_sample);
  add("unit_time_in_a_row", row_unit_sample);
  add("bias", bias_sample);
  add("host_time", host_sample);
  const double host = summarize(result.figures.of(host_sample)).median;
  metrics.emplace_back("least_unit", plain_metric(least_fusion_unit(host) * us, "us", metrics.back().second.n));
  say_whether_long_enough(result.entry);
}

std::vector<launch_case> cases_of(const experiment_request& request) {
  std::vector<launch_case> cases;
  const auto units = chosen_of(request, "unit", wait_unit_names, &wait_unit_name::name);
  const auto unit_us =
      chosen_numbers(request, "unit_us", request.quick ? std::vector<uint32_t>{5} : std::vector<uint32_t>{1, 2, 5, 10});
  for (const std::string& measure : chosen_words(request, "measure", {null_kernel, fusion, figure_3})) {
    if (measure == null_kernel) {
      cases.push_back({measure});
      continue;
    }
    for (const wait_unit_name& unit : units) {
      if (measure == figure_3) {
        cases.push_back({measure, unit, 1});
        continue;
      }
      for (const int64_t length : unit_us) cases.push_back({measure, unit, static_cast<uint32_t>(length)});
    }
  }
  return cases;
}

step_shape shape_of(const experiment_request& request) {
  return shapes_or(request, {fmt::format("{}x256", request.device.compute_units)}).front();
}

axis_values axes_of(const launch_case& one, const launch_setting& setting) {
  axis_values axes{{"measure", one.measure}, {"shape", to_word(setting.shape)}};
  if (one.measure == null_kernel) return axes;
  axes.emplace_back("unit", one.unit.name);
  axes.emplace_back("unit_us", int64_t{one.unit_us});
  if (one.measure == fusion) axes.emplace_back("launches", static_cast<int64_t>(setting.counts.launches));
  return axes;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const auto device = open_side<launch_device>(request.device);
  const std::vector<step_method> methods = chosen_methods(request, device->methods());
  const launch_setting setting{
      *device, shape_of(request), {static_cast<uint64_t>(chosen_number(request, "launches", 16)), 1}};
  const stop_rule rule = request.quick ? stop_rule{11, 21, 0.02, 0.5, 0.7e9} : stop_rule{31, 101, 0.002, 0.5, 5e9};
  const comparison_setting how{name, request, sink};
  for_each_case(cases_of(request), sink, in_words, [&](const launch_case& one, const auto& progress) {
    const auto prepared = [&](const step_method& method) { return prepare(setting, one, method); };
    auto results = compare_methods(how, methods, prepared, rule, progress);
    const method_result* const traditional = find_ok(results, launch_names::traditional);
    for (method_result& result : results) {
      add_metrics(result, one, traditional, request.keep_samples);
      result.entry.rival = result.method.name != launch_names::checked;
    }
    add_rows(results, axes_of(one, setting), sink);
  });
  add_all(published_rows(paper::zhang_2020, name), sink);
}

/// The overhead by clock spins of the least unit that is long enough; null if there is none.
const row* believed(const measured_rows& measured, const std::string& method) {
  const row* found = nullptr;
  for (const row* entry : measured.rows) {
    const auto has = [&](const char* axis, const char* word) {
      return std::ranges::find(entry->axes, std::pair(std::string(axis), axis_value(std::string(word)))) !=
             entry->axes.end();
    };
    if (entry->method != method || !has("measure", fusion) || !has("unit", "clock")) continue;
    const auto unit = value_of(*entry, "unit_time"), least = value_of(*entry, "least_unit");
    if (!unit || !least || *unit < *least || !value_of(*entry, "launch_overhead")) continue;
    if (found == nullptr || *unit < *value_of(*found, "unit_time")) found = entry;
  }
  return found;
}

std::string answer(const measured_rows& measured) {
  const auto overhead = [&](const char* method) -> std::optional<double> {
    const row* const found = believed(measured, method);
    return found == nullptr ? std::nullopt : value_of(*found, "launch_overhead");
  };
  const auto plain = overhead(launch_names::traditional), cooperative = overhead(launch_names::cooperative);
  const auto node = overhead(launch_names::graph), dependent = overhead(launch_names::dependent_graph);
  if (!plain) return "";
  std::vector<std::string> heads;
  if (cooperative) {
    const std::string both =
        std::abs(*cooperative - *plain) <= 0.1
            ? fmt::format("A launch costs {} us, cooperative or not", figure(*plain))
            : fmt::format("A launch costs {} us, a cooperative one {}", figure(*plain), figure(*cooperative));
    if (node && dependent) {
      heads.push_back(
          fmt::format("{}; in a graph {}, with programmatic launch {}", both, figure(*node), figure(*dependent)));
    }
    heads.push_back(both);
  }
  heads.push_back(fmt::format("A launch costs {} us", figure(*plain)));
  return answer_in(measured, heads);
}

request_check checks() {
  request_check made = check_methods([](const device_description&) { return launch_methods(); });
  made.check = [methods = made.check](const experiment_request& request) {
    (void)cases_of(request);
    (void)shape_of(request);
    methods(request);
  };
  return made;
}

axis one_shape_axis() {
  axis shape = shape_axis("a block of 256 threads for each SM");
  shape.single = true;
  return shape;
}

const register_experiment registered({
    name,
    "what a kernel launch costs besides the kernel, by every way to launch",
    {"Z1", "Z2", "Z3", "Z19"},
    {device_kind::cuda},
    {one_shape_axis(),
     {"measure",
      "null-kernel: an empty kernel, from its launch to the host's knowledge of its end; fusion: the paper's equation "
      "6; figure-3: kernels of ten units",
      0, 0, true, "all"},
     {"unit", "how kernels wait: clock and global-timer spin, nanosleep sleeps for 1 us again and again", 0, 0, true,
      "all"},
     {"unit_us", "microseconds of a unit of equation 6", 1, 1000, false, "1,2,5,10; with --quick 5"},
     {"launches", "launches of one unit each, beside one launch of so many units", 2, 512, false, "16", true},
     {"method", "ways to launch, by name", 0, 0, true, "all"}},
    run,
    checks(),
    case_time{6, 1.2},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::launch_overhead_experiment
