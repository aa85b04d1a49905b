// Several programs measured side by side, so that what drifts (clocks, temperature, other load) hits them alike.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure/stop_rule.hpp"

namespace gpusync::tool {

/// What one turn of a program has measured, by name. The first is what the stop rule judges.
using turn_samples = std::vector<std::pair<std::string, double>>;

/// A program in a comparison. Both functions may throw: run_interrupted if the user wanted them to end, anything else
/// for a failure.
struct candidate {
  std::function<turn_samples()> run;        ///< one turn; always the same names
  std::function<void()> warm_up = nullptr;  ///< before the first round; without it, a turn that does not count
};

struct comparison_options {
  stop_rule stop;
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(double fraction)> progress = [](double) {};  ///< 0..1, for this comparison
};

/// What came of one candidate; `stop` is by what it first met the stop rule. If it threw, `failure` holds what it threw
/// and the rest is what was measured before.
struct compared {
  /// Samples by name; those at one index are of one round, in this candidate and in all others.
  std::map<std::string, std::vector<double>> samples;
  stop_reason stop = stop_reason::running;
  std::exception_ptr failure;

  /// The samples of that name; empty if there are none.
  const std::vector<double>& of(const std::string& name) const;
};

/// Warms every candidate up and then takes turns: in each round every candidate runs once, in an order that rotates
/// from round to round, until each has met the stop rule, so that all have the same rounds but for one that throws. The
/// warm-up is in no figure, nor is its time in the budget. A stuck launch ends the comparison: all others have failed
/// as behind_stuck_launch then, whatever they have measured. Results are in the order of the candidates.
std::vector<compared> compare(const std::vector<candidate>& candidates, const comparison_options& options);

/// `combine(values[i], base[i])` for each round that both have: what drifts from round to round is in both.
template <class Combine>
std::vector<double> by_round(const std::vector<double>& values, const std::vector<double>& base, Combine combine) {
  std::vector<double> combined;
  for (size_t i = 0; i < values.size() && i < base.size(); ++i) combined.push_back(combine(values[i], base[i]));
  return combined;
}

}  // namespace gpusync::tool
