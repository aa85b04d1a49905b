// The equations of Shen 2013 as lines through rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "models/crossing.hpp"
#include "models/line_rows.hpp"
#include "models/opencl_places.hpp"
#include "models/recipes.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {

namespace {

std::function<std::optional<double>(const row&)> value_named(const char* metric) {
  return [metric](const row& entry) { return value_of(entry, metric); };
}

/// The line of verified measurements takes part in the verdict like any step time.
void judge(const method_series& series, row& entry) {
  if (entry.status != row_status::ok || is_published(entry)) return;
  entry.verified = true;
  entry.verification = fmt::format("a line through {} figures, each of them verified", series.points.size());
  metric& step = entry.metrics.front().second;
  if (*step.value > 0) return;
  entry.status = row_status::skipped;
  entry.reason = fmt::format(
      "Not measurable: more iterations took no longer ({:.3g} us a step). Is the machine busy with other work?",
      *step.value);
  step.value = step.q1 = step.median = step.q3 = step.stddev = std::nullopt;
}

/// The step less the work alone.
void add_synchronization_time(std::vector<row>& fits) {
  const auto floor = std::ranges::find_if(fits, is_floor);
  if (floor == fits.end() || !value_of(*floor, "step_time")) return;
  const double alone = *value_of(*floor, "step_time");
  for (row& entry : fits) {
    const auto step = value_of(entry, "step_time");
    if (!step || is_floor(entry)) continue;
    entry.metrics.emplace_back("synchronization_time",
                               plain_metric(*step - alone, "us", entry.metrics.front().second.n));
  }
}

}  // namespace

std::string thesis_method_of(const row& entry) {
  if (is_published(entry)) return method_of(entry);
  if (entry.kind == method_kind::host_wait) return "launch-wait";
  for (const char* name : {"centralized", "decentralized"}) {
    if (is_printed_method(entry.method, name)) return name;
  }
  return "";
}

void add_thesis_places(std::vector<row>& fits, const std::function<std::optional<double>(const row&)>& value) {
  std::vector<row*> three;
  for (row& entry : fits) {
    if (!thesis_method_of(entry).empty() && entry.status == row_status::ok && value(entry)) three.push_back(&entry);
  }
  if (three.size() != 3) return;
  std::ranges::stable_sort(three, {}, [&](const row* entry) { return *value(*entry); });
  for (size_t i = 0; i < three.size(); ++i) {
    three[i]->metrics.emplace_back("place", plain_metric(static_cast<double>(i + 1), "1", 1));
  }
}

std::vector<row> opencl_barrier_fits(const std::vector<row>& rows) {
  std::vector<row> fits;
  for (const method_series& series : series_of(rows, "groups", "device_time", fit_weights::even)) {
    row entry = line_row(series, {"groups", "device_time over groups", "time_per_group", "us", "us"});
    double mean = 0;
    for (const fit_point& point : series.points) mean += point.y / static_cast<double>(series.points.size());
    double squares = 0;
    for (const fit_point& point : series.points) squares += (point.y - mean) * (point.y - mean);
    // Equation 3 is the line, equation 4 a constant: which of them holds shows.
    const double deviation = std::sqrt(squares / static_cast<double>(series.points.size())) / mean;
    entry.metrics.emplace_back("constant", plain_metric(mean, "us", series.points.size()));
    entry.metrics.emplace_back("relative_deviation", plain_metric(deviation, "1", series.points.size()));
    fits.push_back(std::move(entry));
  }
  add_thesis_places(fits, value_named("at_largest"));
  return fits;
}

/// Equation 5, T = N (T1 + Tc + Tcs), and equation 6, T = T1 + N (Tc + Tgs): lines over the iterations N, whose slope
/// is the time of a step.
std::vector<row> opencl_iteration_fits(const std::vector<row>& rows) {
  const fit_weights weights = is_published(rows.front()) ? fit_weights::even : fit_weights::relative;
  const std::vector<method_series> all = series_of(rows, "iterations", "total_time", weights);
  const auto host = std::ranges::find(all, std::string("launch-wait"),
                                      [](const method_series& series) { return thesis_method_of(series.like); });
  std::vector<row> fits;
  for (const method_series& series : all) {
    row entry = line_row(series, {"iterations", "total_time over iterations", "step_time", "us", "ms", 1e3});
    judge(series, entry);
    if (host != all.end() && &series != &*host && !is_floor(series.like)) {
      metric from = plain_metric(0, "iterations", series.points.size());
      from.value = stays_below_from(curve_of(series), curve_of(*host));
      if (from.value) from.value = std::ceil(*from.value);
      entry.metrics.emplace_back("wins_from", from);
    }
    fits.push_back(std::move(entry));
  }
  add_synchronization_time(fits);
  add_thesis_places(fits, value_named("step_time"));
  return fits;
}

std::vector<row> opencl_memory_fits(const std::vector<row>& rows) {
  std::vector<row> fits;
  for (const method_series& series : series_of(rows, "groups", "device_memory", fit_weights::even)) {
    fits.push_back(line_row(series, {"groups", "device_memory over groups", "memory_per_group", "KB", "KB"}));
  }
  add_thesis_places(fits, value_named("at_largest"));
  return fits;
}

}  // namespace gpusync::tool
