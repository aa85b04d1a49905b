// Variants of a user's kernel, measured side by side.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pacing/paced_kernel.hpp"
#include "pacing/trial.hpp"
#include "pacing/variants.hpp"

namespace gpusync::tool {

/// What is known of a variant in the end.
struct kernel_variant {
  enum class state {
    measured,    ///< every run was right, and it leaves the kernel the room that it has without barriers
    other_room,  ///< measured and right, but other numbers of blocks run at once: its time says nothing about barriers
    refused      ///< it does not end, fails, or leaves something else in the arrays: no times
  };
  pace_variant what;
  state found = state::refused;
  std::optional<trial_end> end;  ///< of its runs; empty: it was not tried
  std::string reason;            ///< a sentence, unless measured in the room that the kernel has without barriers
  residency room;
  std::vector<double> nanoseconds;  ///< by round
  uint64_t bytes_compared = 0;      ///< in all runs

  /// Whether it was refused for what stands in the marks' place.
  bool marks_are_wrong() const {
    return what.form != variant_form::none && (end == trial_end::mismatch || end == trial_end::stuck);
  }
};

/// How the comparison is carried out.
struct pace_comparison_options {
  bool quick = false;
  double limit_s = 60;  ///< of one launch
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(double)> progress = [](double) {};
};

/// What a variant was refused for, in a sentence; empty for trial_end::right. `plain`: it is the one without barriers.
std::string why_refused(const trial_outcome& outcome, bool plain);

/// Measures those of `variants` whose trial was right, by turns, and compares the arrays of every run with those of a
/// run of the first, which must have been right. In the order of the variants. Throws gpusync::error if the first does
/// not do what it did before; stuck_launch if the device is stuck.
std::vector<kernel_variant> compare_paced(paced_kernel& kernel, const std::vector<pace_variant>& variants,
                                          const std::map<std::string, trial_outcome>& trials,
                                          const pace_comparison_options& options);

}  // namespace gpusync::tool
