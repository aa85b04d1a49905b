// Experiment advice: the adviser held against measurement, in random situations that took no part in the fit.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include <gpusync/advice/recorded.hpp>

#include "experiments/advice/measured_situations.hpp"
#include "harness/answers.hpp"
#include "harness/choices.hpp"
#include "measure/statistics.hpp"
#include "results/groups.hpp"
#include "results/json.hpp"
#include "results/metrics.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool::advice_measured {

namespace {

constexpr const char *name = "advice", *files = "from", *adviser = "adviser", *regret_metric = "regret",
                     *near_metric = "near_best", *error_metric = "median_error", *held_metric = "held";
constexpr int64_t default_seed = 2;
/// A recommendation that is so little slower than the best is right.
constexpr double near_best = 0.05;

/// The costs of the document that axis `from` names, or the recorded ones of the device; none if it has none.
std::optional<advice::device_costs> costs_for(const experiment_request& request) {
  if (!has_chosen(request, files)) {
    const advice::device_costs* const recorded = advice::recorded_of(request.device.name);
    return recorded == nullptr ? std::nullopt : std::optional(*recorded);
  }
  const std::string& path = request.axes.words.at(files).front();
  return costs_in(read_document(path), request.device.id, path);
}

double measured_time(const method_result& result) {
  return value_of(result.entry, step_time_metric).value_or(0);
}

/// Puts what was predicted beside what was measured; returns the measured times by name, also of ways whose costs are
/// not known: one of them may be the best.
std::map<std::string, double> compare_with(const advice::answer& predicted, std::vector<method_result>& results) {
  std::map<std::string, double> times;
  for (method_result& result : results) {
    const double measured = measured_time(result);
    if (result.entry.status != row_status::ok || measured <= 0) continue;
    times[result.method.name] = measured;
    for (const advice::prediction& one : predicted.predictions) {
      if (result.method.name != name_of(one.which)) continue;
      metric told = plain_metric(one.us_per_step, "us", 1);
      told.bounds = interval{one.low, one.high};
      result.entry.metrics.emplace_back("predicted", std::move(told));
      result.entry.metrics.emplace_back("error", plain_metric(one.us_per_step / measured - 1, "1", 1));
      result.entry.metrics.emplace_back(held_metric, count_metric(one.low <= measured && measured <= one.high ? 1 : 0));
    }
  }
  return times;
}

row adviser_row(const experiment_request& request) {
  row entry = new_row(name, request, adviser, method_kind::object);
  entry.kind.reset();  // it is no way to wait
  return entry;
}

/// What came of following the adviser in one situation.
row followed(const experiment_request& request, const advice::situation& where, const advice::answer& predicted,
             const std::map<std::string, double>& times) {
  row entry = adviser_row(request);
  entry.axes = axes_of(where);
  const std::string recommended = name_of(predicted.best().which);
  const auto best = std::ranges::min_element(times, {}, [](const auto& one) { return one.second; });
  if (best == times.end() || !times.contains(recommended)) {
    mark_skipped(entry, fmt::format("What was recommended, {}, was not measured.", recommended));
    return entry;
  }
  const double regret = times.at(recommended) / best->second - 1;
  entry.metrics = {{regret_metric, plain_metric(regret, "1", times.size())}};
  entry.verification = fmt::format("recommended {}, best {}, {:.3g} us and {:.3g} us", recommended, best->first,
                                   times.at(recommended), best->second);
  return entry;
}

/// All situations together.
row summary(const experiment_request& request, int64_t seed, const std::vector<row>& rows) {
  row entry = adviser_row(request);
  std::vector<double> regrets, errors;
  size_t near = 0, held = 0;
  for (const row& each : rows) {
    if (const auto regret = value_of(each, regret_metric)) {
      regrets.push_back(*regret);
      near += *regret <= near_best ? 1 : 0;
    }
    if (const auto error = value_of(each, "error")) {
      errors.push_back(std::abs(*error));
      held += value_of(each, held_metric).value_or(0) != 0 ? 1 : 0;
    }
  }
  entry.axes = {{"cases", static_cast<int64_t>(regrets.size())}, {"seed", seed}};
  if (regrets.empty()) {
    mark_skipped(entry, "No recommendation was measured.");
    return entry;
  }
  std::ranges::sort(regrets);
  std::ranges::sort(errors);
  const auto share = [](size_t part, size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); };
  entry.metrics = {{near_metric, plain_metric(share(near, regrets.size()), "1", regrets.size())},
                   {error_metric, plain_metric(quantile(errors, 0.5), "1", errors.size())},
                   {held_metric, plain_metric(share(held, errors.size()), "1", errors.size())},
                   {"worst_regret", plain_metric(regrets.back(), "1", regrets.size())}};
  return entry;
}

void run(const experiment_request& request, const experiment_sink& sink) {
  const std::optional<advice::device_costs> costs = costs_for(request);
  if (!costs) {
    row entry = adviser_row(request);
    mark_skipped(entry, "No costs of this device are recorded: name a document of step-costs by axis from.");
    sink.add(std::move(entry), true);
    return;
  }
  const auto device = open_side<situation_device>(request.device);
  const int64_t seed = chosen_number(request, "seed", default_seed);
  const auto count = static_cast<size_t>(chosen_number(request, "cases", request.quick ? 10 : 200));
  const std::vector<row> rows = rows_of_cases(
      random_situations(static_cast<uint64_t>(seed), count, request.device.kind, device->room()), sink,
      [](const advice::situation& one) { return in_words(one); },
      [&](advice::situation one, const auto& progress) {
        auto results = measure_situation(*device, one, {name, request, sink}, progress);
        const advice::answer predicted = advise(one, *costs);
        const std::map<std::string, double> times = compare_with(predicted, results);
        std::vector<row> all = add_rows(results, axes_of(one), sink);
        all.push_back(followed(request, one, predicted, times));
        sink.add(all.back(), true);
        return all;
      });
  sink.add(summary(request, seed, rows), true);
}

std::string answer(const measured_rows& measured) {
  for (const row* entry : measured.rows) {
    const auto near = value_of(*entry, near_metric), error = value_of(*entry, error_metric);
    const std::optional<int64_t> cases = axis_number(entry->axes, "cases");
    if (!near || !error || !cases) continue;
    return answer_in(measured,
                     {fmt::format("{:.1f} % of {} recommendations within 5 % of the best; predicted times {:.1f} % off",
                                  100 * *near, *cases, 100 * *error)});
  }
  return "";
}

request_check checks() {
  request_check made;
  made.check = [](const experiment_request& request) { (void)costs_for(request); };
  return made;
}

const register_experiment registered({
    name,
    "how far may the adviser be trusted? Its answers beside measurement, in random situations",
    {},
    {device_kind::cuda, device_kind::host},
    {{"cases", "situations", 1, 100000, false, "200, with --quick 10", true},
     {"seed", "of the draws of situations: another one than that of the costs", 0, INT64_MAX, false, "2", true},
     {files, "the document of step-costs that the adviser reads", 0, 0, true, "the costs recorded of the device", true,
      true}},
    run,
    checks(),
    case_time{2, 1},
    answer,
});

}  // namespace

}  // namespace gpusync::tool::advice_measured
