#include "results/row_ratio.hpp"

#include <algorithm>
#include <cmath>

#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

/// A quarter of a normal distribution lies this many standard deviations from its middle.
constexpr double quartile_of_normal = 0.6745;

std::optional<paired_ratio> ratio_of_medians(const row& entry, const row& base) {
  const metric& one = *headline_metric(entry);
  const metric& other = *headline_metric(base);
  if (!(*other.value > 0)) return std::nullopt;
  paired_ratio found{*one.value / *other.value, std::nullopt, std::min(one.n, other.n)};
  const std::optional<double> error = headline_error(entry), base_error = headline_error(base);
  if (!error || !base_error) return found;
  const double student = student_quantile(static_cast<double>(found.rounds - 1), (1 - usual_confidence) / 2);
  const double half = student * std::hypot(*error, *base_error);
  if (half < 1) found.between = interval{found.value * (1 - half), found.value / (1 - half)};
  return found;
}

}  // namespace

bool is_line(const row& entry) {
  return std::ranges::any_of(entry.axes, [](const auto& axis) { return axis.first == "fit"; });
}

std::optional<double> headline_error(const row& entry) {
  const metric* measured = headline_metric(entry);
  if (measured == nullptr || measured->n < 2 || !measured->value || !(*measured->value > 0)) return std::nullopt;
  if (is_line(entry)) return measured->stddev ? std::optional(*measured->stddev / *measured->value) : std::nullopt;
  if (!measured->q1 || !measured->q3) return std::nullopt;
  const double deviation = (*measured->q3 - *measured->q1) / (2 * quartile_of_normal);
  // The median of n normal values scatters by sqrt(pi / (2 n)) standard deviations.
  const double scatter = std::sqrt(std::acos(-1.0) / 2 / static_cast<double>(measured->n));
  return scatter * deviation / *measured->value;
}

std::optional<paired_ratio> headline_ratio(const row& entry, const row& base) {
  const metric* one = headline_metric(entry);
  const metric* other = headline_metric(base);
  if (one == nullptr || other == nullptr || !one->value || !other->value) return std::nullopt;
  if (one->samples && other->samples) return ratio_by_rounds(*one->samples, *other->samples);
  return ratio_of_medians(entry, base);
}

}  // namespace gpusync::tool
