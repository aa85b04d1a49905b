#include "models/step_cost_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gpusync/advice/advice.hpp>

#include "measure/statistics.hpp"

namespace gpusync::tool {

namespace {

using advice::device_room;
using advice::term_count;
using advice::term_values;
using advice::way;
using advice::way_costs;

/// An observation as the fit sees it: everything in parts of the measured time.
struct relative_point {
  term_values terms = {};
  double rest = 0;  ///< what the work leaves
  double weight = 1;
};

/// Relative errors beyond count once, not squared.
constexpr double usual_error = 0.1;

/// Weighted least squares with no coefficient below 0, one coordinate after the other.
term_values solve(const std::vector<relative_point>& points) {
  std::array<term_values, term_count> gram{};
  term_values right{};
  for (const relative_point& point : points) {
    for (size_t i = 0; i < term_count; ++i) {
      right[i] += point.weight * point.terms[i] * point.rest;
      for (size_t k = 0; k < term_count; ++k) gram[i][k] += point.weight * point.terms[i] * point.terms[k];
    }
  }
  term_values found{};
  constexpr int most_rounds = 20000;
  for (int round = 0; round < most_rounds; ++round) {
    double moved = 0;
    for (size_t i = 0; i < term_count; ++i) {
      if (gram[i][i] <= 0) continue;
      double rest = right[i];
      for (size_t k = 0; k < term_count; ++k) rest -= k == i ? 0 : gram[i][k] * found[k];
      const double next = std::max(0.0, rest / gram[i][i]);
      moved = std::max(moved, std::abs(next - found[i]) * std::sqrt(gram[i][i]));
      found[i] = next;
    }
    if (moved < 1e-9 * std::sqrt(static_cast<double>(points.size()))) break;
  }
  constexpr double nothing_us = 1e-6;  // what rounding leaves
  for (double& each : found) each = each < nothing_us ? 0 : each;
  return found;
}

double work_in(const step_observation& one, const device_room& room) {
  return is_of_neighbours(one.which) ? work_of_neighbours(one.where)
                                     : work_of_all(one.where, resident_blocks_of(one.where, room));
}

/// Terms that never came to anything in what was measured, as the beginning of endless runs, or a few blocks more than
/// run at once: they are left out, for a fit could give them any coefficient.
std::array<bool, term_count> unseen_terms(const std::vector<step_observation>& observed, const device_room& room) {
  term_values least;
  least.fill(1e-4);
  least[static_cast<size_t>(advice::term::waves)] = 0.5;
  std::array<bool, term_count> unseen;
  unseen.fill(true);
  for (const step_observation& one : observed) {
    const term_values values = terms_of(one.where, one.which, room);
    for (size_t i = 0; i < term_count; ++i) unseen[i] = unseen[i] && values[i] < least[i];
  }
  return unseen;
}

relative_point point_of(const step_observation& one, const device_room& room) {
  relative_point point;
  point.terms = terms_of(one.where, one.which, room);
  for (double& term : point.terms) term /= one.us_per_step;
  point.rest = 1 - work_in(one, room) / one.us_per_step;
  return point;
}

/// The same with what far points say taken down, until that no longer changes.
term_values solve_robustly(std::vector<relative_point> points) {
  term_values found = solve(points);
  for (int round = 0; round < 6; ++round) {
    for (relative_point& point : points) {
      const double error =
          std::abs(std::inner_product(point.terms.begin(), point.terms.end(), found.begin(), -point.rest));
      point.weight = error <= usual_error ? 1 : usual_error / error;
    }
    found = solve(points);
  }
  return found;
}

double log_error(const step_observation& one, const way_costs& costs, const device_room& room) {
  return std::log(advice::predict(one.where, costs, room).us_per_step / one.us_per_step);
}

/// What a fit misses, large errors not squared.
double loss_of(const std::vector<step_observation>& observed, const way_costs& costs, const device_room& room) {
  double sum = 0;
  for (const step_observation& one : observed) {
    const double error = std::abs(log_error(one, costs, room));
    sum += error <= usual_error ? error * error : usual_error * (2 * error - usual_error);
  }
  return sum;
}

/// Costs if the host needs so many microseconds from launch to launch: what takes hardly more says nothing of the
/// device.
way_costs fit_with(double host_us, const std::vector<step_observation>& observed, const device_room& room) {
  const std::array<bool, term_count> unseen = unseen_terms(observed, room);
  std::vector<relative_point> points;
  for (const step_observation& one : observed) {
    if (one.us_per_step <= 1.08 * host_us) continue;
    relative_point& point = points.emplace_back(point_of(one, room));
    for (size_t i = 0; i < term_count; ++i) point.terms[i] = unseen[i] ? 0 : point.terms[i];
  }
  way_costs made;
  made.which = observed.front().which;
  made.host_us = host_us;
  made.us = solve_robustly(points);
  made.points = observed.size();
  return made;
}

bool is_queued_by_host(way which) {
  return which == way::relaunch || which == way::cooperative_relaunch;
}

/// Nine of ten errors are below it, of situations that the fit does not know: those of each tenth by a fit to the
/// others, with the host's time from launch to launch as all tell it. Never below what times of one program differ by
/// from run to run, nor beyond ten times. At least two observations.
double spread_of(const std::vector<step_observation>& observed, const way_costs& costs, const device_room& room) {
  const size_t folds = std::min<size_t>(10, observed.size());
  const double most_error = std::log(10);
  std::vector<double> errors;
  for (size_t fold = 0; fold < folds; ++fold) {
    std::vector<step_observation> known, held_out;
    for (size_t i = 0; i < observed.size(); ++i) (i % folds == fold ? held_out : known).push_back(observed[i]);
    const way_costs without = fit_with(costs.host_us, known, room);
    // A fit to a few may say that a step takes nothing, which is wrong by more than any number.
    for (const step_observation& one : held_out)
      errors.push_back(std::min(most_error, std::abs(log_error(one, without, room))));
  }
  std::ranges::sort(errors);
  const auto used = std::ranges::count_if(costs.us, [](double each) { return each > 0; });
  const double least = std::ssize(observed) < 2 * used ? 0.05 : 0.02;
  return std::max(least, std::expm1(quantile(errors, 0.9)));
}

way_costs fit_way(const std::vector<step_observation>& observed, const device_room& room) {
  way_costs best = fit_with(0, observed, room);
  if (is_queued_by_host(best.which)) {
    std::vector<double> times;
    for (const step_observation& one : observed) times.push_back(one.us_per_step);
    std::ranges::sort(times);
    constexpr int candidates = 25;
    for (int i = 0; i < candidates; ++i) {  // of the lower half: that many points at least speak of the device
      way_costs other = fit_with(quantile(times, 0.5 * i / candidates), observed, room);
      if (loss_of(observed, other, room) < loss_of(observed, best, room)) best = other;
    }
  }
  best.spread = spread_of(observed, best, room);
  return best;
}

/// Widens the limits by a situation.
void include(const advice::situation& where, bool first, advice::device_costs& costs) {
  const auto widen = [&](auto advice::situation::*number) {
    costs.least.*number = first ? where.*number : std::min(costs.least.*number, where.*number);
    costs.most.*number = first ? where.*number : std::max(costs.most.*number, where.*number);
  };
  widen(&advice::situation::blocks);
  widen(&advice::situation::threads);
  widen(&advice::situation::step_us);
  widen(&advice::situation::skew_us);
  widen(&advice::situation::stored_bytes);
  widen(&advice::situation::kept_bytes);
  widen(&advice::situation::neighbours);
  widen(&advice::situation::steps);
  widen(&advice::situation::gpus);
  costs.most_grids = std::max(costs.most_grids, where.blocks / resident_blocks_of(where, costs.room));
}

}  // namespace

advice::device_costs fit_step_costs(std::string device, const advice::device_room& room,
                                    const std::vector<step_observation>& observed) {
  advice::device_costs costs;
  costs.device = std::move(device);
  costs.room = room;
  for (size_t i = 0; i < observed.size(); ++i) include(observed[i].where, i == 0, costs);
  for (size_t i = 0; i < advice::way_count; ++i) {
    std::vector<step_observation> of_way;
    for (const step_observation& one : observed) {
      if (one.which == static_cast<way>(i) && one.us_per_step > 0) of_way.push_back(one);
    }
    if (of_way.size() >= fewest_observations) costs.ways.push_back(fit_way(of_way, room));
  }
  return costs;
}

}  // namespace gpusync::tool
