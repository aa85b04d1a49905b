#include "experiments/feng_xiao_2010/application.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include <gpusync/core/error.hpp>
#include "models/fits.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

/// Adds the improvement over a launch for each step, by round and in percent: 100 (T_launch - T) / T_launch, as the
/// paper has it.
void add_improvement(std::vector<method_result>& results, const std::string& launch) {
  const method_result* base = find_ok(results, launch);
  if (base == nullptr) return;
  for (method_result& result : results) {
    const std::vector<double>& times = result.figures.of(run_sample);
    if (&result == base || times.empty() || !has_usable_times(result.entry)) continue;
    const auto percent = by_round(times, base->figures.of(run_sample),
                                  [](double time, double other) { return 100 * (1 - time / other); });
    result.entry.metrics.emplace_back("improvement_over_" + launch, median_metric(percent, 1, "%", false));
  }
}

void add_rate(row& entry, const application& what) {
  const metric* time = entry.find_metric("run_time");
  if (what.work <= 0 || !time->value || *time->value <= 0 || !has_usable_times(entry)) return;
  entry.metrics.emplace_back(what.rate, plain_metric(what.work / (*time->value * 1e-3), "1e9/s", time->n));
}

/// The blocks that the user named, or those of the application, or a sweep; ascending.
std::vector<int64_t> blocks_of(const application& what, const experiment_request& request, workload& workload,
                               const std::vector<step_method>& methods, uint32_t threads) {
  std::vector<int64_t> blocks = request.axes.numbers_or("blocks", what.blocks);
  if (blocks.empty()) {
    const auto processors = static_cast<uint32_t>(std::max(1, request.device.compute_units));
    uint64_t most = 0;
    try {
      most = workload.max_co_resident(methods, threads);
    } catch (const error&) {  // a block of that size cannot run: the rows say why
    }
    // The system starts thousands of threads, which only get in each other's way.
    if (request.device.kind == device_kind::host) most = std::min<uint64_t>(most, 2 * processors);
    blocks = blocks_up_to(std::min<uint64_t>(most, 65535), processors, request.quick);
    if (blocks.empty()) blocks = {1};  // not even that fits: the rows say why
  }
  std::ranges::sort(blocks);
  return blocks;
}

/// Measures one shape; returns its rows after it has handed them over.
std::vector<row> run_shape(const application& what, workload& workload, const std::vector<step_method>& methods,
                           const step_shape& shape, const experiment_request& request, const experiment_sink& sink,
                           const std::function<void(double)>& progress) {
  auto results = compare_runs(workload, {what.experiment, request, sink, what.items}, methods, shape,
                              rule_for_runs(request.quick), progress);
  if (what.work > 0) {
    // Whether it is measured or not.
    add_improvement(results, launch_for_each_step(workload.methods(), &step_method::name));
    add_ratios(results, "run_time", run_sample, {"relaunch", "graph", "cg"});
  }
  auto axes = what.axes;
  axes.emplace_back("blocks", int64_t{shape.blocks});
  axes.emplace_back("threads", int64_t{shape.threads});
  for (method_result& result : results) {
    add_rate(result.entry, what);
    // Without work it says nothing of ways to pass from step to step.
    if (what.work <= 0) result.entry.metrics.front().first = "empty_run_time";
  }
  return add_rows(results, axes, sink);
}

}  // namespace

std::vector<axis> application_axes() {
  return {{"blocks", "blocks (work-groups) in the grid", 1, 65535, false, "a sweep from 1 to all that run at once"},
          {"threads", "threads (work-items) in a block", 1, 1024, false,
           fmt::format("{} on CUDA, {} on OpenCL, {} on the host", threads_by_default(device_kind::cuda),
                       threads_by_default(device_kind::opencl), threads_by_default(device_kind::host))},
          {"method", "ways to pass from step to step, by name", 0, 0, true, "all that the device has"}};
}

const char* form_word(kept_form form) {
  switch (form) {
    case kept_form::memory: return "memory";
    case kept_form::registers: return "registers";
    case kept_form::pipeline: return "pipeline";
  }
  return "?";
}

std::vector<kept_form> chosen_forms(const experiment_request& request, const application_device& device,
                                    kept_form by_default) {
  std::vector<kept_form> there{kept_form::memory, kept_form::registers, kept_form::pipeline};
  std::erase_if(there, [&](kept_form form) { return !device.has(form); });
  return chosen_of(request, "form", there, form_word, {form_word(by_default)});
}

std::string sizes_in_words(int64_t (*size)(bool gpu, bool quick)) {
  return fmt::format("{} on CUDA, {} elsewhere; with --quick {} and {}", size(true, false), size(false, false),
                     size(true, true), size(false, true));
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
  const auto workload = kept_if_stuck(what.open());
  const std::vector<step_method> methods = chosen_methods(request, workload->methods(), [&](const step_method& method) {
    return what.methods.empty() || std::ranges::find(what.methods, method.name) != what.methods.end();
  });
  const std::vector<int64_t> sizes =
      request.axes.numbers_or("threads", {what.threads != 0 ? what.threads : threads_by_default(request.device.kind)});
  for (size_t size = 0; size < sizes.size(); ++size) {
    const auto threads = static_cast<uint32_t>(sizes[size]);
    const std::vector<int64_t> blocks = blocks_of(what, request, *workload, methods, threads);
    std::vector<row> rows;
    for (size_t i = 0; i < blocks.size() && !sink.interrupted(); ++i) {
      const step_shape shape{static_cast<uint32_t>(blocks[i]), threads, false};
      const auto part = part_of(progress, size * blocks.size() + i, sizes.size() * blocks.size());
      const auto report = [&](double fraction) {
        part(fraction, fmt::format("{} blocks of {} threads", shape.blocks, threads));
      };
      std::ranges::move(run_shape(what, *workload, methods, shape, request, sink, report), std::back_inserter(rows));
    }
    if (!sink.interrupted()) add_all(fits_of(rows), sink);
  }
}

}  // namespace gpusync::tool
