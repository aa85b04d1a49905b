// What an artificial barrier gains: the accounting and the memory model of Lo et al. (2014, equations 1 to 5), and what
// must be added to them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/line_fit.hpp"

namespace gpusync::tool {

/// Clocks of an iteration as equations 1 and 2 have them, c being in m and ms: what measures cannot tell them apart.
struct pace_clocks {
  double memory = 0;        ///< m + c: without the barrier
  double paced_memory = 0;  ///< ms + c: with it
  double waiting = 0;       ///< d + s: the barrier itself, and waiting for the others there
};

/// Equations 1 and 2: whether d + s < m - ms.
bool predicts_gain(const pace_clocks& clocks);
/// Equation 5 by 1 and 2, in percent of the time without the barrier. Precondition: memory > 0.
double predicted_rho(const pace_clocks& clocks);
/// The same for kernels that end with their last warp: a warp's mean time over the part of the kernel's that a warp
/// lives. Equations 1 and 2 know the mean warp only, and call a gain that is a shorter tail a loss.
double predicted_rho(const pace_clocks& clocks, double lifetime, double paced_lifetime);

/// Equation 5 by round, in percent: (base - time) / base. Rounds with a base of 0 are left out.
std::vector<double> rho_by_round(const std::vector<double>& times, const std::vector<double>& base);

/// A sum of terms with coefficients fitted by least squares.
struct terms_fit {
  std::vector<double> coefficients;
  std::vector<std::optional<double>> errors;  ///< standard errors; empty without points to spare
  double r_squared = 0;                       ///< the part of the variance about the mean that the sum explains
  uint64_t points = 0;
};

/// One point: y, and the terms' values at it.
struct terms_point {
  std::vector<double> terms;
  double y = 0;
};

/// Empty if the points do not determine the coefficients. Precondition: all have equally many terms.
std::optional<terms_fit> fit_terms(const std::vector<terms_point>& points);

/// Memory clocks of an iteration at a hit ratio.
struct hits_and_clocks {
  double l1_hits = 0;  ///< of all accesses
  double clocks = 0;
  double l2_hits = 0;  ///< of those that miss L1
};

/// Equation 3 with one level of cache: alpha + (1 - H) beta; coefficients alpha, beta.
std::optional<terms_fit> fit_one_level(const std::vector<hits_and_clocks>& points);
/// With two: alpha + (1 - H1) beta + (1 - H1) (1 - H2) gamma; coefficients alpha, beta, gamma.
std::optional<terms_fit> fit_two_levels(const std::vector<hits_and_clocks>& points);

/// How hits fall off along a measure of distance.
struct decay_fit {
  double at_zero = 0;  ///< H0
  double rate = 0;     ///< lambda
  std::optional<double> rate_error;
  double r_squared = 0;  ///< of the hit ratios themselves, not of their logarithms
};

/// Equation 4: H = H0 exp(-lambda tau), over times or counts of accesses (x) and hit ratios (y); points without hits
/// are left out. Empty if fewer than two are left.
std::optional<decay_fit> fit_decay(const std::vector<std::pair<double, double>>& points);
/// The same over the square root: warps that drift by a random walk are sqrt(n) accesses apart after n.
std::optional<decay_fit> fit_drift(std::vector<std::pair<double, double>> points);

}  // namespace gpusync::tool
