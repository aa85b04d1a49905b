// How should the blocks of this computation wait for each other? Asked on the host, before anything is launched:
//
//   gpusync::advice::situation mine;
//   mine.blocks = 132, mine.threads = 256, mine.step_us = 2, mine.steps = 500;
//   const gpusync::advice::answer found = gpusync::advice::advise(mine, gpusync::advice::recorded_on_nvidia_h200());
//   if (found.best().which == gpusync::advice::way::grid_barrier) …
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/advice/step_costs.hpp>

namespace gpusync::advice {

/// What a step takes under one way to wait, in microseconds.
struct prediction {
  way which = way::relaunch;  ///< whose time it is
  double us_per_step = 0;     ///< the time
  double low = 0;             ///< nine of ten times of steps like those that were measured are to lie between it
  double high = 0;            ///< and this
  double work_us = 0;         ///< of it, the work of the slowest block that is waited for
  double host_us = 0;         ///< the host's time from launch to launch, if that is what bounds the step; else 0
  term_values cost_us = {};   ///< the cost beyond the work, term by term
};

/// A way that cannot be taken, or of which the device's costs say nothing, and why.
struct refusal {
  way which = way::relaunch;  ///< whose time is not predicted
  std::string reason;         ///< in words, without a full stop
};

/// Answers, the quickest first.
struct answer {
  std::vector<prediction> predictions;  ///< of the ways that can be taken; never empty
  std::vector<refusal> refused;         ///< the others
  /// What lies outside of what was measured, in words: there the intervals are twice as wide. Empty: nothing.
  std::vector<std::string> beyond;

  /// The way to take.
  const prediction& best() const { return predictions.front(); }
};

namespace detail {

/// Limits about the time: no step takes less than the work that all its blocks have.
inline void spread_by(double spread, const situation& asked, prediction& made) {
  made.low = std::max(made.us_per_step / (1 + spread), std::min(made.us_per_step, asked.step_us - asked.skew_us));
  made.high = made.us_per_step * (1 + spread);
}

}  // namespace detail

/// The time of a step under a way that can be taken. Equations: see step_costs.hpp.
inline prediction predict(const situation& asked, const way_costs& costs, const device_room& room) {
  prediction made;
  made.which = costs.which;
  made.work_us =
      is_of_neighbours(costs.which) ? work_of_neighbours(asked) : work_of_all(asked, resident_blocks_of(asked, room));
  const term_values values = terms_of(asked, costs.which, room);
  double sum = made.work_us;
  for (size_t i = 0; i < term_count; ++i) {
    made.cost_us[i] = costs.us[i] * values[i];
    sum += made.cost_us[i];
  }
  // A run has its beginning whoever is the slower behind it.
  const double begin = made.cost_us[static_cast<size_t>(term::begin)];
  if (costs.host_us + begin > sum) {
    made.host_us = costs.host_us;
    sum = costs.host_us + begin;
  }
  made.us_per_step = sum;
  detail::spread_by(costs.spread, asked, made);
  return made;
}

namespace detail {

/// Why a way cannot be taken; empty if it can.
inline std::string why_not(const situation& asked, way which, const device_room& room) {
  if (asked.gpus > 1 && !is_of_several_gpus(which)) return "it is of one GPU";
  if (asked.gpus == 1 && is_of_several_gpus(which)) return "it is of several GPUs";
  if (is_of_neighbours(which) && asked.waits_for == dependence::all) {
    return "it waits for neighbours, and here every block waits for all";
  }
  if (is_of_neighbours(which) && asked.blocks < 2) return "one block has no neighbours";
  if (is_of_neighbours(which) && asked.blocks < asked.neighbours) {
    return std::to_string(asked.blocks) + " blocks do not have " + std::to_string(asked.neighbours) +
           " neighbours each";
  }
  const double resident = resident_blocks_of(asked, room);
  if (needs_co_residency(which) && asked.blocks > resident) {
    return std::to_string(asked.blocks) + " blocks cannot all run at once, at most " +
           std::to_string(static_cast<uint64_t>(resident)) +
           " can; a phased grid runs as many and goes through the others";
  }
  // Registers and shared memory of an SM: no GPU has more.
  constexpr double most_on_chip = 512 * 1024;
  const double kept = asked.kept_bytes * std::max(1.0, std::ceil(asked.blocks / static_cast<double>(room.sms)));
  if (!is_launch(which) && kept > most_on_chip) {
    return std::to_string(static_cast<uint64_t>(kept)) + " bytes of an SM's blocks do not stay on the chip";
  }
  return "";
}

/// What of a situation was never measured, in words.
inline std::vector<std::string> beyond_measured(const situation& asked, const device_costs& costs) {
  std::vector<std::string> all;
  const auto compare = [&all](const char* what, double value, double least, double most) {
    if (value >= least && value <= most) return;
    const auto figure = [](double number) {
      std::string text = std::to_string(number);
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.pop_back();
      return text;
    };
    all.push_back(std::string(what) + " " + figure(value) + ", measured from " + figure(least) +
                  (most < 1e15 ? " to " + figure(most) : " on"));
  };
  compare("blocks", asked.blocks, costs.least.blocks, costs.most.blocks);
  compare("threads", asked.threads, costs.least.threads, costs.most.threads);
  constexpr uint64_t endless = uint64_t{1} << 20;
  if (costs.least.steps >= endless && asked.steps < endless) {
    all.push_back("runs of " + std::to_string(asked.steps) +
                  " steps: the measured ones were so long that no run begins");
  } else {
    compare("steps", static_cast<double>(asked.steps), static_cast<double>(costs.least.steps),
            std::max(1e15, static_cast<double>(costs.most.steps)));  // longer runs are more of the same
  }
  if (costs.most_grids > 0) {
    compare("waves of blocks", asked.blocks / resident_blocks_of(asked, costs.room), 0,
            std::max(1.0, costs.most_grids));
  }
  if (asked.gpus == 1) {
    compare("microseconds of work", asked.step_us, 0, costs.most.step_us);
    compare("microseconds of work that differs", asked.skew_us, 0, costs.most.skew_us);
    compare("bytes stored by a block", asked.stored_bytes, 0, costs.most.stored_bytes);
    compare("bytes kept by a block", asked.kept_bytes, 0, costs.most.kept_bytes);
  }
  if (asked.waits_for == dependence::neighbours) {
    compare("neighbours", asked.neighbours, costs.least.neighbours, costs.most.neighbours);
  }
  if (asked.gpus > 1 && (asked.stored_bytes > 4 || asked.kept_bytes > 0 || asked.step_us > 0)) {
    all.push_back("work and data of steps across GPUs, of which the waiting alone was measured");
  }
  return all;
}

}  // namespace detail

/// The times of all ways that the device's costs have, and the ways that have none: see refusal. Throws
/// invalid_argument for a situation that cannot be, for more GPUs than were measured, and if no way can be taken.
inline answer advise(const situation& asked, const device_costs& costs) {
  check(asked);
  if (asked.gpus > costs.most.gpus) {
    throw invalid_argument("Costs are known of " +
                           (costs.most.gpus == 1 ? "one GPU" : "up to " + std::to_string(costs.most.gpus) + " GPUs") +
                           ", not of " + std::to_string(asked.gpus) +
                           ": `gpusync run multi-gpu-barrier` measures what waiting for several takes.");
  }
  answer found;
  for (const way_costs& one : costs.ways) {
    std::string reason = detail::why_not(asked, one.which, costs.room);
    if (reason.empty()) {
      found.predictions.push_back(predict(asked, one, costs.room));
    } else {
      found.refused.push_back({one.which, std::move(reason)});
    }
  }
  // Documents of before kernels could let in the next late know the other place alone.
  if (asked.gpus == 1 && costs.find(way::dependent_graph) != nullptr &&
      costs.find(way::late_dependent_graph) == nullptr) {
    found.refused.push_back(
        {way::late_dependent_graph, "its costs on this device are not known; `gpusync run step-costs` measures them"});
  }
  if (found.predictions.empty()) {
    throw invalid_argument("No way to wait is known for this: " +
                           (found.refused.empty() ? "the costs are empty" : found.refused.front().reason) + ".");
  }
  found.beyond = detail::beyond_measured(asked, costs);
  if (!found.beyond.empty()) {
    for (prediction& one : found.predictions) {
      const double spread = one.high / one.us_per_step - 1;
      detail::spread_by(2 * spread, asked, one);
    }
  }
  std::stable_sort(found.predictions.begin(), found.predictions.end(),
                   [](const prediction& a, const prediction& b) { return a.us_per_step < b.us_per_step; });
  return found;
}

}  // namespace gpusync::advice
