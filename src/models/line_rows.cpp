#include "models/line_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/groups.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {

namespace {

double weight_of(const metric& measured, fit_weights weights) {
  if (weights == fit_weights::even) return 1;
  const double spread = measured.q1 && measured.q3 ? *measured.q3 - *measured.q1 : 0;
  const double error = std::max(spread, 0.01 * std::abs(*measured.value));
  return error > 0 ? 1 / (error * error) : 1;
}

/// A normal distribution's quartiles lie that many standard deviations from its middle.
constexpr double quartile = 0.6745;

metric fitted(double value, const std::optional<double>& deviation, const std::string& unit, uint64_t points) {
  metric figure = plain_metric(value, unit, points);
  figure.stddev = deviation;
  if (deviation) {
    figure.q1 = value - quartile * *deviation;
    figure.median = value;
    figure.q3 = value + quartile * *deviation;
  }
  return figure;
}

}  // namespace

std::vector<method_series> series_of(const std::vector<row>& rows, const std::string& axis, const std::string& metric,
                                     fit_weights weights, fit_rows which) {
  std::vector<method_series> all;
  for (const row& entry : rows) {
    const auto* measured = entry.find_metric(metric);
    const auto x = axis_number(entry.axes, axis);
    const bool checked = which == fit_rows::drawn || entry.verified == true || is_published(entry);
    const bool counts = measured != nullptr && measured->value && x && entry.status == row_status::ok && checked;
    if (!counts && which == fit_rows::checked) continue;
    auto series = std::ranges::find(all, entry.method, [](const method_series& one) { return one.like.method; });
    if (series == all.end()) series = all.insert(all.end(), {entry, {}});
    if (counts) series->points.push_back({static_cast<double>(*x), *measured->value, weight_of(*measured, weights)});
  }
  for (method_series& series : all) std::ranges::stable_sort(series.points, {}, &fit_point::x);
  return all;
}

row row_like(const row& like) {
  row entry;
  entry.experiment = like.experiment;
  entry.items = like.items;
  entry.device = like.device;
  entry.method = like.method;
  entry.kind = like.kind;
  entry.ordered = like.ordered;
  entry.rival = like.rival;
  return entry;
}

row line_row(const method_series& series, const line_names& names) {
  row entry = row_like(series.like);
  for (const auto& each : series.like.axes) {
    if (each.first != names.axis) entry.axes.push_back(each);
  }
  entry.axes.emplace_back("fit", names.fit);
  const auto line = fit_line(series.points);
  if (!line) {
    entry.metrics = {{names.slope, empty_metric(names.slope_unit)}};
    entry.status = row_status::skipped;
    entry.reason = fmt::format("A line needs two different numbers of {}; {} was measured.", names.axis,
                               series.points.empty() ? "none" : "one");
    return entry;
  }
  const auto scaled_error = line->slope_error ? std::optional(*line->slope_error * names.scale) : std::nullopt;
  entry.metrics = {{names.slope, fitted(line->slope * names.scale, scaled_error, names.slope_unit, line->points)},
                   {"intercept", fitted(line->intercept, line->intercept_error, names.unit, line->points)},
                   {"r_squared", plain_metric(line->r_squared, "1", line->points)},
                   {"at_largest", plain_metric(series.points.back().y, names.unit, 1)}};
  return entry;
}

std::vector<curve_point> curve_of(const method_series& series) {
  std::vector<curve_point> curve;
  for (const fit_point& point : series.points) curve.push_back({point.x, point.y});
  return curve;
}

}  // namespace gpusync::tool
