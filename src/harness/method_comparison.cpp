#include "harness/method_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include <gpusync/core/error.hpp>
#include "measure/repeat_difference.hpp"

namespace gpusync::tool {

namespace {

/// One method, from its preparation to its row.
struct contender {
  step_method method;
  prepared_method program;
  std::exception_ptr refusal;  // why it could not be prepared
};

std::vector<contender> prepare_all(const std::vector<step_method>& methods,
                                   const std::function<prepared_method(const step_method&)>& prepare,
                                   const comparison_setting& setting) {
  std::vector<contender> all;
  for (const step_method& method : methods) {
    if (setting.sink.interrupted()) break;
    contender& one = all.emplace_back(contender{method, {}, {}});
    try {
      require_not_stuck(setting.request.device.id);
      one.program = prepare(method);
    } catch (const error&) {
      one.refusal = std::current_exception();
    }
  }
  return all;
}

/// Fills in whether the computed result was right, and what follows from that.
void judge(const prepared_method& program, const compared& figures, row& entry) {
  if (figures.failure) {
    mark_thrown(entry, figures.failure);
    return;
  }
  try {
    const verification found = program.verify();
    if (found.performed) mark_checked(entry, found.checked, found.wrong, found.how);
  } catch (const error& failure) {
    entry.status = row_status::failed;
    entry.reason = failure.what();
    return;
  }
  if (entry.status == row_status::ok && figures.samples.empty()) {
    mark_interrupted(entry, "a first sample");
  }
  if (program.finish) program.finish(entry);
}

/// A figure that cannot be told from zero is no time: other work on the machine was larger than what was to be
/// measured. The work alone may be nothing, and then its row stays, without a figure.
void require_growth(row& entry) {
  metric& time = entry.metrics.front().second;
  if (entry.status != row_status::ok || (*time.value > 0 && (!time.bounds || time.bounds->low > 0))) return;
  const std::string why = fmt::format(
      "Not above the noise: longer runs did not take longer for certain (median difference {:.3g} us a step, "
      "quartiles {:.3g} and {:.3g}). Is the machine busy with other work?",
      *time.median, *time.q1, *time.q3);
  if (entry.kind == method_kind::floor) {
    entry.verification = why;
  } else {
    mark_skipped(entry, why);
  }
  time.value = time.median = std::nullopt;
}

}  // namespace

metric method_result::median_of(const std::string& sample, double scale, const std::string& unit,
                                bool keep_samples) const {
  metric median = median_metric(figures.of(sample), scale, unit, keep_samples);
  if (figures.stop != stop_reason::running) median.stop = std::string(to_string(figures.stop));
  return median;
}

std::vector<method_result> compare_methods(const comparison_setting& setting, const std::vector<step_method>& methods,
                                           const std::function<prepared_method(const step_method&)>& prepare,
                                           const stop_rule& rule, const std::function<void(double)>& progress) {
  progress(0);
  std::vector<contender> all = prepare_all(methods, prepare, setting);
  std::vector<candidate> candidates;
  for (const contender& one : all) {
    if (!one.refusal) candidates.push_back(one.program.program);
  }
  std::vector<compared> figures = compare(candidates, {rule, setting.sink.interrupted, progress});
  const std::optional<double> clock = clock_seen(setting.request.device);

  std::vector<method_result> results;
  size_t next = 0;
  for (contender& one : all) {
    method_result& result = results.emplace_back();
    result.method = one.method;
    result.entry = new_row(setting.experiment, setting.request, one.method);
    result.entry.items.insert(result.entry.items.end(), setting.items.begin(), setting.items.end());
    result.entry.clock_mhz = clock;
    if (one.refusal) {
      mark_not_prepared(result.entry, one.refusal);
    } else {
      result.figures = std::move(figures[next++]);
      judge(one.program, result.figures, result.entry);
    }
    // Wrong results are what a method without ordering is measured for; any other failure of it is one.
    result.claims_correctness = one.method.ordered || result.entry.verified != std::optional<bool>(false);
  }
  return results;
}

std::vector<method_result> compare_steps(workload& workload, const comparison_setting& setting,
                                         const std::vector<step_method>& methods, const step_shape& shape,
                                         const std::function<void(double)>& progress) {
  const bool quick = setting.request.quick;
  repeat_options how;
  how.target_run_ns = quick ? 3e6 : 10e6;
  how.interrupted = setting.sink.interrupted;
  const auto prepare = [&](const step_method& method) -> prepared_method {
    const auto program = kept_if_stuck(workload.prepare(method, shape));
    repeat_options own = how;
    own.max_steps = program->most_steps();
    candidate turns =
        by_repeat_difference({[program](uint64_t steps) { return program->run(steps); }, program->steps_unit()}, own);
    turns.run = [program, run = std::move(turns.run)] {
      program->place_anew();
      return run();
    };
    return {std::move(turns), [program] { return program->verify(); }};
  };
  const stop_rule rule = quick ? stop_rule{7, 11, 0.02, 0.5, 2e9} : stop_rule{11, 51, 0.005, 0.5, 8e9};
  std::vector<method_result> results = compare_methods(setting, methods, prepare, rule, progress);
  for (method_result& result : results) {
    constexpr double us = 1e-3;
    metric time = result.median_of(step_sample, us, "us", setting.request.keep_samples);
    if (time.n != 0) {
      time.stddev = repeat_sigma(result.figures) * us;
      time.run_steps = {static_cast<uint64_t>(result.figures.of(shorter_steps_sample).front()),
                        static_cast<uint64_t>(result.figures.of(longer_steps_sample).front())};
    }
    result.entry.metrics = {{"step_time", std::move(time)}};
    require_growth(result.entry);
  }
  return results;
}

stop_rule rule_for_runs(bool quick) {
  return quick ? stop_rule{7, 11, 0.05, 0, 0.5e9, 1} : stop_rule{7, 15, 0.005, 0, 3e9, 3};
}

std::vector<method_result> compare_runs(workload& workload, const comparison_setting& setting,
                                        const std::vector<step_method>& methods, const step_shape& shape,
                                        const stop_rule& rule, const std::function<void(double)>& progress) {
  const auto prepare = [&](const step_method& method) -> prepared_method {
    const auto program = kept_if_stuck(workload.prepare(method, shape));
    program->end_when(setting.sink.interrupted);
    const auto add_findings = [program](row& entry) {
      for (const auto& [name, value] : program->found()) {
        metric figure = empty_metric("1");
        figure.value = value;
        figure.n = value ? 1 : 0;
        entry.metrics.emplace_back(name, figure);
      }
    };
    return {{[program]() -> turn_samples {
              program->place_anew();
              return {{run_sample, program->run() * 1e-6}};
            }},
            [program] { return program->verify(); },
            add_findings};
  };
  std::vector<method_result> results = compare_methods(setting, methods, prepare, rule, progress);
  for (method_result& result : results) {
    metric time = result.median_of(run_sample, 1, "ms", setting.request.keep_samples);
    result.entry.metrics.insert(result.entry.metrics.begin(), {"run_time", std::move(time)});
  }
  return results;
}

const method_result* find_result(const std::vector<method_result>& results, const std::string& method) {
  const auto found = std::ranges::find_if(results, [&](const auto& result) { return result.method.name == method; });
  return found == results.end() ? nullptr : &*found;
}

const method_result* find_ok(const std::vector<method_result>& results, const std::string& method) {
  const method_result* found = find_result(results, method);
  return found != nullptr && found->entry.status == row_status::ok ? found : nullptr;
}

void add_ratios(std::vector<method_result>& results, const std::string& metric_name, const std::string& sample,
                const std::vector<std::string>& rivals) {
  for (const std::string& rival : rivals) {
    const method_result* base = find_ok(results, rival);
    if (base == nullptr) continue;
    for (method_result& result : results) {
      if (result.entry.status != row_status::ok) continue;
      result.entry.metrics.emplace_back(metric_name + "_over_" + rival,
                                        ratio_of(result.figures.of(sample), base->figures.of(sample)));
    }
  }
}

std::vector<row> add_rows(std::vector<method_result>& results, const axis_values& axes, const experiment_sink& sink) {
  for (method_result& result : results) result.entry.axes = axes;
  return add_rows(results, sink);
}

std::vector<row> add_rows(std::vector<method_result>& results, const experiment_sink& sink) {
  std::vector<row> rows;
  for (method_result& result : results) {
    rows.push_back(result.entry);
    sink.add(std::move(result.entry), result.claims_correctness);
  }
  return rows;
}

}  // namespace gpusync::tool
