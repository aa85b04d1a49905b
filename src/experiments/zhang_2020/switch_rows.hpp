// What experiment switch-points makes of curves of times over sizes: figures of levels, and where one gives way to
// another, predicted and measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/method_comparison.hpp"
#include "models/switch_point.hpp"
#include "workloads/shared_sum/shared_sum.hpp"

namespace gpusync::tool {

/// What a group of threads takes, in cycles over bytes, in each round of a comparison.
struct level_curves {
  summing_group group;
  std::vector<std::vector<curve_point>> rounds;
};

/// Those of a program whose samples are called by the number of doubles.
level_curves curves_of(const summing_group& group, const compared& figures);

/// The doubles whose sums the curves of a group have, up to `most`, by rising number.
std::vector<uint32_t> sizes_of_curve(const summing_group& group, uint32_t most);
/// Those of the bandwidth proxy: whole rounds of a group.
std::vector<uint32_t> sizes_of_proxy(const summing_group& group, uint32_t most);

/// Cycles of one double in a round, and bytes in a cycle from the second round of the group to its 64th.
std::optional<double> time_at_one(const std::vector<curve_point>& curve);
std::optional<double> slope_of(const std::vector<curve_point>& curve, uint32_t threads);

/// Two levels, by their places in summing_groups().
struct level_pair {
  size_t from, to;
  bool promised = false;  ///< the prediction must be right
};
/// The pairs that are compared.
const std::vector<level_pair>& level_pairs();

/// How far a promised prediction may be from the middle of what is measured.
inline constexpr double most_prediction_error = 0.25;

/// The figures of two levels, by round; a round that lacks one has none of that kind.
struct switch_figures {
  std::vector<double> sync;              ///< T_sync: cycles of one double beyond the smaller level
  std::vector<double> predicted;         ///< bytes, by equations 4 and 5
  std::vector<double> low, high;         ///< bytes between which the curves cross
  std::vector<double> middle;            ///< of these
  std::vector<double> error;             ///< predicted over the middle, less 1
  std::vector<double> recipe_sync;       ///< cycles: five times the latency of the larger level's synchronization
  std::vector<double> recipe_predicted;  ///< bytes by that
};
/// `latencies`: of the larger level's synchronization, by round; may be empty.
switch_figures figures_of(const level_curves& from, const level_curves& to, const std::vector<double>& latencies);

/// Whether an error is within the promise, by its whole interval; empty if that does not decide.
std::optional<bool> keeps_promise(const metric& error);

/// Fills in a switch's row whose sums were right: metrics, and whether a promise was kept.
void fill_in_switch(row& entry, const switch_figures& figures, bool promised, bool keep_samples);

/// What a class of kernels takes, in microseconds over bytes, as one switch among them.
struct kernel_switch {
  double sync = 0;  ///< microseconds of one element beyond the smaller class
  switch_point predicted;
  measured_switch measured;
};
/// Thr of the smaller class is its slope from `least` bytes to where the curves cross, or over all that it holds; of
/// the larger one from `least` bytes on. Empty if a class has no such slope, or no element alone was measured.
std::optional<kernel_switch> switch_of_kernels(const std::vector<curve_point>& from, const std::vector<curve_point>& to,
                                               double least);
/// Fills in its row.
void fill_in_switch(row& entry, const std::optional<kernel_switch>& found);

/// "40 B", "2.46 KB".
std::string short_bytes(double bytes);

}  // namespace gpusync::tool
