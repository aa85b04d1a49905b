#include "models/switch_point.hpp"

#include <algorithm>

#include "models/line_fit.hpp"

namespace gpusync::tool {

namespace {

/// What remains of a size behind the first elements, whose latency hides them.
double exposed(const sync_level& level, double size) {
  return std::max(0.0, size - concurrency_of(level)) / level.throughput;
}

}  // namespace

double concurrency_of(const sync_level& level) {
  return level.latency * level.throughput;
}

double time_of_basic(const sync_level& basic, double size) {
  return basic.latency + exposed(basic, size);
}

double time_of_more(const sync_level& basic, const sync_level& more, double size) {
  return basic.latency + more.sync + exposed(more, size);
}

switch_point switch_between(const sync_level& basic, const sync_level& more) {
  switch_point found{basic.name, more.name, switch_regime::never, std::nullopt};
  if (more.sync <= 0) {
    found.regime = switch_regime::at_once;
    found.size = 0;
    return found;
  }
  const double within = (basic.latency + more.sync) * basic.throughput;  // equation 4
  if (within <= concurrency_of(more)) {
    found.regime = switch_regime::within_concurrency;
    found.size = within;
  } else if (more.throughput > basic.throughput) {
    // Equation 5, and what the latencies of the two loops differ by.
    const double beyond = more.sync + basic.latency - more.latency;
    found.regime = switch_regime::beyond_concurrency;
    found.size = beyond * more.throughput * basic.throughput / (more.throughput - basic.throughput);
  }
  return found;
}

std::vector<switch_point> switch_points(const std::vector<sync_level>& levels) {
  std::vector<switch_point> all;
  for (size_t i = 1; i < levels.size(); ++i) all.push_back(switch_between(levels[i - 1], levels[i]));
  return all;
}

std::vector<sync_level> levels_of(const std::vector<measured_level>& measured) {
  std::vector<sync_level> levels;
  double before = 0;
  for (const measured_level& one : measured) {
    levels.push_back({one.name, 0, one.throughput, levels.empty() ? 0 : one.at_one - before});
    before = one.at_one;
  }
  return levels;
}

std::optional<double> throughput_between(const std::vector<curve_point>& curve, double from, double until) {
  std::vector<fit_point> points;
  for (const curve_point& point : curve) {
    if (point.x >= from && point.x <= until) points.push_back({point.x, point.y});
  }
  const std::optional<line_fit> line = fit_line(points);
  if (!line || line->slope <= 0) return std::nullopt;
  return 1 / line->slope;
}

double measured_switch::low() const {
  return std::min(*first_of_larger, *last_of_smaller);
}

double measured_switch::high() const {
  return std::max(*first_of_larger, *last_of_smaller);
}

measured_switch switch_measured(const std::vector<curve_point>& smaller, const std::vector<curve_point>& larger) {
  measured_switch found;
  for (const curve_point& one : smaller) {
    for (const curve_point& other : larger) {
      if (other.x != one.x) continue;
      if (other.y < one.y) {
        found.first_of_larger = std::min(found.first_of_larger.value_or(one.x), one.x);
      } else {
        found.last_of_smaller = std::max(found.last_of_smaller.value_or(one.x), one.x);
      }
    }
  }
  return found;
}

std::optional<double> prediction_error(const switch_point& predicted, const measured_switch& measured) {
  if (!predicted.size || !measured.crosses()) return std::nullopt;
  const double middle = (measured.low() + measured.high()) / 2;
  return middle > 0 ? std::optional(*predicted.size / middle - 1) : std::nullopt;
}

}  // namespace gpusync::tool
