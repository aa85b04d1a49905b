// Which variant of a loop is the one to take, by times measured side by side, and whose doing its gain is: the one rule
// of the command `pace`, of the automatic choice and of what validates that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/interval.hpp"
#include "pacing/paced_role.hpp"

namespace gpusync::tool {

/// What is measured of each variant, as comparisons and results call it.
inline constexpr const char* kernel_time = "kernel_time";

/// A gain smaller than this, in percent, is none.
inline constexpr double least_gain = 1;

/// A share of another time, in percent; above 0 is faster.
struct gain {
  double percent = 0;
  std::optional<interval> between;
};

/// At least least_gain percent, and for certain above 0: what is called a gain.
bool is_gain(const gain& one);
/// The same of a loss.
bool is_loss(const gain& one);
/// For certain above 0, and least_gain percent as far as can be told: its interval reaches that. What is taken: so a
/// larger gain is missed, and a loss taken, only as often as intervals do not hold the truth.
bool is_worth_taking(const gain& one);

/// The confidence of all intervals together: as many variants with barriers as there are, one of which is the best by
/// chance alone, each has its part of the doubt.
double confidence_for(size_t barriers);

/// The gain of `variant` on `base`, by rounds that both have.
gain gain_of(const std::vector<double>& variant, const std::vector<double>& base, double confidence);

/// What a variant's samples are compared as.
struct paced_samples {
  std::string name;
  uint32_t every = 1;
  paced_role role = paced_role::plain;
  std::vector<double> times;  ///< by round; empty: it does not count
};

/// The fastest by rounds, measured against the first, of all that a gain of `own` must be one on; the first if that is
/// the only one. Precondition: the first is plain and has times.
size_t fastest_base(const std::vector<paced_samples>& all, paced_role own);

/// What times say. Variants are named by their place.
struct pace_judgement {
  size_t base = 0;             ///< the fastest of none and the compiler's fences: what to take if no barrier pays
  std::optional<size_t> best;  ///< of the barriers that pay the fastest; if none pays, of all; empty: there is none
  size_t best_base = 0;        ///< what `best` is compared with: fastest_base() of its role
  gain total;                  ///< of `best` on none
  gain compilers;              ///< of `best_base` on none; nothing if that is none itself
  gain barriers;               ///< of `best` on `best_base`
  uint64_t rounds = 0;         ///< that `best` and `best_base` both have
  bool pays = false;           ///< whether `barriers` is_worth_taking()

  /// The variant to take.
  size_t choice() const { return pays ? *best : base; }
};

/// Judges all variants; effects and rivals do not count. Intervals hold at usual_confidence for all barriers together.
/// Precondition: as fastest_base().
pace_judgement judge_samples(const std::vector<paced_samples>& all);

}  // namespace gpusync::tool
