#include "experiments/feng_xiao_2010/application.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "devices/host_memory.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/step_contest.hpp"
#include "models/crossing.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

/// Improvement of time over a method by round, in percent: 100 (T_launch - T) / T_launch, as the paper has it.
metric improvement_over(const std::vector<double>& times, const std::vector<double>& launch) {
  std::vector<double> percent;
  for (size_t i = 0; i < std::min(times.size(), launch.size()); ++i) {
    if (launch[i] > 0) percent.push_back(100 * (1 - times[i] / launch[i]));
  }
  metric improvement = mean_metric(percent, 1, "%", false);
  improvement.value = improvement.median;
  return improvement;
}

/// Whether a method that claims right results had wrong ones, or failed: it has no figures of merit. One that orders
/// nothing has: the paper's figure 1 is made of these.
bool is_broken(const whole_outcome& outcome) {
  return outcome.entry.status != row_status::ok && outcome.claims_correctness;
}

void add_improvement(std::vector<whole_outcome>& outcomes, const std::string& launch) {
  const auto base = std::find_if(outcomes.begin(), outcomes.end(),
                                 [&](const whole_outcome& outcome) { return outcome.method.name == launch; });
  if (base == outcomes.end() || base->entry.status != row_status::ok) return;
  const std::vector<double> times = base->samples;
  for (whole_outcome& outcome : outcomes) {
    if (outcome.method.name == launch || outcome.samples.empty() || is_broken(outcome)) continue;
    outcome.entry.metrics.emplace_back("improvement_over_" + launch, improvement_over(outcome.samples, times));
  }
}

void add_rate(whole_outcome& outcome, const application& what) {
  const metric* time = outcome.entry.find_metric("run_time");
  if (what.work <= 0 || !time->value || *time->value <= 0 || is_broken(outcome)) return;
  outcome.entry.metrics.emplace_back(what.rate, plain_metric(what.work / (*time->value * 1e-3), "1e9/s", time->n));
}

/// Times over the blocks, by method.
struct curve {
  step_method method;
  std::vector<spread_point> points;
};

void add_point(std::vector<curve>& curves, const whole_outcome& outcome, uint32_t blocks) {
  const metric* time = outcome.entry.find_metric("run_time");
  if (!time->value || is_broken(outcome)) return;
  auto found = std::find_if(curves.begin(), curves.end(),
                            [&](const curve& one) { return one.method.name == outcome.method.name; });
  if (found == curves.end()) found = curves.insert(curves.end(), {outcome.method, {}});
  found->points.push_back(
      {static_cast<double>(blocks), time->q1.value_or(*time->value), *time->value, time->q3.value_or(*time->value)});
}

/// "slower at 1 to 8, as fast at 13, faster at 17 to 1056 blocks".
std::string in_words(const std::vector<curve_stretch>& stretches) {
  std::vector<std::string> words;
  for (const auto& [side, first, last] : stretches) {
    const char* how = side == curve_side::below ? "faster" : side == curve_side::above ? "slower" : "as fast";
    words.push_back(first == last ? fmt::format("{} at {}", how, first)
                                  : fmt::format("{} at {} to {}", how, first, last));
  }
  return fmt::format("{} blocks", fmt::join(words, ", "));
}

/// For each barrier, in which range of blocks it is faster than the launches.
void add_crossings(const std::vector<curve>& curves, const std::string& launch, const application& what,
                   const experiment_request& request, int64_t threads, const experiment_sink& sink) {
  const auto base =
      std::find_if(curves.begin(), curves.end(), [&](const curve& one) { return one.method.name == launch; });
  if (base == curves.end() || base->points.size() < 2) return;
  for (const curve& one : curves) {
    const bool keeps_its_kernel = one.method.needs_co_residency && one.method.name != "cooperative-relaunch";
    if (!keeps_its_kernel || one.points.size() < 2) continue;
    row entry;
    entry.experiment = what.experiment;
    entry.items = one.method.items;
    entry.items.emplace_back("F10");
    entry.device = request.device.id;
    entry.axes = what.axes;
    entry.axes.emplace_back("threads", threads);
    entry.axes.emplace_back("fit", "crossing with " + launch);
    entry.method = one.method.name;
    metric until = plain_metric(0, "blocks", one.points.size()), from = until;
    until.value = from.value = std::nullopt;
    const std::vector<range_below> ranges = ranges_below(one.points, base->points);
    const auto widest = std::max_element(ranges.begin(), ranges.end(),
                                         [](const auto& a, const auto& b) { return a.points < b.points; });
    if (widest != ranges.end()) {
      until.value = widest->until;
      from.value = widest->from;
    }
    entry.metrics = {{"faster_until", until}, {"faster_from", from}};
    const char* meaning = ranges.empty()      ? "no value, for it is faster nowhere: "
                          : ranges.size() > 1 ? "the range with most of the measured points: "
                                              : "";
    entry.verification = fmt::format(
        "{}{} (\"as fast\": the quartiles overlap); drawn from figures for {} numbers of blocks, each checked in its "
        "run",
        meaning, in_words(stretches_of(one.points, base->points)), one.points.size());
    sink.add(std::move(entry), true);
  }
}

}  // namespace

std::vector<axis> application_axes() {
  return {{"blocks", "blocks (work-groups) in the grid", 1, 65535, false, "a sweep from 1 to all that run at once"},
          {"threads", "threads (work-items) in a block", 1, 1024, false,
           fmt::format("{} on CUDA, {} on OpenCL, {} on the host", threads_by_default(device_kind::cuda),
                       threads_by_default(device_kind::opencl), threads_by_default(device_kind::host))},
          {"method", "ways to pass from step to step, by name", 0, 0, true, "all that the device has"}};
}

int64_t threads_by_default(device_kind kind) {
  return kind == device_kind::cuda ? 256 : kind == device_kind::opencl ? 64 : 1;
}

std::vector<std::string> words_or(const experiment_request& request, const std::string& axis,
                                  const std::vector<std::string>& allowed, const std::vector<std::string>& defaults) {
  const auto found = request.axes.words.find(axis);
  if (found == request.axes.words.end()) return defaults;
  for (const std::string& word : found->second) {
    if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) continue;
    throw usage_error(fmt::format("Axis {} does not take '{}' on {}: it takes {}.", axis, word, request.device.id,
                                  fmt::join(allowed, ", ")));
  }
  return found->second;
}

void require_memory(const room_needed& needed, const experiment_request& request) {
  const auto check = [&](uint64_t bytes, uint64_t there, const std::string& where, const char* has) {
    if (there == 0 || bytes <= there) return;
    throw usage_error(fmt::format("{} takes {} MiB {}, which has {}{} MiB: {}.", needed.what,
                                  (bytes + (1u << 20) - 1) >> 20, where, has, there >> 20, needed.less));
  };
  const std::string& name = request.device.name;
  check(needed.device, needed.device_has, "of the memory of " + name, "");
  check(needed.buffer, needed.buffer_has, "in one buffer on " + name, "at most ");
  check(needed.host, available_host_memory(), "of the host's memory", "no more than ");
}

std::string launch_for_each_step(const std::vector<step_method>& all) {
  const bool queued =
      std::any_of(all.begin(), all.end(), [](const step_method& method) { return method.name == "relaunch"; });
  return queued ? "relaunch" : "launch-wait";
}

std::vector<step_method> application_methods(const experiment_request& request, const std::vector<step_method>& all,
                                             const std::vector<std::string>& defaults) {
  std::vector<step_method> methods = choose_methods(request, all);
  if (request.axes.words.count("method") != 0 || defaults.empty()) return methods;
  std::erase_if(methods, [&](const step_method& method) {
    return std::find(defaults.begin(), defaults.end(), method.name) == defaults.end();
  });
  return methods;
}

std::vector<int64_t> blocks_up_to(uint64_t most, uint32_t processors, bool quick) {
  const auto last = static_cast<int64_t>(most);
  const auto all = static_cast<int64_t>(std::max(1u, processors));
  std::vector<int64_t> wanted;
  if (quick) {
    wanted = {1, all};
  } else {
    wanted = {1, 2, 4, 8, 13, 17, 19, 24, 30, all / 3, all / 2, all, 2 * all, 4 * all, last};
    for (int64_t few = 1; all <= 8 && few <= all; ++few) wanted.push_back(few);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::erase_if(wanted, [last](int64_t blocks) { return blocks < 1 || blocks > last; });
  return wanted;
}

void run_application(const application& what, const experiment_request& request, const experiment_sink& sink,
                     const std::function<void(double, const std::string&)>& progress) {
  progress(0, "prepared");
  const auto workload = what.open();
  const std::vector<step_method> methods = application_methods(request, workload->methods(), what.methods);
  const std::string launch = launch_for_each_step(workload->methods());
  const std::vector<int64_t> sizes = request.axes.numbers_or("threads", what.threads);
  for (size_t size = 0; size < sizes.size(); ++size) {
    const auto threads = static_cast<uint32_t>(sizes[size]);
    std::vector<int64_t> blocks = request.axes.numbers_or("blocks", what.blocks);
    if (blocks.empty()) {
      const auto processors = static_cast<uint32_t>(std::max(1, request.device.compute_units));
      uint64_t most = 0;
      try {
        most = workload->max_co_resident(methods, threads);
      } catch (const error&) {  // a block of that size cannot run: the rows say why
      }
      // The system starts thousands of threads, which only get in each other's way.
      if (request.device.kind == device_kind::host) most = std::min<uint64_t>(most, 2 * processors);
      blocks = blocks_up_to(std::min<uint64_t>(most, 65535), processors, request.quick);
      if (blocks.empty()) blocks = {1};  // not even that fits: the rows say why
    }
    std::sort(blocks.begin(), blocks.end());
    std::vector<curve> curves;
    for (size_t i = 0; i < blocks.size() && !sink.interrupted(); ++i) {
      step_shape shape;
      shape.blocks = static_cast<uint32_t>(blocks[i]);
      shape.threads = threads;
      auto outcomes =
          run_whole_contest(*workload, request, sink, methods, shape, rounds_for(request.quick), [&](double fraction) {
            const double done = static_cast<double>(size * blocks.size() + i) + fraction;
            progress(done / static_cast<double>(sizes.size() * blocks.size()),
                     fmt::format("{} blocks of {} threads", shape.blocks, threads));
          });
      if (what.work > 0) {
        add_improvement(outcomes, launch);
        for (const char* rival : {"relaunch", "graph", "cg"}) add_ratio(outcomes, rival);
      }
      double clock = 0;
      try {
        clock = what.clock_mhz();
      } catch (const error&) {  // a device that has failed has no clock; its rows say why
      }
      for (whole_outcome& outcome : outcomes) {
        add_rate(outcome, what);
        row& entry = outcome.entry;
        if (what.work > 0) {
          add_point(curves, outcome, shape.blocks);
        } else {
          entry.metrics.front().first = "empty_run_time";  // says nothing of ways to pass from step to step
        }
        entry.experiment = what.experiment;
        entry.axes = what.axes;
        entry.axes.emplace_back("blocks", int64_t{shape.blocks});
        entry.axes.emplace_back("threads", int64_t{threads});
        if (clock > 0) entry.clock_mhz = clock;
        if (what.finish) what.finish(entry);
        sink.add(std::move(entry), outcome.claims_correctness);
      }
    }
    if (!sink.interrupted()) add_crossings(curves, launch, what, request, sizes[size], sink);
  }
}

}  // namespace gpusync::tool
