#include "pacing/pace_judgement.hpp"

#include <algorithm>

namespace gpusync::tool {

namespace {

/// By rounds, so that a machine that becomes slower half-way does not choose.
double percent_on_first(const std::vector<paced_samples>& all, size_t which) {
  return gain_of(all[which].times, all.front().times, usual_confidence).percent;
}

/// Those that `is_wanted` takes and that have times, the fastest first.
template <class Wanted>
std::vector<size_t> by_speed(const std::vector<paced_samples>& all, const Wanted& is_wanted) {
  std::vector<std::pair<double, size_t>> found;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].times.empty() && is_wanted(all[i].role)) found.emplace_back(-percent_on_first(all, i), i);
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, size_t>::first);
  std::vector<size_t> places;
  places.reserve(found.size());
  for (const auto& [percent, place] : found) places.push_back(place);
  return places;
}

}  // namespace

bool is_gain(const gain& one) {
  return one.percent >= least_gain && one.between && one.between->low > 0;
}

bool is_loss(const gain& one) {
  return one.percent <= -least_gain && one.between && one.between->high < 0;
}

bool is_worth_taking(const gain& one) {
  return one.between && one.between->low > 0 && one.between->high >= least_gain;
}

double confidence_for(size_t barriers) {
  return 1 - (1 - usual_confidence) / static_cast<double>(std::max<size_t>(barriers, 1));
}

gain gain_of(const std::vector<double>& variant, const std::vector<double>& base, double confidence) {
  const auto ratio = ratio_by_rounds(variant, base, confidence);
  if (!ratio) return {};
  gain found{100 * (1 - ratio->value), std::nullopt};
  if (ratio->between) found.between = interval{100 * (1 - ratio->between->high), 100 * (1 - ratio->between->low)};
  return found;
}

size_t fastest_base(const std::vector<paced_samples>& all, paced_role own) {
  const std::vector<size_t> bases = by_speed(all, [&](paced_role other) { return is_base_of(own, other); });
  return bases.empty() ? 0 : bases.front();
}

pace_judgement judge_samples(const std::vector<paced_samples>& all) {
  pace_judgement found;
  found.base = fastest_base(all, paced_role::paced);
  const std::vector<size_t> barriers = by_speed(all, is_barrier);
  const double confidence = confidence_for(barriers.size());
  const size_t counted_base = fastest_base(all, paced_role::lead);
  const auto base_of = [&](size_t which) { return all[which].role == paced_role::lead ? counted_base : found.base; };
  const auto gain_on_base = [&](size_t which) {
    return gain_of(all[which].times, all[base_of(which)].times, confidence);
  };
  if (barriers.empty()) return found;
  const auto paying =
      std::ranges::find_if(barriers, [&](size_t which) { return is_worth_taking(gain_on_base(which)); });
  found.pays = paying != barriers.end();
  found.best = found.pays ? *paying : barriers.front();
  found.best_base = base_of(*found.best);
  found.barriers = gain_on_base(*found.best);
  found.total = gain_of(all[*found.best].times, all.front().times, confidence);
  if (found.best_base != 0) found.compilers = gain_of(all[found.best_base].times, all.front().times, confidence);
  found.rounds = std::min(all[*found.best].times.size(), all[found.best_base].times.size());
  return found;
}

}  // namespace gpusync::tool
