#include "experiments/shen_2013/thesis_contest.hpp"

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/step_contest.hpp"
#include "measure/host_timer.hpp"
#include "measure/stop_rule.hpp"

namespace gpusync::tool {

namespace {

/// One method on one shape.
struct contestant {
  std::unique_ptr<thesis_program> program;
  std::exception_ptr thrown;  // why it could not be prepared, or what ended it
  stop_reason stop = stop_reason::running;
  std::vector<double> host_ns, device_ns;

  bool active() const { return program != nullptr && !thrown && stop == stop_reason::running; }

  void run(uint32_t iterations, bool counts) {
    try {
      const run_times times = program->run(iterations);
      if (!counts) return;
      host_ns.push_back(times.host);
      device_ns.push_back(times.device);
    } catch (const error&) {
      thrown = std::current_exception();
    }
  }
};

/// Fills in whether the computed result was right, and what follows from that.
void judge(const contestant& one, const step_method& method, row& entry) {
  if (one.thrown) {
    mark_thrown(entry, one.thrown);
    return;
  }
  const verification found = one.program->verify();
  if (found.performed) mark_checked(entry, found.checked, found.wrong, found.how);
  if (found.wrong != 0) {
    if (!method.ordered) *entry.reason += " This method orders no data, so it may read stale words.";
  } else if (one.host_ns.empty()) {
    entry.status = row_status::skipped;
    entry.reason = "Interrupted before a first sample.";
  }
}

}  // namespace

thesis_contest_options thesis_rounds(bool quick) {
  thesis_contest_options options;
  if (quick) {
    options.min_rounds = 3;
    options.max_rounds = 5;
    options.relative_spread = 0.05;
    options.budget_ns = 0.3e9;
  }
  return options;
}

std::vector<thesis_outcome> run_thesis_contest(thesis_device& device, const experiment_request& request,
                                               const experiment_sink& sink, const std::vector<step_method>& methods,
                                               const thesis_shape& shape, const thesis_contest_options& options,
                                               const std::function<void(double)>& progress) {
  progress(0);
  std::vector<contestant> contestants(methods.size());
  for (size_t i = 0; i < methods.size(); ++i) {
    try {
      contestants[i].program = device.prepare(methods[i], shape.groups, shape.items, options.tight);
    } catch (const error&) {
      contestants[i].thrown = std::current_exception();
    }
  }
  for (contestant& one : contestants) {
    if (!one.active() || sink.interrupted()) continue;
    // First touch and residency are done with after a few iterations; a slow device needs its time for the figures. The
    // host needs some seconds for large shapes, which is no part of the budget either.
    one.run(std::min(shape.iterations, 10u), false);
    one.program->expect(shape.iterations);
  }
  const stop_rule rule{options.min_rounds, options.max_rounds, options.relative_spread, 0, options.budget_ns};
  const host_timer clock;
  bool any = true;
  for (size_t round = 0; any; ++round) {
    any = false;
    for (size_t turn = 0; turn < contestants.size(); ++turn) {
      contestant& one = contestants[(turn + round) % contestants.size()];
      if (!one.active()) continue;
      if (sink.interrupted()) {
        one.stop = stop_reason::interrupted;
        continue;
      }
      one.run(shape.iterations, true);
      if (one.thrown) continue;
      one.stop = rule.judge(summarize(one.host_ns), clock.nanoseconds());
      any = any || one.active();
    }
    progress(std::min(1.0, std::max(static_cast<double>(round + 1) / static_cast<double>(options.max_rounds),
                                    clock.nanoseconds() / options.budget_ns)));
  }

  std::vector<thesis_outcome> outcomes;
  for (size_t i = 0; i < methods.size(); ++i) {
    contestant& one = contestants[i];
    thesis_outcome outcome;
    outcome.method = methods[i];
    outcome.entry.device = request.device.id;
    outcome.entry.method = methods[i].name;
    outcome.entry.items = methods[i].items;
    judge(one, methods[i], outcome.entry);
    if (one.program) outcome.memory = one.program->memory();
    outcome.host_ns = std::move(one.host_ns);
    outcome.device_ns = std::move(one.device_ns);
    if (one.stop != stop_reason::running) outcome.stop = std::string(to_string(one.stop));
    // Wrong results are what a method without ordering is measured for; any other failure of it is one.
    outcome.claims_correctness = methods[i].ordered || outcome.entry.verified != std::optional<bool>(false);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<step_method> thesis_methods(const experiment_request& request, const thesis_device& device) {
  std::vector<step_method> methods = choose_methods(request, device.methods());
  if (request.axes.words.count("method") != 0) return methods;
  std::erase_if(methods, [](const step_method& method) {
    return method.needs_co_residency && !method.name.ends_with("-acquire-release");
  });
  return methods;
}

std::vector<int64_t> thesis_items(const experiment_request& request, const thesis_device& device) {
  return request.axes.numbers_or("items", {device.default_items()});
}

std::vector<int64_t> thesis_groups(const experiment_request& request, thesis_device& device,
                                   const std::vector<step_method>& methods, uint32_t items) {
  if (request.axes.numbers.count("groups") != 0) return request.axes.numbers.at("groups");
  const int64_t resident = device.resident(methods, items);
  std::vector<int64_t> groups;
  const auto add = [&](int64_t count) {
    if (count <= resident && (groups.empty() || count > groups.back())) groups.push_back(count);
  };
  add(1);
  if (request.quick) {
    add(10);
    add(70);
  } else {
    // Few run at once on a CPU: there, every number.
    for (int64_t count = 2; count < 10 && resident < 10; ++count) add(count);
    for (int64_t count = 10; count <= 70; count += 10) add(count);
    // So many that a device with more than 1,000 of them still makes some twenty points.
    const int64_t step = std::max<int64_t>(100, resident / 1000 * 100);
    for (int64_t count = step; count <= resident; count += step) add(count);
  }
  add(resident);
  return groups;
}

std::vector<axis> thesis_axes() {
  return {{"groups", "work-groups", 1, 65535, false, "those of the thesis, up to as many as run at once"},
          {"items", "work-items in a work-group", 1, 1024, false, "8 on CPUs, 256 elsewhere"},
          {"method", "ways to wait, by name", 0, 0, true, "all that order data"}};
}

metric thesis_time(const thesis_outcome& outcome, const std::vector<double>& samples, const std::string& unit,
                   bool keep_samples) {
  metric time = mean_metric(samples, unit == "ms" ? 1e-6 : 1e-3, unit, keep_samples);
  time.value = time.median;
  time.stop = outcome.stop;
  return time;
}

}  // namespace gpusync::tool
