#include "experiments/zhang_2020/switch_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "results/text.hpp"

namespace gpusync::tool {

namespace {

constexpr double bytes_of_double = 8;

measured_level level_of(const std::string& name, double at_one, double throughput) {
  return {name, at_one, throughput};
}

/// Adds what one round says of two levels; `latency` is that of the larger one's synchronization, if it is known.
void add_round(switch_figures& figures, const level_curves& from, const level_curves& to, size_t round,
               std::optional<double> latency) {
  const auto &smaller = from.rounds[round], &larger = to.rounds[round];
  const auto smaller_time = time_at_one(smaller), larger_time = time_at_one(larger);
  const auto smaller_slope = slope_of(smaller, from.group.threads), larger_slope = slope_of(larger, to.group.threads);
  if (!smaller_time || !larger_time || !smaller_slope || !larger_slope) return;
  const std::vector<sync_level> levels = levels_of({level_of(from.group.method, *smaller_time, *smaller_slope),
                                                    level_of(to.group.method, *larger_time, *larger_slope)});
  figures.sync.push_back(levels[1].sync);
  switch_point predicted = switch_between(levels[0], levels[1]);
  // The loops are not unrolled: times rise from the one element on at which T was taken, and so the model's sizes
  // begin.
  if (predicted.size) *predicted.size += bytes_of_double;
  if (predicted.size) figures.predicted.push_back(*predicted.size);
  const measured_switch measured = switch_measured(smaller, larger);
  if (measured.crosses()) {
    figures.low.push_back(measured.low());
    figures.high.push_back(measured.high());
    figures.middle.push_back((measured.low() + measured.high()) / 2);
  }
  if (const auto error = prediction_error(predicted, measured)) figures.error.push_back(*error);
  if (!latency) return;
  constexpr double synchronizations = 5;  // table 4
  sync_level by_recipe = levels[1];
  by_recipe.sync = synchronizations * *latency;
  figures.recipe_sync.push_back(by_recipe.sync);
  if (const auto size = switch_between(levels[0], by_recipe).size)
    figures.recipe_predicted.push_back(*size + bytes_of_double);
}

}  // namespace

level_curves curves_of(const summing_group& group, const compared& figures) {
  level_curves curves{group, {}};
  for (const auto& [elements, cycles] : figures.samples) {
    const double bytes = bytes_of_double * std::stod(elements);
    curves.rounds.resize(std::max(curves.rounds.size(), cycles.size()));
    for (size_t round = 0; round < cycles.size(); ++round) curves.rounds[round].push_back({bytes, cycles[round]});
  }
  for (auto& round : curves.rounds) std::ranges::sort(round, {}, &curve_point::x);
  return curves;
}

std::vector<uint32_t> sizes_of_curve(const summing_group& group, uint32_t most) {
  constexpr uint32_t most_rounds = 1024;  // what one thread takes for more is long, and no switch is there
  std::vector<uint32_t> sizes;
  const auto add = [&](uint32_t until, uint32_t step) {
    for (uint32_t size = sizes.empty() ? step : sizes.back() + step; size <= until; size += step) {
      if (size > most || size > most_rounds * group.threads) return;
      sizes.push_back(size);
    }
  };
  add(64, 1);
  add(512, 8);
  add(4096, 32);
  add(24576, 512);
  return sizes;
}

std::vector<uint32_t> sizes_of_proxy(const summing_group& group, uint32_t most) {
  std::vector<uint32_t> sizes;
  for (uint32_t rounds = 4; rounds <= 24; rounds += 2) {
    if (rounds * group.threads <= most) sizes.push_back(rounds * group.threads);
  }
  return sizes;
}

std::optional<double> time_at_one(const std::vector<curve_point>& curve) {
  const auto found = std::ranges::find(curve, bytes_of_double, &curve_point::x);
  return found == curve.end() ? std::nullopt : std::optional(found->y);
}

std::optional<double> slope_of(const std::vector<curve_point>& curve, uint32_t threads) {
  const double round = bytes_of_double * threads;
  return throughput_between(curve, 2 * round, 64 * round);
}

const std::vector<level_pair>& level_pairs() {
  static const std::vector<level_pair> all{{0, 1, true}, {1, 2}, {1, 3, true}, {1, 4},
                                           {1, 5, true}, {3, 4}, {3, 5},       {4, 5}};
  return all;
}

switch_figures figures_of(const level_curves& from, const level_curves& to, const std::vector<double>& latencies) {
  switch_figures figures;
  for (size_t round = 0; round < from.rounds.size() && round < to.rounds.size(); ++round) {
    add_round(figures, from, to, round, round < latencies.size() ? std::optional(latencies[round]) : std::nullopt);
  }
  return figures;
}

std::optional<bool> keeps_promise(const metric& error) {
  if (!error.bounds) return std::nullopt;
  const double most = most_prediction_error;
  if (error.bounds->low >= -most && error.bounds->high <= most) return true;
  if (error.bounds->high < -most || error.bounds->low > most) return false;
  return std::nullopt;
}

void fill_in_switch(row& entry, const switch_figures& figures, bool promised, bool keep_samples) {
  const auto add = [&](const char* name, const std::vector<double>& values, const char* unit) {
    entry.metrics.emplace_back(name, median_metric(values, 1, unit, keep_samples));
  };
  add("switch_point", figures.predicted, "B");
  add("measured_switch_point", figures.middle, "B");
  add("measured_from", figures.low, "B");
  add("measured_until", figures.high, "B");
  add("prediction_error", figures.error, "1");
  add("sync_latency", figures.sync, "cycles");
  add("recipe_sync_latency", figures.recipe_sync, "cycles");
  add("recipe_switch_point", figures.recipe_predicted, "B");
  entry.verification = "the sums of both levels were right";
  if (figures.error.empty()) {
    mark_skipped(entry, figures.middle.empty() ? "The curves do not cross within the sizes that were measured."
                                               : "The model has no switch: the larger level is no faster.");
    return;
  }
  entry.verified = true;
  if (!promised) return;
  const metric& error = *entry.find_metric("prediction_error");
  const std::optional<bool> kept = keeps_promise(error);
  *entry.verification += fmt::format("; the prediction is {:+.0f} % off, and {:.0f} % are promised", 100 * *error.value,
                                     100 * most_prediction_error);
  if (!kept) {
    entry.verified.reset();
    *entry.verification += ": too noisy to say, for the interval reaches across that";
    return;
  }
  mark_verified(entry, *kept,
                fmt::format("The prediction, {}, is {:+.0f} % off what was measured, {}.",
                            short_bytes(*entry.find_metric("switch_point")->value), 100 * *error.value,
                            short_bytes(*entry.find_metric("measured_switch_point")->value)));
}

std::optional<kernel_switch> switch_of_kernels(const std::vector<curve_point>& from, const std::vector<curve_point>& to,
                                               double least) {
  if (from.empty() || to.empty()) return std::nullopt;
  const auto first = [](const std::vector<curve_point>& curve) {
    return *std::ranges::min_element(curve, {}, &curve_point::x);
  };
  if (first(from).x >= least || first(to).x != first(from).x) return std::nullopt;
  kernel_switch found;
  found.measured = switch_measured(from, to);
  constexpr double all = std::numeric_limits<double>::infinity();
  auto smaller = throughput_between(from, least, found.measured.crosses() ? found.measured.high() : all);
  if (!smaller) smaller = throughput_between(from, least, all);
  const auto larger = throughput_between(to, least, all);
  if (!smaller || !larger) return std::nullopt;
  const auto levels = levels_of({level_of("from", first(from).y, *smaller), level_of("to", first(to).y, *larger)});
  found.sync = levels[1].sync;
  found.predicted = switch_between(levels[0], levels[1]);
  return found;
}

void fill_in_switch(row& entry, const std::optional<kernel_switch>& found) {
  if (!found) {
    mark_skipped(entry, "The times do not rise with the size, or not enough sizes were measured.");
    return;
  }
  const auto add = [&](const char* name, std::optional<double> value, const char* unit) {
    entry.metrics.emplace_back(name, value ? plain_metric(*value, unit, 1) : empty_metric(unit));
  };
  const measured_switch& measured = found->measured;
  const bool crosses = measured.crosses();
  add("switch_point", found->predicted.size, "B");
  add("measured_switch_point", crosses ? std::optional((measured.low() + measured.high()) / 2) : std::nullopt, "B");
  add("measured_from", crosses ? std::optional(measured.low()) : std::nullopt, "B");
  add("measured_until", crosses ? std::optional(measured.high()) : std::nullopt, "B");
  add("prediction_error", prediction_error(found->predicted, measured), "1");
  add("sync_latency", found->sync, "us");
  entry.verified = true;
  entry.verification = "every sum was right; nothing is promised of kernels that are no loop";
  if (crosses) return;
  *entry.verification += measured.last_of_smaller ? "; the smaller is the faster at every size that it holds"
                                                  : "; the larger is the faster at every size that both hold";
}

std::string short_bytes(double bytes) {
  return bytes < 1000 ? fmt::format("{:.0f} B", bytes) : figure(bytes / 1000) + " KB";
}

}  // namespace gpusync::tool
