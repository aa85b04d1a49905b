#include "models/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpusync::tool {

cost_estimate sum_of(const std::vector<cost_estimate>& summands) {
  cost_estimate sum{0, 0.0};
  for (const cost_estimate& one : summands) {
    sum.value += one.value;
    sum.sigma = sum.sigma && one.sigma ? std::optional(std::hypot(*sum.sigma, *one.sigma)) : std::nullopt;
  }
  return sum;
}

cost_estimate execution_time(const cost_estimate& launch_and_computation, const cost_estimate& synchronization) {
  return sum_of({launch_and_computation, synchronization});
}

barrier_formulae formulae_of(const measured_programs& programs) {
  barrier_formulae parts;
  parts.atomic_add = {{programs.atomic_add, 1}};
  parts.check = {{programs.unfenced, 1}, {programs.block_barriers, -1}, {programs.atomic_add, -1}};
  parts.block_barriers = {{programs.block_barriers, 1}, {programs.work, -1}};
  parts.fence = {{programs.fenced, 1}, {programs.unfenced, -1}};
  return parts;
}

std::vector<double> by_round(const cost_formula& formula, const program_rounds& rounds) {
  size_t common = formula.empty() ? 0 : std::numeric_limits<size_t>::max();
  for (const cost_term& term : formula) {
    const auto found = rounds.find(term.program);
    common = std::min(common, found == rounds.end() ? 0 : found->second.size());
  }
  std::vector<double> values(common, 0.0);
  for (const cost_term& term : formula) {
    for (size_t round = 0; round < common; ++round) values[round] += term.factor * rounds.at(term.program)[round];
  }
  return values;
}

cost_estimate cost_line::at(double blocks) const {
  cost_estimate cost{constant.value + per_block.value * blocks, std::nullopt};
  if (constant.sigma && per_block.sigma) {
    // The two errors hang together; those of the slope and of the line's height at the mean do not.
    const double slope = *per_block.sigma;
    const double at_mean = *constant.sigma * *constant.sigma - slope * slope * mean_blocks * mean_blocks;
    const double away = slope * (blocks - mean_blocks);
    cost.sigma = std::sqrt(std::max(at_mean, 0.0) + away * away);
  }
  return cost;
}

std::optional<cost_line> fit_cost(const std::vector<fit_point>& points) {
  const auto line = fit_line(points);
  if (!line) return std::nullopt;
  cost_line cost{{line->intercept, line->intercept_error}, {line->slope, line->slope_error}, 0};
  double weights = 0;
  for (const fit_point& point : points) {
    cost.mean_blocks += point.weight * point.x;
    weights += point.weight;
  }
  cost.mean_blocks /= weights;
  return cost;
}

cost_estimate synchronization_time(const std::vector<cost_line>& parts, double blocks) {
  std::vector<cost_estimate> costs;
  costs.reserve(parts.size());
  for (const cost_line& part : parts) costs.push_back(part.at(blocks));
  return sum_of(costs);
}

}  // namespace gpusync::tool
