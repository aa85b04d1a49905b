#include "experiments/shen_2013/thesis_fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "embedded/shen_2013_published_json.hpp"
#include "experiments/grid_barriers/part_rows.hpp"
#include "experiments/published.hpp"
#include "results/groups.hpp"

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

std::vector<thesis_series> thesis_series_of(const std::vector<row>& rows, const std::string& axis,
                                            const std::string& metric, fit_weights weights) {
  std::vector<thesis_series> all;
  for (const row& entry : rows) {
    const auto* measured = entry.find_metric(metric);
    const auto x = axis_number(entry.axes, axis);
    if (measured == nullptr || !measured->value || !x || entry.status != row_status::ok) continue;
    if (entry.verified != true && !is_published(entry)) continue;
    auto series = std::ranges::find(all, entry.method, &thesis_series::method);
    if (series == all.end()) series = all.insert(all.end(), {entry.method, entry.items, {}});
    series->points.push_back({static_cast<double>(*x), *measured->value, weight_of(*measured, weights)});
  }
  for (thesis_series& series : all) std::ranges::stable_sort(series.points, {}, &fit_point::x);
  return all;
}

row thesis_fit_row(const row& like, const thesis_series& series, const std::string& axis, const std::string& fit,
                   const std::string& slope, const std::string& slope_unit, double scale, const std::string& unit) {
  row entry;
  entry.experiment = like.experiment;
  entry.items = series.items;
  entry.device = like.device;
  for (const auto& each : like.axes) {
    if (each.first != axis) entry.axes.push_back(each);
  }
  entry.axes.emplace_back("fit", fit);
  entry.method = series.method;
  const auto line = fit_line(series.points);
  if (!line) {
    entry.metrics = {{slope, metric{}}};
    entry.metrics[0].second.unit = slope_unit;
    entry.status = row_status::skipped;
    entry.reason = fmt::format("A line needs two different numbers of {}; {} was measured.", axis,
                               series.points.empty() ? "none" : "one");
    return entry;
  }
  const auto scaled_error = line->slope_error ? std::optional(*line->slope_error * scale) : std::nullopt;
  entry.metrics = {{slope, fitted(line->slope * scale, scaled_error, slope_unit, line->points)},
                   {"intercept", fitted(line->intercept, line->intercept_error, unit, line->points)},
                   {"r_squared", plain_metric(line->r_squared, "1", line->points)},
                   {"at_largest", plain_metric(series.points.back().y, unit, 1)}};
  return entry;
}

std::string thesis_method_of(const std::string& method) {
  std::string name = method;
  if (name.starts_with(published_method)) {
    name.erase(0, std::string(published_method).size());
  } else if (name.ends_with("-acquire-release")) {
    name.erase(name.size() - std::string("-acquire-release").size());
  }
  return name == "launch-wait" || name == "centralized" || name == "decentralized" ? name : "";
}

void add_thesis_places(std::vector<row>& fits, const std::function<std::optional<double>(const row&)>& value) {
  std::vector<row*> three;
  for (row& entry : fits) {
    if (!thesis_method_of(entry.method).empty() && entry.status == row_status::ok && value(entry)) {
      three.push_back(&entry);
    }
  }
  if (three.size() != 3) return;
  std::ranges::stable_sort(three, {}, [&](const row* entry) { return *value(*entry); });
  for (size_t i = 0; i < three.size(); ++i) {
    three[i]->metrics.emplace_back("place", plain_metric(static_cast<double>(i + 1), "1", 1));
  }
}

std::optional<double> value_of(const row& entry, const std::string& metric) {
  const auto* found = entry.find_metric(metric);
  return found == nullptr ? std::nullopt : found->value;
}

std::vector<curve_point> curve_of(const thesis_series& series) {
  std::vector<curve_point> curve;
  for (const fit_point& point : series.points) curve.push_back({point.x, point.y});
  return curve;
}

const thesis_series* find_series(const std::vector<thesis_series>& all, const std::string& method) {
  const auto found = std::ranges::find(all, method, &thesis_series::method);
  return found == all.end() ? nullptr : &*found;
}

std::vector<row> thesis_published(const std::string& experiment) {
  return published_rows(embedded::shen_2013_published_json, experiment);
}

}  // namespace gpusync::tool
