#include "measure/interval.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace gpusync::tool {

namespace {

namespace distributions = boost::math;

/// Rounds up to which the signed-rank distribution is counted out; beyond, its normal limit differs by less than one
/// rank in a thousand.
constexpr uint64_t most_counted_rounds = 60;
/// Rounds whose pairs are looked at one by one; of more, as many are taken evenly.
constexpr size_t most_paired_rounds = 1000;

/// The largest k for which W, the sum of the ranks of the positive among `n` differences without bias, is below k with
/// a probability of at most `tail`: 0 if even W = 0 is likelier than that.
uint64_t signed_rank_quantile(uint64_t n, double tail) {
  if (n > most_counted_rounds) {
    const auto count = static_cast<double>(n);
    const double mean = count * (count + 1) / 4;
    const double deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
    return static_cast<uint64_t>(
        std::max(0.0, mean + deviation * quantile(distributions::normal_distribution<>(), tail)));
  }
  // Of the 2^n signs, how many give each sum: each rank is in it or not. As parts of all, for 2^60 is beyond a double.
  std::vector<double> share(n * (n + 1) / 2 + 1);
  share[0] = 1;
  uint64_t largest = 0;
  for (uint64_t rank = 1; rank <= n; ++rank) {
    largest += rank;
    for (uint64_t sum = largest + 1; sum-- > 0;) share[sum] = (share[sum] + (sum >= rank ? share[sum - rank] : 0)) / 2;
  }
  uint64_t below = 0;
  for (double sum = share[0]; sum <= tail; sum += share[below]) ++below;
  return below;
}

std::vector<double> evenly(const std::vector<double>& values, size_t count) {
  const size_t taken = std::min(count, most_paired_rounds);
  std::vector<double> chosen;
  for (size_t i = 0; i < taken; ++i) chosen.push_back(values[i * count / taken]);
  return chosen;
}

double middle_of(const std::vector<double>& sorted) {
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace

std::optional<interval> median_interval(std::vector<double> values, double confidence) {
  if (values.empty()) return std::nullopt;
  using namespace distributions::policies;
  using rounded_down = policy<discrete_quantile<integer_round_down>>;
  const distributions::binomial_distribution<double, rounded_down> heads(static_cast<double>(values.size()), 0.5);
  const double tail = (1 - confidence) / 2;
  if (cdf(heads, 0) > tail) return std::nullopt;
  auto out = static_cast<size_t>(quantile(heads, tail));  // so many may lie below it
  while (cdf(heads, static_cast<double>(out)) > tail) --out;
  std::sort(values.begin(), values.end());
  return interval{values[out], values[values.size() - 1 - out]};
}

double student_quantile(double freedom, double tail) {
  return quantile(complement(distributions::students_t(freedom), tail));
}

std::optional<paired_ratio> ratio_by_rounds(const std::vector<double>& all_values, const std::vector<double>& all_base,
                                            double confidence) {
  const size_t both = std::min(all_values.size(), all_base.size());
  if (both == 0) return std::nullopt;
  const std::vector<double> values = evenly(all_values, both);
  const std::vector<double> base = evenly(all_base, both);
  const size_t n = values.size();
  std::vector<double> ratios;
  ratios.reserve(n * (n + 1) / 2);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) {
      if (!(base[i] + base[j] > 0)) return std::nullopt;
      ratios.push_back((values[i] + values[j]) / (base[i] + base[j]));
    }
  }
  std::sort(ratios.begin(), ratios.end());
  paired_ratio found{middle_of(ratios), std::nullopt, n};
  const uint64_t out = signed_rank_quantile(n, (1 - confidence) / 2);
  if (out > 0) found.between = interval{ratios[out - 1], ratios[ratios.size() - out]};
  return found;
}

const char* to_string(difference what) {
  switch (what) {
    case difference::faster: return "faster";
    case difference::slower: return "slower";
    case difference::same: return "same";
    case difference::unclear: return "unclear";
  }
  return "?";
}

difference judge_ratio(const std::optional<interval>& ratio, double least_effect) {
  if (!ratio) return difference::unclear;
  const double most = 1 + least_effect;
  if (ratio->high < 1 / most) return difference::faster;
  if (ratio->low > most) return difference::slower;
  return ratio->low >= 1 / most && ratio->high <= most ? difference::same : difference::unclear;
}

}  // namespace gpusync::tool
