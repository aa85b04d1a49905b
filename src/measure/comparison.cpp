#include "measure/comparison.hpp"

#include <algorithm>

#include "measure/host_timer.hpp"
#include "measure/interruption.hpp"
#include "measure/stuck_launch.hpp"

namespace gpusync::tool {

namespace {

/// The part of the progress that is warming up.
constexpr double warm_up_share = 0.2;

bool takes_turns(const compared& one) {
  return one.stop != stop_reason::interrupted && !one.failure;
}

/// Whether more rounds are needed for its sake.
bool wants_more(const compared& one) {
  return one.stop == stop_reason::running && !one.failure;
}

/// Keeps what one candidate throws from the others, unless nothing can be done behind it.
template <class Work>
void guarded(compared& result, Work&& work) {
  try {
    work();
  } catch (const run_interrupted&) {
    result.stop = stop_reason::interrupted;
  } catch (const stuck_launch&) {
    result.failure = std::current_exception();
    throw;
  } catch (...) {
    result.failure = std::current_exception();
  }
}

void take_turn(const candidate& one, const stop_rule& rule, const host_timer& clock, compared& result) {
  const turn_samples turn = one.run();
  for (const auto& [name, value] : turn) result.samples[name].push_back(value);
  if (result.stop != stop_reason::running) return;
  result.stop = rule.judge(summarize(result.of(turn.front().first)), clock.nanoseconds());
}

/// Throws stuck_launch once a launch of a candidate is stuck.
void take_turns(const std::vector<candidate>& candidates, const comparison_options& options,
                std::vector<compared>& results) {
  const auto count = static_cast<double>(std::max<size_t>(candidates.size(), 1));
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (options.interrupted()) break;
    guarded(results[i], [&] { candidates[i].warm_up ? candidates[i].warm_up() : void(candidates[i].run()); });
    options.progress(warm_up_share * static_cast<double>(i + 1) / count);
  }

  const host_timer clock;
  bool any = !candidates.empty();
  for (size_t round = 0; any; ++round) {
    for (size_t turn = 0; turn < candidates.size(); ++turn) {
      const size_t i = (turn + round) % candidates.size();
      if (!takes_turns(results[i])) continue;
      if (options.interrupted()) {
        results[i].stop = stop_reason::interrupted;
        continue;
      }
      guarded(results[i], [&] { take_turn(candidates[i], options.stop, clock, results[i]); });
    }
    any = std::ranges::any_of(results, wants_more);
    const double done = static_cast<double>(round + 1) / static_cast<double>(options.stop.max_samples);
    options.progress(warm_up_share +
                     (1 - warm_up_share) * std::min(1.0, std::max(done, clock.nanoseconds() / options.stop.budget_ns)));
  }
}

}  // namespace

const std::vector<double>& compared::of(const std::string& name) const {
  static const std::vector<double> none;
  const auto found = samples.find(name);
  return found == samples.end() ? none : found->second;
}

std::vector<compared> compare(const std::vector<candidate>& candidates, const comparison_options& options) {
  std::vector<compared> results(candidates.size());
  try {
    take_turns(candidates, options, results);
  } catch (const stuck_launch&) {
    for (compared& one : results) {
      if (!one.failure) one.failure = std::make_exception_ptr(behind_stuck_launch());
    }
  }
  return results;
}

}  // namespace gpusync::tool
