#include "experiments/step_contest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "measure/interleaved.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

/// One method on one shape, from its preparation to its row.
struct contestant {
  step_method method;
  std::unique_ptr<step_program> program;  // empty if it could not be prepared
  std::string reason;                     // why not
};

std::string sentence_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& failure) {
    return failure.what();
  } catch (...) {
    return "An unknown failure.";
  }
}

/// Whether the device would not start it, as opposed to something going wrong.
bool refused(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const not_co_resident&) {
    return true;
  } catch (...) {
    return false;
  }
}

metric step_time(const measured& result, bool keep_samples) {
  const sample_summary summary = result.samples.summary();
  metric time;
  time.unit = "us";
  time.n = summary.n;
  time.stop = std::string(to_string(result.stop));
  if (summary.n == 0) return time;
  constexpr double us = 1e-3;
  time.value = summary.median * us;
  time.q1 = summary.q1 * us;
  time.median = summary.median * us;
  time.q3 = summary.q3 * us;
  time.stddev = result.samples.sigma() * us;
  if (keep_samples) {
    time.samples.emplace();
    for (const double sample : result.samples.differences()) time.samples->push_back(sample * us);
  }
  return time;
}

/// Fills in whether the computed result was right, and what follows from that.
void judge(const contestant& one, const measured& result, row& entry) {
  if (result.failure) {
    entry.status = refused(result.failure) ? row_status::skipped : row_status::failed;
    entry.reason = sentence_of(result.failure);
    return;
  }
  verification found;
  try {
    found = one.program->verify();
  } catch (const error& failure) {
    entry.status = row_status::failed;
    entry.reason = failure.what();
    return;
  }
  if (!found.performed) {
    entry.status = row_status::skipped;
    entry.reason = "Interrupted before it ran.";
    return;
  }
  entry.verified = found.wrong == 0;
  entry.verification = fmt::format("{} words: {}", found.checked, found.how);
  if (found.wrong != 0) {
    entry.status = row_status::failed;
    entry.reason = fmt::format("Wrong results: {} of {} checked words ({:.3g} %){}.", found.wrong, found.checked,
                               100.0 * static_cast<double>(found.wrong) / static_cast<double>(found.checked),
                               one.method.ordered ? "" : "; this method orders no data, so it may read stale words");
  } else if (result.samples.summary().n == 0) {
    entry.status = row_status::skipped;
    entry.reason = "Interrupted before a first sample.";
  } else if (one.method.synchronizes && result.samples.summary().median <= 0) {
    // No boundary takes less than no time: other work on the machine was larger than what was to be measured.
    metric& time = entry.metrics.front().second;
    entry.status = row_status::skipped;
    entry.reason = fmt::format(
        "Not measurable: the longer runs took no longer than the shorter ones (median difference {:.3g} us a step, "
        "quartiles {:.3g} and {:.3g}). Is the machine busy with other work?",
        *time.median, *time.q1, *time.q3);
    time.value = time.q1 = time.median = time.q3 = time.stddev = std::nullopt;
  }
}

std::vector<contestant> prepare(step_workload& workload, const std::vector<step_method>& methods,
                                const step_shape& shape) {
  std::vector<contestant> contestants;
  for (const step_method& method : methods) {
    contestant one{method, nullptr, ""};
    try {
      one.program = workload.prepare(method, shape);
    } catch (const error& refusal) {
      one.reason = refusal.what();
    }
    contestants.push_back(std::move(one));
  }
  return contestants;
}

interleaved_options options(const experiment_request& request, const experiment_sink& sink) {
  interleaved_options options;
  options.interrupted = sink.interrupted;
  if (request.quick) {
    options.stop = {5, 15, 0.02, 0.5, 2e9};
    options.target_run_ns = 3e6;
  } else {
    options.stop = {11, 51, 0.005, 0.5, 8e9};
    options.target_run_ns = 10e6;
  }
  return options;
}

}  // namespace

std::vector<contest_result> step_contest::run(const std::vector<step_method>& methods, const step_shape& shape,
                                              const std::function<void(double)>& progress) {
  progress(0);
  std::vector<contestant> contestants = prepare(workload_, methods, shape);
  std::vector<candidate> candidates;
  for (const contestant& one : contestants) {
    step_program* program = one.program.get();
    if (program == nullptr) continue;
    candidates.push_back({[program](uint64_t steps) { return program->run(steps); }, program->steps_unit()});
  }
  interleaved_options how = options(request_, sink_);
  how.progress = progress;
  const std::vector<measured> results = measure_interleaved(candidates, how);
  double clock = 0;
  try {
    clock = workload_.clock_mhz();
  } catch (const error&) {  // a device that has failed has no clock; its rows say why
  }

  std::vector<contest_result> finished;
  size_t next = 0;
  for (contestant& one : contestants) {
    contest_result result;
    result.method = one.method;
    row& entry = result.entry;
    entry.items = one.method.items;
    entry.device = request_.device.id;
    entry.method = one.method.name;
    if (clock > 0) entry.clock_mhz = clock;
    if (!one.program) {
      entry.status = row_status::skipped;
      entry.reason = one.reason;
      entry.metrics = {{"step_time", metric{}}};
      entry.metrics[0].second.unit = "us";
    } else {
      const measured& times = results[next++];
      entry.metrics = {{"step_time", step_time(times, request_.keep_samples)}};
      judge(one, times, entry);
      for (const double difference : times.samples.differences()) result.samples.push_back(difference * 1e-3);
    }
    one.program.reset();
    // Wrong results are what a method without ordering is measured for; any other failure of it is one.
    result.claims_correctness = one.method.ordered || entry.verified != std::optional<bool>(false);
    finished.push_back(std::move(result));
  }
  return finished;
}

std::vector<step_method> choose_methods(const experiment_request& request, const std::vector<step_method>& all) {
  const auto wanted = request.axes.words.find("method");
  if (wanted == request.axes.words.end()) return all;
  std::vector<step_method> methods;
  for (const std::string& name : wanted->second) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& method) { return method.name == name; });
    if (found == all.end()) {
      std::vector<std::string> names;
      for (const auto& method : all) names.push_back(method.name);
      throw usage_error(fmt::format("Axis method does not take '{}' on {}: it takes {}.", name, request.device.id,
                                    fmt::join(names, ", ")));
    }
    methods.push_back(*found);
  }
  return methods;
}

metric ratio_of(const std::vector<double>& values, const std::vector<double>& base) {
  metric ratio;
  ratio.unit = "1";
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(values.size(), base.size()); ++i) {
    if (base[i] > 0) ratios.push_back(values[i] / base[i]);
  }
  ratio.n = ratios.size();
  if (ratios.empty()) return ratio;
  const sample_summary summary = summarize(ratios);
  ratio.value = ratio.median = summary.median;
  ratio.q1 = summary.q1;
  ratio.q3 = summary.q3;
  ratio.stddev = summary.stddev;
  return ratio;
}

void add_ratio(std::vector<contest_result>& results, const std::string& rival) {
  const auto base = std::find_if(results.begin(), results.end(), [&](const contest_result& result) {
    return result.method.name == rival && result.entry.status == row_status::ok;
  });
  if (base == results.end()) return;
  const std::vector<double> times = base->samples;
  for (contest_result& result : results) {
    if (result.entry.status != row_status::ok) continue;
    result.entry.metrics.emplace_back("step_time_over_" + rival, ratio_of(result.samples, times));
  }
}

}  // namespace gpusync::tool
