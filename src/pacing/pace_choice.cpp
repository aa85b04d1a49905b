#include "pacing/pace_choice.hpp"

#include <algorithm>

#include "measure/host_timer.hpp"
#include "measure/interruption.hpp"

namespace gpusync::tool {

namespace {

/// The part of a choice's budget and progress that looking takes.
constexpr double look_share = 1.0 / 3;
/// Controls that go on whatever the finalists are: the faster of two that look alike is not known by a look.
constexpr size_t controls_left = 2;

/// Those that go on, in the contenders' order.
std::vector<size_t> left_of(const std::vector<paced_samples>& looked, const pace_choice_options& options) {
  const auto percent = [&](size_t which) {
    return gain_of(looked[which].times, looked.front().times, usual_confidence).percent;
  };
  std::vector<size_t> barriers, fences, left{0};
  for (size_t i = 1; i < looked.size(); ++i) {
    if (looked[i].times.empty()) continue;
    if (is_barrier(looked[i].role)) barriers.push_back(i);
    if (looked[i].role == paced_role::control) fences.push_back(i);
  }
  const auto faster = [&](size_t a, size_t b) { return percent(a) > percent(b); };
  const auto keep_fastest = [&](std::vector<size_t>& some, size_t most) {
    std::ranges::stable_sort(some, faster);
    if (some.size() > most) some.resize(most);
  };
  const double base = percent(fastest_base(looked, paced_role::paced));
  std::erase_if(barriers, [&](size_t which) { return percent(which) < base - options.hopeless; });
  keep_fastest(barriers, options.finalists);
  keep_fastest(fences, controls_left);
  std::ranges::copy(barriers, std::back_inserter(left));
  for (size_t i = 1; i < looked.size(); ++i) {
    if (looked[i].times.empty() || !is_control(looked[i].role)) continue;
    const bool is_own = std::ranges::any_of(barriers, [&](size_t which) {
      return looked[which].every == looked[i].every && is_base_of(looked[which].role, looked[i].role);
    });
    if (is_own || std::ranges::find(fences, i) != fences.end()) left.push_back(i);
  }
  std::ranges::sort(left);
  return left;
}

}  // namespace

pace_turns time_by_turns(const std::vector<pace_contender>& contenders, uint64_t rounds, uint64_t least_rounds,
                         double budget_ns, const std::function<bool()>& interrupted,
                         const std::function<void(double)>& progress) {
  pace_turns found;
  std::vector<candidate> candidates;
  candidates.reserve(contenders.size());
  for (const pace_contender& each : contenders) {
    candidates.push_back({[&each, &found]() -> turn_samples {
      ++found.runs;
      return {{kernel_time, each.run()}};
    }});
  }
  const stop_rule rule{rounds, rounds, -1, -1, budget_ns, std::min(least_rounds, rounds)};
  const std::vector<compared> results = compare(candidates, {rule, interrupted, progress});
  for (size_t i = 0; i < contenders.size(); ++i) {
    const compared& one = results[i];
    if (one.stop == stop_reason::interrupted) throw run_interrupted();
    if (one.failure && i == 0) std::rethrow_exception(one.failure);
    if (one.failure && !found.failure) found.failure = one.failure;
    found.samples.push_back({contenders[i].name, contenders[i].every, contenders[i].role,
                             one.failure ? std::vector<double>{} : one.of(kernel_time)});
  }
  if (found.samples.empty() || found.samples.front().times.empty()) throw run_interrupted();
  return found;
}

pace_choice choose_pace(const std::vector<pace_contender>& contenders, const pace_choice_options& options) {
  const host_timer clock;
  const auto part = [&](double from, double share) {
    return [&options, from, share](double fraction) { options.progress(from + share * fraction); };
  };
  const pace_turns looked = time_by_turns(contenders, options.look_rounds, 3, look_share * options.budget_ns,
                                          options.interrupted, part(0, look_share));
  const std::vector<size_t> left = left_of(looked.samples, options);
  std::vector<pace_contender> last;
  last.reserve(left.size());
  for (const size_t which : left) last.push_back(contenders[which]);
  const pace_turns turns = time_by_turns(last, options.rounds, fewest_rounds + 1, (1 - look_share) * options.budget_ns,
                                         options.interrupted, part(look_share, 1 - look_share));
  pace_choice made;
  made.why = judge_samples(turns.samples);
  made.why.base = left[made.why.base];
  made.why.best_base = left[made.why.best_base];
  if (made.why.best) made.why.best = left[*made.why.best];
  made.choice = made.why.choice();
  made.runs = looked.runs + turns.runs;
  made.seconds = clock.nanoseconds() * 1e-9;
  made.failure = looked.failure ? looked.failure : turns.failure;
  return made;
}

}  // namespace gpusync::tool
