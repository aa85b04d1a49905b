// Experiment method-check: whether the ways to measure agree with each other (Zhang et al. 2020, items Z20 to Z22):
// Wong's chain against the difference of two repeat counts (Eq 7, with its error by Eq 8), and chains of many lengths.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/zhang_2020/level_rows.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "harness/published.hpp"
#include "measure/statistics.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool::method_check_experiment {

namespace {

constexpr const char* name = "method-check";
constexpr const char *wong = "wong-chain", *by_events = "eq7-events", *by_host = "eq7-host";

const std::vector<std::string> ways{wong, by_events, by_host};
const std::vector<std::string> repeated{"float-add", "syncthreads", "tile-shuffle", "syncwarp"};

std::vector<int64_t> chosen_repeats(const experiment_request& request) {
  const std::vector<int64_t> repeats = chosen_numbers(request, "repeats", {1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
  for (const int64_t each : repeats) {
    if ((each & (each - 1)) != 0) throw usage_error(fmt::format("Axis repeats takes powers of two, not {}.", each));
  }
  return repeats;
}

level_variant find_variant(const levels_device& device, const std::string& method) {
  const std::vector<level_variant> all = device.variants();
  const auto found = std::ranges::find(all, method, &level_variant::method);
  if (found == all.end()) throw invalid_argument("There is no operation " + method + ".");
  return *found;
}

prepared_method prepare_way(levels_device& device, const std::string& way, const experiment_request& request,
                            const std::function<bool()>& interrupted) {
  if (way == wong) return prepare_latency(device, find_variant(device, "float-add"), {});
  const auto program = kept_if_stuck(device.prepare_adds());
  const auto run = [program, events = way == by_events](uint64_t steps) { return program->run(steps, events); };
  repeat_options how;
  how.target_run_ns = request.quick ? 1e6 : 5e6;
  how.interrupted = interrupted;
  return {by_repeat_difference({run, 1}, how), [program] { return program->verify(); }};
}

/// Cycles of an addition by Eq 7, and their error by Eq 8.
metric difference_metric(const method_result& result, bool keep_samples) {
  const double cycles = result.entry.clock_mhz.value_or(0) * 1e-3 / repeated_adds::adds_per_step;
  metric latency = result.median_of(step_sample, cycles, "cycles", keep_samples);
  if (latency.n == 0 || cycles == 0) return empty_metric("cycles");
  latency.stddev = repeat_sigma(result.figures) * cycles;
  latency.run_steps = {static_cast<uint64_t>(result.figures.of(shorter_steps_sample).front()),
                       static_cast<uint64_t>(result.figures.of(longer_steps_sample).front())};
  return latency;
}

/// Compares what a row of Eq 7 says with the chain's.
void judge(row& entry, const row& chain) {
  // A copy: the row gets more metrics below.
  const metric own = entry.metrics.front().second;
  const metric& other = chain.metrics.front().second;
  if (entry.status != row_status::ok || chain.status != row_status::ok || !own.value || !other.value) return;
  const double sigma = own.stddev.value_or(0);
  entry.metrics.emplace_back("difference", plain_metric(*own.value - *other.value, "cycles", own.n));
  entry.metrics.emplace_back("allowed_difference", plain_metric(2 * sigma + 1, "cycles", own.n));
  const std::string compared = fmt::format("{:.3f} cycles by Eq 7, sigma {:.3f} by Eq 8, and {:.3f} by Wong's chain",
                                           *own.value, sigma, *other.value);
  entry.verification = entry.verification ? *entry.verification + "; " + compared : compared;
  if (entry.verified == false) return;
  mark_verified(entry, methods_agree(*other.value, *own.value, sigma),
                compared + " differ by more than two sigma and a cycle.");
}

void check_addition(levels_device& device, counted_levels& code, const comparison_setting& setting,
                    const std::function<void(double)>& progress) {
  const bool keep = setting.request.keep_samples, quick = setting.request.quick;
  std::vector<step_method> all(ways.size());
  for (size_t i = 0; i < ways.size(); ++i) all[i].name = all[i].title = ways[i];
  const auto prepare = [&](const step_method& method) {
    return prepare_way(device, method.name, setting.request, setting.sink.interrupted);
  };
  stop_rule rule = quick ? stop_rule{9, 9, 0, 0, 1e9, 7} : stop_rule{31, 31, 0, 0, 6e9, 7};
  std::vector<method_result> results = compare_methods(setting, all, prepare, rule, progress);
  for (method_result& result : results) {
    const bool is_chain = result.method.name == wong;
    result.entry.kind.reset();
    result.entry.items = {is_chain ? "Z20" : "Z21"};
    result.entry.metrics = {
        {"latency", is_chain ? result.median_of(latency_sample, 1, "cycles", keep) : difference_metric(result, keep)}};
    if (is_chain) {
      code.add_to(result.entry, find_variant(device, "float-add"));
    } else {
      judge(result.entry, results.front().entry);
    }
  }
  add_rows(results, {{"operation", "float-add"}}, setting.sink);
}

/// One operation in a chain of each length; the rows of a comparison's results are by length.
std::vector<method_result> compare_lengths(levels_device& device, const level_variant& variant,
                                           const comparison_setting& setting, const std::vector<int64_t>& repeats,
                                           const std::function<void(double)>& progress) {
  const level_shape shape{variant.group == 0 && variant.is_barrier ? 256u : 32u, 0, 1};
  std::vector<step_method> all;
  for (const int64_t each : repeats) {
    step_method method = method_of(variant);
    method.name = fmt::format("{}", each);
    all.push_back(method);
  }
  std::shared_ptr<level_program> program;
  const auto prepare = [&](const step_method& method) -> prepared_method {
    if (!program) program = kept_if_stuck(device.prepare(variant, shape));
    const auto length = static_cast<uint32_t>(std::stoul(method.name));
    candidate turns;
    turns.run = [program, length, shape]() -> turn_samples {
      return {{latency_sample, slowest_cycles(program->run(length), shape.threads / 32)}};
    };
    return {turns, [program] { return program->verify(); }};
  };
  return compare_methods(setting, all, prepare, rule_for_cycles(setting.request.quick), progress);
}

/// Cycles of each repeat more than in the chain before, round by round.
std::vector<double> differences(const method_result& longer, const method_result& shorter,
                                const repeat_counts& counts) {
  return by_round(longer.figures.of(latency_sample), shorter.figures.of(latency_sample),
                  [&](double more, double fewer) { return repeat_difference(more, fewer, counts); });
}

void check_repeats(levels_device& device, counted_levels& code, const std::string& method,
                   const comparison_setting& setting, const std::function<void(double)>& progress) {
  const bool keep = setting.request.keep_samples;
  const level_variant variant = find_variant(device, method);
  std::vector<int64_t> repeats = chosen_repeats(setting.request);
  std::ranges::sort(repeats);
  std::vector<method_result> results = compare_lengths(device, variant, setting, repeats, progress);
  std::vector<double> latencies;
  for (size_t i = 0; i < results.size(); ++i) {
    row& entry = results[i].entry;
    name_by(entry, variant);
    entry.items = {"Z22"};
    entry.axes = {{"operation", method}, {"repeats", repeats[i]}};
    entry.metrics = {{"cycles_per_repeat",
                      results[i].median_of(latency_sample, 1.0 / static_cast<double>(repeats[i]), "cycles", keep)}};
    if (i == 0 || entry.status != row_status::ok || results[i - 1].entry.status != row_status::ok) continue;
    const repeat_counts counts{static_cast<uint64_t>(repeats[i - 1]), static_cast<uint64_t>(repeats[i])};
    const metric latency = median_metric(differences(results[i], results[i - 1], counts), 1, "cycles", keep);
    entry.metrics.emplace_back("marginal_latency", latency);
    // Of a few operations the readings of the clock are a good part.
    if (latency.value && repeats[i - 1] >= 16) latencies.push_back(*latency.value);
  }
  row summary = new_row(name, setting.request, method, method_kind::barrier);
  name_by(summary, variant);
  summary.items = {"Z22"};
  summary.axes = {{"operation", method}, {"check", "jumps"}};
  if (latencies.size() < 2) {
    mark_skipped(summary, "Jumps need three numbers of repeats from 16 on.");
  } else {
    const auto [least, most] = std::ranges::minmax(latencies);
    summary.metrics = {{"jumps", count_metric(count_jumps(latencies))},
                       {"least_latency", plain_metric(least, "cycles", latencies.size())},
                       {"most_latency", plain_metric(most, "cycles", latencies.size())}};
    summary.verification =
        "a jump: from one number of repeats to the next, from 16 on, each repeat more takes over a "
        "tenth and over a cycle more or less than before";
  }
  code.add_to(summary, variant);
  if (code.is_removed(variant)) {
    const std::string what = "; the compiler has removed the operation, so that these are cycles of what is left of it";
    summary.verification = summary.verification.value_or("") + what;
    for (method_result& result : results) result.entry.verification = result.entry.verification.value_or("") + what;
  }
  add_rows(results, setting.sink);
  setting.sink.add(summary, true);
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const std::shared_ptr<levels_device> device = open_side<levels_device>(request.device, level_sides::checked);
  counted_levels code(*device, device->variants());
  const comparison_setting setting{name, request, sink};
  constexpr const char *machine_code_case = "machine code", *addition = "an addition in two ways";
  std::vector<std::string> cases{machine_code_case, addition};
  const std::vector<std::string> methods = chosen_words(request, "method", repeated);
  cases.insert(cases.end(), methods.begin(), methods.end());
  const auto label = [](const std::string& one) { return one; };
  for_each_case(cases, sink, label, [&](const std::string& one, const auto& progress) {
    if (one == machine_code_case) {
      sink.add(code.summary(name, request), true);
    } else if (one == addition) {
      check_addition(*device, code, setting, progress);
    } else {
      check_repeats(*device, code, one, setting, progress);
    }
  });
  if (!sink.interrupted()) add_all(joined(published_rows(paper::zhang_2020, name)), sink);
}

std::string answer(const measured_rows& measured) {
  const auto find = [&](const std::string& way) {
    return least(measured, "latency", [&](const row& entry) { return entry.method == way; });
  };
  const row *const chain = find(wong), *const events = find(by_events);
  if (chain == nullptr || events == nullptr) return "";
  const std::string chain_cycles = figure(*value_of(*chain, "latency")),
                    event_cycles = figure(*value_of(*events, "latency"));
  return answer_in(measured, {fmt::format("Both methods agree: a float addition takes {} cycles by Wong's chain, {} by "
                                          "Eq 7",
                                          chain_cycles, event_cycles)});
}

const register_experiment registered({
    name,
    "whether Wong's chain and the difference of two repeat counts agree, and hang on the number of repeats",
    {"Z20", "Z21", "Z22"},
    {device_kind::cuda},
    {{"repeats", "operations of a chain: powers of two", 1, 512, false, "1,2,4,8,16,32,64,128,256,512"},
     {"method", "operations in chains of many lengths: float-add, syncthreads, tile-shuffle, syncwarp", 0, 0, true,
      "all"}},
    run,
    {[](const experiment_request& request) {
       (void)chosen_words(request, "method", repeated);
       (void)chosen_repeats(request);
     },
     [](const device_description&) { return repeated; }},
    case_time{8, 1.5},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::method_check_experiment
