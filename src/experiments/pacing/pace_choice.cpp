// Experiment pace-choice: is the automatic choice of a pace ever wrong, and what does it find? Each loop's variant is
// chosen by a few rounds, and what was chosen is measured anew.
#include "pacing/pace_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/pacing/pace_choice_cases.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/rows.hpp"
#include "harness/shapes.hpp"
#include "measure/interruption.hpp"
#include "measure/statistics.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool::pace_choice_experiment {

namespace {

constexpr const char *name = "pace-choice", *summary_name = "all-loops", *over_base = "over_base",
                     *real_gain = "real_gain", *compilers_gain = "compilers_gain", *took_barrier = "took_barrier";
/// Slower than this is a wrong choice: a part of the time.
constexpr double least_loss = 0.01;

axis_values axes_of(const loop_case& one, const experiment_request& request) {
  const paced_problem problem = one.problem(request.device);
  return {{"workload", std::string(one.workload)},
          {"shape", to_word(problem.shape)},
          {"elements", static_cast<int64_t>(problem.elements)},
          {"length", static_cast<int64_t>(problem.length)},
          {"percent", static_cast<int64_t>(problem.percent)},
          {"band", static_cast<int64_t>(problem.band)},
          {"l1", std::string(l1_word(problem.small_l1))}};
}

std::vector<std::string> workloads_of(device_kind kind) {
  std::vector<std::string> words;
  for (const loop_case& one : loop_cases(kind)) {
    if (std::ranges::find(words, one.workload) == words.end()) words.emplace_back(one.workload);
  }
  return words;
}

std::vector<loop_case> cases_of(const experiment_request& request) {
  const std::vector<std::string> workloads = chosen_words(request, "workload", workloads_of(request.device.kind));
  const std::vector<bool> l1 = chosen_l1(request, true);
  std::vector<loop_case> chosen;
  for (const loop_case& one : loop_cases(request.device.kind)) {
    const bool is_wanted = std::ranges::find(workloads, one.workload) != workloads.end();
    if (is_wanted && std::ranges::find(l1, one.small_l1) != l1.end()) chosen.push_back(one);
  }
  return chosen;
}

/// The variants among which there is to choose, and what they are judged by.
std::vector<pace_contender> contenders_of(const std::shared_ptr<paced_program>& program) {
  std::vector<pace_contender> all;
  const std::vector<paced_variant> variants = program->variants();
  for (const paced_variant& each : variants) {
    if (each.role == paced_role::effect || each.role == paced_role::rival) continue;
    try {
      require_comparable(*program, each, variants.front());
    } catch (const invalid_argument&) {  // no choice: it is not the same but for its pace
      continue;
    }
    all.push_back({each.name, each.every, each.role, [program, each] { return program->run(each); }});
  }
  return all;
}

struct rounds_of_stages {
  pace_choice_options choice;
  uint64_t rounds, least_rounds;  ///< of the validation
  double budget_ns;
};

rounds_of_stages stages_of(bool quick) {
  rounds_of_stages made;
  made.choice.look_rounds = quick ? 3 : 7;
  made.choice.rounds = quick ? 9 : 31;
  made.choice.budget_ns = quick ? 0.5e9 : 2.5e9;
  made.rounds = quick ? 10 : 31;
  made.least_rounds = 10;
  made.budget_ns = quick ? 0.4e9 : 2.5e9;
  return made;
}

metric gain_metric(const gain& one, uint64_t rounds) {
  if (rounds == 0) return empty_metric("%");  // no barrier had a chance
  metric made = plain_metric(one.percent, "%", rounds);
  made.bounds = one.between;
  return made;
}

const char* in_words(difference what) {
  switch (what) {
    case difference::faster: return "faster than";
    case difference::slower: return "slower than";
    case difference::same: return "as fast as";
    case difference::unclear: return "perhaps as fast as";
  }
  return "?";
}

double median_ms(const paced_samples& of) {
  return summarize(of.times).median * 1e-6;
}

/// What the fresh rounds say of a choice.
void add_findings(row& entry, const std::vector<paced_samples>& fresh, const pace_choice& made) {
  const pace_judgement found = judge_samples(fresh);
  const paced_samples& chosen = fresh[made.choice];
  const size_t base = fastest_base(fresh, is_barrier(chosen.role) ? chosen.role : paced_role::paced);
  const uint64_t rounds = std::min(chosen.times.size(), fresh[base].times.size());
  metric ratio = plain_metric(1, "1", rounds);
  difference verdict = difference::same;
  if (base != made.choice) {
    const auto by_rounds = ratio_by_rounds(chosen.times, fresh[base].times);
    if (by_rounds) {
      ratio.value = by_rounds->value;
      ratio.bounds = by_rounds->between;
    }
    verdict = judge_ratio(ratio.bounds, least_loss);
  }
  const size_t fastest = found.choice();
  const gain missed = fastest == made.choice ? gain{} : gain_of(fresh[fastest].times, chosen.times, usual_confidence);
  const bool is_real = is_gain(found.barriers);
  // What gains on the plain loop alone, and nothing for certain on what waits for nobody, is the compiler's doing.
  const bool is_compilers = is_gain(found.total) && !(found.barriers.between && found.barriers.between->low > 0);
  entry.metrics = {{"kernel_time", median_metric(chosen.times, 1e-6, "ms", false)},
                   {over_base, ratio},
                   {"gain", gain_metric(made.why.barriers, made.why.rounds)},
                   {"best_gain", gain_metric(found.barriers, found.rounds)},
                   {"best_gain_on_none", gain_metric(found.total, found.rounds)},
                   {"regret", gain_metric(missed, rounds)},
                   {took_barrier, count_metric(is_barrier(chosen.role) ? 1 : 0)},
                   {real_gain, count_metric(is_real ? 1 : 0)},
                   {compilers_gain, count_metric(is_compilers ? 1 : 0)},
                   {"runs", count_metric(made.runs)},
                   {"choice_time", plain_metric(made.seconds, "s", 1)}};
  const std::string against = base == made.choice ? "the fastest of all that wait for nobody"
                                                  : fmt::format("{} {}, {:.4g} ms", in_words(verdict), fresh[base].name,
                                                                median_ms(fresh[base]));
  entry.verification = fmt::format("{}: {:.4g} ms, {}. The fastest barrier is {}, the best of all {}. {}", chosen.name,
                                   median_ms(chosen), against, found.best ? fresh[*found.best].name : "none",
                                   fresh[fastest].name, entry.verification.value_or(""));
}

/// Chooses and validates; false if the user wanted to stop.
bool measure(const loop_case& one, const experiment_request& request, const experiment_sink& sink, row& entry,
             const std::function<void(double, const std::string&)>& progress) {
  try {
    require_not_stuck(request.device.id);
    const auto device = open_side<paced_device>(request.device, one.workload);
    const std::shared_ptr<paced_program> program = kept_if_stuck(device->program(one.problem(request.device)));
    const std::vector<pace_contender> contenders = contenders_of(program);
    rounds_of_stages stages = stages_of(request.quick);
    stages.choice.interrupted = sink.interrupted;
    stages.choice.progress = [&](double fraction) { progress(fraction / 2, "choosing"); };
    const pace_choice made = choose_pace(contenders, stages.choice);
    const pace_turns fresh = time_by_turns(
        contenders, stages.rounds, stages.least_rounds, stages.budget_ns, sink.interrupted,
        [&](double fraction) { progress(0.5 + fraction / 2, "validating " + contenders[made.choice].name); });
    entry.method = contenders[made.choice].name;
    uint64_t checked = 0, wrong = 0;
    for (const paced_variant& each : program->variants()) {
      const verification found = program->verify(each, false);
      checked += found.checked;
      wrong += found.wrong;
    }
    mark_checked(entry, checked, wrong, paced_check);
    entry.clock_mhz = clock_seen(request.device);
    if (made.failure || fresh.failure) {
      mark_thrown(entry, made.failure ? made.failure : fresh.failure);
    } else if (!fresh.samples[made.choice].times.empty()) {
      add_findings(entry, fresh.samples, made);
    }
  } catch (const run_interrupted&) {
    return false;
  } catch (const error&) {
    mark_not_prepared(entry, std::current_exception());
  }
  return true;
}

double figure_of(const row& entry, const char* metric_name) {
  return value_of(entry, metric_name).value_or(0);
}

/// All loops together, as far as they were measured.
row summary_of(const experiment_request& request, const std::vector<row>& loops) {
  row entry = new_row(name, request, summary_name, method_kind::floor);
  entry.kind.reset();
  uint64_t count = 0, slower = 0, real = 0, found = 0, compilers = 0, taken = 0, runs = 0;
  double worst = 0, seconds = 0;
  for (const row& each : loops) {
    if (each.status != row_status::ok || !value_of(each, over_base)) continue;
    ++count;
    const double ratio = figure_of(each, over_base);
    const bool took = figure_of(each, took_barrier) > 0;
    worst = std::max(worst, ratio);
    slower += ratio > 1 + least_loss ? 1 : 0;
    if (figure_of(each, real_gain) > 0) {
      ++real;
      found += took ? 1 : 0;
    }
    if (figure_of(each, compilers_gain) > 0) {
      ++compilers;
      taken += took ? 1 : 0;
    }
    runs += static_cast<uint64_t>(figure_of(each, "runs"));
    seconds += figure_of(each, "choice_time");
  }
  if (count == 0) {
    mark_skipped(entry, "No loop was measured.");
    return entry;
  }
  entry.metrics = {{"loops", count_metric(count)},
                   {"worst_over_base", plain_metric(worst, "1", count)},
                   {"slower_loops", count_metric(slower)},
                   {"real_gains", count_metric(real)},
                   {"real_gains_found", count_metric(found)},
                   {"compilers_gains", count_metric(compilers)},
                   {"compilers_gains_taken", count_metric(taken)},
                   {"runs", count_metric(runs)},
                   {"choice_time", plain_metric(seconds, "s", count)}};
  return entry;
}

std::string label(const loop_case& one) {
  return fmt::format("{}, {}x{}{}, {} x {}, {} %, band {}, L1 {}", one.workload, one.blocks,
                     one.each_unit ? " each unit x" : "", one.threads, one.elements, one.length, one.percent, one.band,
                     l1_word(one.small_l1));
}

void run(const experiment_request& request, const experiment_sink& sink) {
  std::vector<row> loops;
  experiment_sink own = sink;
  if (sink.recall) {
    own.recall = [&](const std::string& what) {
      std::optional<std::vector<row>> known = sink.recall(what);
      if (known) loops.insert(loops.end(), known->begin(), known->end());
      return known;
    };
  }
  for_each_case(cases_of(request), own, label, [&](const loop_case& one, const auto& progress) {
    row entry = new_row(name, request, "none", method_kind::floor);
    entry.kind.reset();  // it is no way to wait
    entry.items = {"L17"};
    entry.axes = axes_of(one, request);
    if (!measure(one, request, sink, entry, progress)) return;
    loops.push_back(entry);
    sink.add(std::move(entry), true);
  });
  if (!sink.interrupted()) sink.add(summary_of(request, loops), true);
}

std::string answer(const measured_rows& measured) {
  for (const row* entry : measured.rows) {
    if (entry->method != summary_name) continue;
    const auto count = [&](const char* metric_name) { return figure_of(*entry, metric_name); };
    const std::string head = fmt::format(
        "Of {} loops {} gain by pacing, {} found; {} of {} gains of the compiler's taken; worst {} of the time "
        "without",
        count("loops"), count("real_gains"), count("real_gains_found"), count("compilers_gains_taken"),
        count("compilers_gains"), figure(count("worst_over_base")));
    return answer_in(measured, {head});
  }
  return "";
}

const register_experiment registered({
    name,
    "does the automatic choice of a loop's pace find what gains, and never take what does not?",
    {"L17"},
    {device_kind::cuda, device_kind::host},
    {{"workload", "loops by name", 0, 0, true, "all"},
     {"l1", "large: as much as can be of what L1 and shared memory share is L1; small: as little", 0, 0, true,
      "large,small"}},
    run,
    {[](const experiment_request& request) { (void)cases_of(request); }},
    case_time{8, 6},  // where the host is slow at making and checking its tables
    answer,
});

}  // namespace

}  // namespace gpusync::tool::pace_choice_experiment
