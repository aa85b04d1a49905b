// Where the true figure lies, for samples of any distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gpusync::tool {

/// The confidence of every interval and every verdict, unless another is asked for: of twenty, one may be wrong.
inline constexpr double usual_confidence = 0.95;

/// Fewer rounds than these cannot carry it, whatever they show: of five all may lie on one side of the true figure in
/// more than 5 % of cases.
inline constexpr uint64_t fewest_rounds = 6;

/// Two ends, low <= high, that hold the true figure between them with a stated confidence.
struct interval {
  double low = 0;
  double high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
};

/// Of the median that independent `values` are drawn around: the two order statistics between which the median of any
/// distribution lies with at least that confidence (the inverted sign test; Conover, Practical Nonparametric
/// Statistics, 3.2). Empty for fewer values than can carry it: fewest_rounds for 95 %.
std::optional<interval> median_interval(std::vector<double> values, double confidence = usual_confidence);

/// What Student's t with so many degrees of freedom exceeds with probability `tail`.
double student_quantile(double freedom, double tail);

/// How many times as large `values` are as `base`, both of the same rounds.
struct paired_ratio {
  double value = 0;                 ///< the median of (values[i] + values[j]) / (base[i] + base[j]) over all i <= j
  std::optional<interval> between;  ///< empty: fewer rounds than can carry the confidence
  uint64_t rounds = 0;
};

/// The ratio r for which the differences values[i] - r * base[i] lie around 0, by Wilcoxon's signed-rank test, and as
/// its interval all r that the test does not reject: exact for few rounds, whatever the noise, as long as it strikes
/// both of a round alike or is symmetric, for any number of rounds (Hollander, Wolfe and Chicken, Nonparametric
/// Statistical Methods, 3.1-3.3). What drifts from round to round is in both, and cancels. Samples may be negative, as
/// differences of noisy runs are; empty if two of the base add up to nothing above 0, for then it is not above its
/// noise. Rounds beyond the shorter of the two are left out.
std::optional<paired_ratio> ratio_by_rounds(const std::vector<double>& values, const std::vector<double>& base,
                                            double confidence = usual_confidence);

/// Differences of two times smaller than this part matter to nobody, unless another is asked for.
inline constexpr double usual_least_effect = 0.02;

/// What an interval of a ratio of times says.
enum class difference {
  faster,   ///< less by at least the least effect
  slower,   ///< more by at least the least effect
  same,     ///< within the least effect
  unclear,  ///< the interval reaches beyond what one of these would allow: too noisy to say
};

/// "faster", "slower", "same", "unclear".
const char* to_string(difference what);

/// The whole interval lies below 1 / (1 + least_effect), above 1 + least_effect, or between; or else it is unclear, as
/// it is without an interval. So each verdict but `unclear` is wrong at most as often as the interval misses.
difference judge_ratio(const std::optional<interval>& ratio, double least_effect = usual_least_effect);

}  // namespace gpusync::tool
