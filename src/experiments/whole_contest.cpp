#include "experiments/whole_contest.hpp"

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
  std::unique_ptr<whole_program> program;
  std::exception_ptr thrown;  // why it could not be prepared, or what ended it
  stop_reason stop = stop_reason::running;
  std::vector<double> times;  // ms

  bool active() const { return program != nullptr && !thrown && stop == stop_reason::running; }

  void run(bool counts) {
    try {
      const double elapsed = program->run();
      if (counts) times.push_back(elapsed * 1e-6);
    } catch (const run_interrupted&) {
      stop = stop_reason::interrupted;
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
  } else if (one.times.empty()) {
    entry.status = row_status::skipped;
    entry.reason = "Interrupted before a first sample.";
  }
  for (const auto& [name, value] : one.program->found()) {
    metric figure;
    figure.value = value;
    figure.unit = "1";
    figure.n = value ? 1 : 0;
    entry.metrics.emplace_back(name, figure);
  }
}

whole_outcome outcome_of(contestant& one, const step_method& method, const experiment_request& request) {
  whole_outcome outcome;
  outcome.method = method;
  row& entry = outcome.entry;
  entry.device = request.device.id;
  entry.method = method.name;
  entry.items = method.items;
  metric time = mean_metric(one.times, 1, "ms", request.keep_samples);
  time.value = time.median;
  if (one.stop != stop_reason::running) time.stop = std::string(to_string(one.stop));
  entry.metrics = {{"run_time", time}};
  judge(one, method, entry);
  outcome.samples = std::move(one.times);
  // Wrong results are what a method without ordering is measured for; any other failure of it is one.
  outcome.claims_correctness = method.ordered || entry.verified != std::optional<bool>(false);
  return outcome;
}

}  // namespace

whole_rounds rounds_for(bool quick) {
  whole_rounds rounds;
  if (quick) {
    rounds.least = 1;
    rounds.most = 5;
    rounds.relative_spread = 0.05;
    rounds.budget_ns = 0.5e9;
  }
  return rounds;
}

std::vector<whole_outcome> run_whole_contest(whole_workload& workload, const experiment_request& request,
                                             const experiment_sink& sink, const std::vector<step_method>& methods,
                                             const step_shape& shape, const whole_rounds& rounds,
                                             const std::function<void(double)>& progress) {
  progress(0);
  std::vector<contestant> contestants(methods.size());
  for (size_t i = 0; i < methods.size(); ++i) {
    if (sink.interrupted()) break;
    try {
      contestants[i].program = workload.prepare(methods[i], shape);
      contestants[i].program->end_when(sink.interrupted);
    } catch (const error&) {
      contestants[i].thrown = std::current_exception();
    }
  }
  for (contestant& one : contestants) {
    if (one.active() && !sink.interrupted()) one.run(false);
  }
  const stop_rule rule{rounds.least, rounds.most, rounds.relative_spread, 0, rounds.budget_ns};
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
      one.run(true);
      if (!one.active()) continue;
      one.stop = rule.judge(summarize(one.times), clock.nanoseconds());
      if (one.stop == stop_reason::time && one.times.size() < rounds.least) one.stop = stop_reason::running;
      any = any || one.active();
    }
    progress(std::min(1.0, std::max(static_cast<double>(round + 1) / static_cast<double>(rounds.most),
                                    clock.nanoseconds() / rounds.budget_ns)));
  }
  std::vector<whole_outcome> outcomes;
  for (size_t i = 0; i < methods.size(); ++i) {
    if (!contestants[i].program && !contestants[i].thrown) continue;  // interrupted before it could be prepared
    outcomes.push_back(outcome_of(contestants[i], methods[i], request));
  }
  return outcomes;
}

void add_ratio(std::vector<whole_outcome>& outcomes, const std::string& rival) {
  const auto base = std::find_if(outcomes.begin(), outcomes.end(), [&](const whole_outcome& outcome) {
    return outcome.method.name == rival && outcome.entry.status == row_status::ok;
  });
  if (base == outcomes.end()) return;
  const std::vector<double> times = base->samples;
  for (whole_outcome& outcome : outcomes) {
    if (outcome.entry.status != row_status::ok) continue;
    outcome.entry.metrics.emplace_back("run_time_over_" + rival, ratio_of(outcome.samples, times));
  }
}

}  // namespace gpusync::tool
