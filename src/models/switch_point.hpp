// When more threads and a barrier beat fewer threads: equations 1 to 5 of Zhang and others (section 7.1, items Z10 to
// Z12), and where measured curves say so. Sizes are in one unit (bytes), times in another (cycles), throughputs in the
// one per the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/crossing.hpp"

namespace gpusync::tool {

/// A thread, a warp, a block of 1024 threads, a grid: whoever sums up together.
struct sync_level {
  std::string name;
  /// T: what one element takes in the loop, while the level has C = T * Thr under way (equation 1). 0: the time rises
  /// with the first element already, as it does in loops that are not unrolled; then equation 5 holds for all sizes.
  double latency = 0;
  double throughput = 0;  ///< Thr
  double sync = 0;        ///< T_sync: what the level takes beyond the one before it, whatever the size
};

/// Equation 1: what a level has under way at a time.
double concurrency_of(const sync_level& level);

/// The two sides of equation 2, with T_more = T_basic + T_sync (equation 3): what a size takes with the smaller level,
/// and with the larger, whose latency in the loop is its own and whose `sync` is beyond the smaller.
double time_of_basic(const sync_level& basic, double size);
double time_of_more(const sync_level& basic, const sync_level& more, double size);

/// What decides where the larger level begins to pay.
enum class switch_regime {
  at_once,             ///< from the first element on: it costs nothing beyond the smaller
  within_concurrency,  ///< equation 4: the larger has not yet all that it can have under way
  beyond_concurrency,  ///< equation 5
  never,               ///< it costs more and is no faster
};

/// Where one level gives way to the next.
struct switch_point {
  std::string from, to;
  switch_regime regime = switch_regime::never;
  std::optional<double> size;  ///< the smaller level is the faster one below; empty: always
};

/// The switch from one level to a larger one.
switch_point switch_between(const sync_level& basic, const sync_level& more);

/// That of each level to the next.
std::vector<switch_point> switch_points(const std::vector<sync_level>& levels);

/// What was measured of a level with the very code that is to be predicted: `at_one`, the time of one element,
/// `throughput` below the switch.
struct measured_level {
  std::string name;
  double at_one = 0;
  double throughput = 0;
};

/// The levels of the model for such figures: T_sync is what a level takes for one element beyond the level before.
std::vector<sync_level> levels_of(const std::vector<measured_level>& measured);

/// The throughput of a curve of times over sizes, from its slope between two sizes, both inclusive; empty if it has no
/// two points there or does not rise.
std::optional<double> throughput_between(const std::vector<curve_point>& curve, double from, double until);

/// Where two measured curves of times over sizes cross, at sizes that both have. Curves cross more than once where
/// times are a staircase.
struct measured_switch {
  std::optional<double> first_of_larger;  ///< the least size at which the larger level takes less time
  std::optional<double> last_of_smaller;  ///< the greatest size at which it does not

  /// Whether the curves cross at all within the measured sizes.
  bool crosses() const { return first_of_larger && last_of_smaller; }
  double low() const;   ///< precondition: crosses()
  double high() const;  ///< precondition: crosses()
};
measured_switch switch_measured(const std::vector<curve_point>& smaller, const std::vector<curve_point>& larger);

/// predicted / measured - 1, with the middle of the measured range for measured; empty if either has no size.
std::optional<double> prediction_error(const switch_point& predicted, const measured_switch& measured);

}  // namespace gpusync::tool
