// The automatic choice: of a loop's variants the one to take, by a bounded number of rounds. Whoever chooses pays for
// the rounds once, and for nothing later.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "measure/comparison.hpp"
#include "pacing/pace_judgement.hpp"

namespace gpusync::tool {

/// A variant that can be run.
struct pace_contender {
  std::string name;
  uint32_t every = 1;
  paced_role role = paced_role::plain;
  std::function<double()> run;  ///< nanoseconds of one run, which has checked what it computes; may throw
};

/// Times of contenders, by turns.
struct pace_turns {
  std::vector<paced_samples> samples;  ///< in the contenders' order; no times of one that failed
  uint64_t runs = 0;                   ///< in all, those that warm up too
  std::exception_ptr failure;          ///< of the first that failed; null if none did
};

/// Runs all contenders in so many rounds, fewer if the budget is spent, but never fewer than `least_rounds`. Throws
/// run_interrupted, and what the first contender throws.
pace_turns time_by_turns(const std::vector<pace_contender>& contenders, uint64_t rounds, uint64_t least_rounds,
                         double budget_ns, const std::function<bool()>& interrupted,
                         const std::function<void(double)>& progress);

/// How much a choice may cost.
struct pace_choice_options {
  uint64_t look_rounds = 5;  ///< of all contenders
  uint64_t rounds = 21;      ///< of those that are left; fewest_rounds at least, or nothing is ever chosen
  size_t finalists = 3;      ///< barriers that are left at most
  double hopeless = 5;       ///< percent: a barrier that looks so much slower than the fastest without is not left
  double budget_ns = 2e9;    ///< in all; looking takes a third of it at most
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(double)> progress = [](double) {};
};

struct pace_choice {
  size_t choice = 0;           ///< the variant to take, by its place among the contenders
  pace_judgement why;          ///< of the last rounds alone; its variants are places among the contenders, too
  uint64_t runs = 0;           ///< that it took
  double seconds = 0;          ///< that these took, the checks of their results among them
  std::exception_ptr failure;  ///< of the first contender that failed, which cannot be chosen; null if none did
};

/// Looks at all contenders for a few rounds, and leaves the barriers that look fastest, the plain loop, the two fastest
/// controls and those at the finalists' intervals. Judges these by judge_samples() on rounds of their own, so that what
/// was fast by chance is so no longer. It takes a barrier only if that is faster, for certain, than the fastest of all
/// that keeps nobody in step; else the fastest of the plain loop and the compiler's fences. Throws as time_by_turns().
/// Precondition: the first contender is plain.
pace_choice choose_pace(const std::vector<pace_contender>& contenders, const pace_choice_options& options);

}  // namespace gpusync::tool
