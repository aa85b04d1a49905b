#include "pacing/pace_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/comparison.hpp"
#include "measure/interruption.hpp"
#include "measure/stuck_launch.hpp"
#include "pacing/pace_judgement.hpp"

namespace gpusync::tool {

namespace {

/// The marks' contract, for those who have broken it.
constexpr const char* rule =
    "All threads of a block must pass a mark equally often, those of a warp together, and its argument must be the "
    "same "
    "for all of them and change nothing";

/// The arrays are not what they were.
class output_mismatch : public error {
 public:
  using error::error;
};

std::string mismatch_in_words(const std::string& first, bool plain) {
  return plain ? fmt::format(
                     "The kernel leaves other results from run to run even without barriers ({}): no variant of "
                     "it can be checked. Additions of floating-point numbers in any order do that.",
                     first)
               : fmt::format("Its arrays differ from those without barriers, first in {}. {}.", first, rule);
}

/// The same rounds for all.
stop_rule rule_for(bool quick) {
  const uint64_t rounds = quick ? 11 : 31;
  return {rounds, rounds, -1, -1, quick ? 5e9 : 40e9, 11};
}

/// Throws gpusync::error for a launch that is stuck now, though the variant's trial had ended: others failed behind it.
void require_ended(const compared& result, const std::string& name) {
  if (!result.failure) return;
  try {
    std::rethrow_exception(result.failure);
  } catch (const stuck_launch&) {
    throw error(fmt::format("{} ended once, and then it never did. {}.", name, rule));
  } catch (...) {  // not for here
  }
}

std::string other_room(const residency& here, const residency& plain) {
  if (here.static_shared != plain.static_shared) {
    return fmt::format("A block has {} bytes of shared memory, without barriers {}", here.static_shared,
                       plain.static_shared);
  }
  if (here.blocks_per_sm != plain.blocks_per_sm) {
    return fmt::format("{} blocks run on a multiprocessor at a time, without barriers {}", here.blocks_per_sm,
                       plain.blocks_per_sm);
  }
  return "It asks for another part of the L1 cache as shared memory";
}

/// A barrier counts if it leaves the room that there is without one, or with a control in its place: then the compiler
/// has changed the room, and the control has its gain. What another barrier changes is neither's.
void judge_room(kernel_variant& one, const std::vector<kernel_variant>& all) {
  const residency& plain = all.front().room;
  one.found = kernel_variant::state::measured;
  if (one.room.same_room(plain)) return;
  one.reason = other_room(one.room, plain) + ".";
  if (!one.what.is_barrier()) return;
  const bool as_control = std::ranges::any_of(all, [&](const kernel_variant& other) {
    return !other.what.is_barrier() && other.what.every == one.what.every && !other.nanoseconds.empty() &&
           other.room.same_room(one.room);
  });
  if (as_control) return;
  one.found = kernel_variant::state::other_room;
  one.reason = other_room(one.room, plain) + ": its time says nothing about waiting.";
}

}  // namespace

std::string why_refused(const trial_outcome& outcome, bool plain) {
  switch (outcome.end) {
    case trial_end::right: return "";
    case trial_end::mismatch: return mismatch_in_words(outcome.words, plain);
    case trial_end::stuck:
      return plain ? fmt::format("The kernel had not ended after {} even without barriers.", outcome.words)
                   : fmt::format("It never ended ({}). {}.", outcome.words, rule);
    case trial_end::failed:
      return fmt::format("{}: {}", plain ? "The kernel does not run even without barriers" : "It failed",
                         outcome.words);
  }
  return "?";
}

std::vector<kernel_variant> compare_paced(paced_kernel& kernel, const std::vector<pace_variant>& variants,
                                          const std::map<std::string, trial_outcome>& trials,
                                          const pace_comparison_options& options) {
  std::vector<kernel_variant> all;
  std::vector<size_t> measured;
  std::vector<candidate> candidates;
  (void)kernel.run(0, options.limit_s);
  kernel.keep_as_reference();
  for (const pace_variant& each : variants) {
    all.emplace_back();
    all.back().what = each;
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    kernel_variant& one = all[i];
    const auto trial = trials.find(one.what.name);
    if (trial != trials.end()) one.end = trial->second.end;
    if (trial == trials.end() || trial->second.end != trial_end::right) {
      one.reason = trial == trials.end() ? "It was not tried: the device did not come back from another variant."
                                         : why_refused(trial->second, i == 0);
      continue;
    }
    one.room = kernel.room_of(i);
    measured.push_back(i);
    candidates.push_back({[&kernel, &one, &options, i]() -> turn_samples {
      const paced_run run = kernel.run(i, options.limit_s);
      if (run.wrong > 0) throw output_mismatch(mismatch_in_words(run.first, i == 0));
      one.bytes_compared += run.compared;
      return {{kernel_time, run.nanoseconds}};
    }});
  }
  const std::vector<compared> results =
      compare(candidates, {rule_for(options.quick), options.interrupted, options.progress});
  for (size_t k = 0; k < measured.size(); ++k) require_ended(results[k], all[measured[k]].what.name);
  for (size_t k = 0; k < measured.size(); ++k) {
    kernel_variant& one = all[measured[k]];
    if (results[k].stop == stop_reason::interrupted) throw run_interrupted();
    if (results[k].failure) {
      if (measured[k] == 0) std::rethrow_exception(results[k].failure);
      try {
        std::rethrow_exception(results[k].failure);
      } catch (const output_mismatch& mismatch) {
        one.end = trial_end::mismatch;
        one.reason = mismatch.what();
      } catch (const std::exception& failure) {
        one.end = trial_end::failed;
        one.reason = why_refused({trial_end::failed, failure.what()}, false);
      }
      continue;
    }
    one.nanoseconds = results[k].of(kernel_time);
  }
  for (kernel_variant& one : all) {
    if (!one.nanoseconds.empty()) judge_room(one, all);
  }
  return all;
}

}  // namespace gpusync::tool
