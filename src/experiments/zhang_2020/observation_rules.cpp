#include "experiments/zhang_2020/observation_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool {

namespace {

// ---- where the figures stand: rows of an experiment and a method ("": any), with a word on an axis if there is one

struct source {
  const char *experiment, *method, *metric;
  const char *axis = nullptr, *word = nullptr;
};

constexpr source warp_passages{"warp-timers", "", "runs_held"};
constexpr source sum_by_shuffle{"warp-reduction", "shuffle-tile", "latency"};
constexpr source sum_by_tile{"warp-reduction", "tile", "latency"};
constexpr source sum_by_coalesced{"warp-reduction", "coalesced", "latency"};
constexpr source block_barrier{"block-sync", "syncthreads", "latency"};
constexpr source grid_barrier_step{"grid-sync", "cg", "step_time"};
constexpr source launch_with_barriers{"grid-sync", "cg", "launch_time", "launched", "stream"};
constexpr source launch_alone{"grid-sync", "", "launch_time", "launched", "stream"};
constexpr source launch_overhead{"launch-overhead", "traditional", "launch_overhead", "unit", "clock"};
constexpr source part_of_grid{"partial-sync", "cg", "deadlock", "rest", "leaves"};
constexpr source sum_implicit{"reduction", "implicit", "bandwidth", "input", "cold"};
constexpr source sum_with_barrier{"reduction", "grid-cg", "bandwidth", "input", "cold"};

constexpr int64_t least_unit_us = 5;      ///< of launch overheads that are believed
constexpr double acceptable_us = 2.5;     ///< that a grid barrier may take beyond a launch: section 5.3
constexpr double least_effect = 1.1;      ///< a factor that counts as an effect
constexpr int64_t acceptable_blocks = 2;  ///< per multiprocessor

// ---- finding them

struct figure_at {
  const row* entry;
  double value;
};

std::vector<figure_at> figures_of(const std::vector<row>& rows, const source& from) {
  std::vector<figure_at> found;
  for (const row& entry : rows) {
    if (entry.experiment != from.experiment || (*from.method != 0 && entry.method != from.method)) continue;
    const auto has_word = [&](const auto& axis) {
      return axis.first == from.axis && axis.second == axis_value(from.word);
    };
    if (from.axis != nullptr && std::ranges::none_of(entry.axes, has_word)) continue;
    if (const auto value = value_of(entry, from.metric)) found.push_back({&entry, *value});
  }
  return found;
}

std::optional<double> least_of(const std::vector<figure_at>& figures) {
  if (figures.empty()) return std::nullopt;
  return std::ranges::min(figures, {}, &figure_at::value).value;
}

std::optional<double> most_of(const std::vector<figure_at>& figures) {
  if (figures.empty()) return std::nullopt;
  return std::ranges::max(figures, {}, &figure_at::value).value;
}

/// The figures by their place on an axis of numbers.
std::map<int64_t, std::vector<figure_at>> by_axis(const std::vector<figure_at>& figures, const char* axis) {
  std::map<int64_t, std::vector<figure_at>> found;
  for (const figure_at& one : figures) {
    if (const auto place = axis_number(one.entry->axes, axis)) found[*place].push_back(one);
  }
  return found;
}

observation_finding lacks(const std::string& what) {
  return {observation_finding::not_measured, "There are no rows of " + what + "."};
}

observation_finding found(bool holds, const std::string& evidence) {
  return {holds ? observation_finding::holds : observation_finding::fails, evidence};
}

/// What needs several GPUs, or nothing that is measured.
template <int Which>
observation_finding undecided(const std::vector<row>&) {
  constexpr const char* why[] = {
      "It is about several GPUs, and this is one; CUDA 13 has no barrier of several grids.",
      "It is about how programs are written, which is not measured.",
  };
  return {observation_finding::not_measured, why[Which]};
}

// ---- the predicates

/// On a GPU that is no Pascal the statement may fail, and then all is well.
observation_finding warps_let_pass(const std::vector<row>& rows) {
  size_t all = 0;
  std::vector<std::string> passing;
  for (const figure_at& one : figures_of(rows, warp_passages)) {
    if (is_floor(*one.entry)) continue;
    all += 1;
    if (one.value < 1) passing.push_back(one.entry->method);
  }
  if (all == 0) return lacks("warp-timers");
  if (passing.empty()) {
    return found(false, fmt::format("All {} barriers of a warp held every lane until all had come.", all));
  }
  return found(true, fmt::format("{} of {} let lanes pass before all had come: {}.", passing.size(), all,
                                 fmt::join(passing, ", ")));
}

observation_finding shuffle_is_better(const std::vector<row>& rows) {
  const auto shuffle = least_of(figures_of(rows, sum_by_shuffle));
  std::vector<figure_at> others = figures_of(rows, sum_by_tile);
  std::ranges::copy(figures_of(rows, sum_by_coalesced), std::back_inserter(others));
  const auto other = least_of(others);
  if (!shuffle || !other) return lacks("the sums in a warp (warp-reduction)");
  return found(*shuffle < *other,
               fmt::format("The sum of a warp takes {} cycles by shuffles, {} through shared memory.", figure(*shuffle),
                           figure(*other)));
}

observation_finding warps_matter_to_blocks(const std::vector<row>& rows) {
  const auto places = by_axis(figures_of(rows, block_barrier), "threads");
  if (places.size() < 2) return lacks("block-sync for two sizes of blocks");
  const auto &few = *places.begin(), &many = *places.rbegin();
  const double at_few = *least_of(few.second), at_many = *least_of(many.second);
  return found(at_many > least_effect * at_few,
               fmt::format("__syncthreads() takes {} cycles with {} warps on the multiprocessor, {} with {}.",
                           figure(at_few), few.first / 32, figure(at_many), many.first / 32));
}

/// The largest factor that an axis makes while the other, and the stores, stay as they are.
double effect_of(const std::vector<figure_at>& figures, const char* axis, const char* other) {
  double most = 0;
  for (const auto& [stores, alike] : by_axis(figures, "stores")) {
    for (const auto& [place, line] : by_axis(alike, other)) {
      if (by_axis(line, axis).size() > 1) most = std::max(most, *most_of(line) / *least_of(line));
    }
  }
  return most;
}

observation_finding blocks_matter_to_grids(const std::vector<row>& rows) {
  const auto figures = figures_of(rows, grid_barrier_step);
  const double by_blocks = effect_of(figures, "blocks_per_sm", "threads");
  const double by_threads = effect_of(figures, "threads", "blocks_per_sm");
  if (by_blocks == 0 || by_threads == 0) return lacks("grid-sync over blocks and over threads");
  return found(
      by_blocks > by_threads && by_blocks > least_effect,
      fmt::format("More blocks on a multiprocessor make cg up to {:.1f} times as slow, more threads in a block "
                  "up to {:.1f} times.",
                  by_blocks, by_threads));
}

/// Section 5.3: at most 2.5 us beyond the overhead of a launch.
observation_finding two_blocks_are_acceptable(const std::vector<row>& rows) {
  std::vector<figure_at> few;
  for (const figure_at& one : figures_of(rows, grid_barrier_step)) {
    const auto blocks = axis_number(one.entry->axes, "blocks_per_sm");
    if (blocks && *blocks <= acceptable_blocks && axis_number(one.entry->axes, "stores") == 0) few.push_back(one);
  }
  std::vector<figure_at> launches;
  for (const figure_at& one : figures_of(rows, launch_overhead)) {
    if (axis_number(one.entry->axes, "unit_us").value_or(0) >= least_unit_us) launches.push_back(one);
  }
  if (few.empty()) return lacks("grid-sync with one or two blocks on a multiprocessor");
  if (launches.empty()) return lacks("launch-overhead by a unit of at least 5 us");
  const double barrier = *most_of(few), launch = *least_of(launches);
  return found(barrier - launch <= acceptable_us,
               fmt::format("With up to {} blocks on a multiprocessor cg takes at most {} us, and the overhead of a "
                           "launch is {} us: within {} us of it.",
                           acceptable_blocks, figure(barrier), figure(launch), acceptable_us));
}

observation_finding part_of_a_grid_deadlocks(const std::vector<row>& rows) {
  const auto cases = figures_of(rows, part_of_grid);
  if (cases.empty()) return lacks("partial-sync of a grid");
  const auto hanging = std::ranges::count_if(cases, [](const figure_at& one) { return one.value != 0; });
  return found(hanging != 0,
               fmt::format("cg called by part of the blocks, while the rest leaves, hung in {} of {} cases.", hanging,
                           cases.size()));
}

observation_finding implicit_is_better(const std::vector<row>& rows) {
  const auto implicit = most_of(figures_of(rows, sum_implicit)), barrier = most_of(figures_of(rows, sum_with_barrier));
  if (!implicit || !barrier) return lacks("sums of the device (reduction)");
  return found(*implicit > *barrier,
               fmt::format("The largest sum runs at {} GB/s with two kernels, at {} with a grid barrier.",
                           figure(*implicit), figure(*barrier)));
}

/// So many steps as launches, against one launch with barriers between them.
observation_finding few_steps_are_for_launches(const std::vector<row>& rows) {
  const auto barriers = by_axis(figures_of(rows, launch_with_barriers), "barriers");
  std::vector<figure_at> floors;
  for (const figure_at& one : figures_of(rows, launch_alone)) {
    if (is_floor(*one.entry)) floors.push_back(one);
  }
  if (barriers.empty() || floors.empty()) return lacks("launches with barriers (grid-sync)");
  const auto& [count, launches] = *barriers.begin();
  const double explicit_time = *least_of(launches), launch = *least_of(floors);
  const double implicit_time = static_cast<double>(count + 1) * launch;
  return found(implicit_time < explicit_time,
               fmt::format("{} launches take {} us, one with {} barrier{} of cg between takes {} us.", count + 1,
                           figure(implicit_time), count, count == 1 ? "" : "s", figure(explicit_time)));
}

}  // namespace

const std::vector<observation>& observations() {
  static const std::vector<observation> all{
      {"warp-on-pascal", "Barriers of a warp do not work (on Pascal)", {"warp-timers"}, warps_let_pass},
      {"warp-shuffle",
       "Shuffles perform better than warp barriers in real code",
       {"warp-reduction"},
       shuffle_is_better},
      {"block-warps", "The number of active warps affects a block's barrier", {"block-sync"}, warps_matter_to_blocks},
      {"grid-blocks",
       "Blocks per multiprocessor mainly affect a grid's barrier",
       {"grid-sync"},
       blocks_matter_to_grids},
      {"grid-acceptable",
       "A grid's barrier is acceptable with up to two blocks per multiprocessor",
       {"grid-sync", "launch-overhead"},
       two_blocks_are_acceptable},
      {"grid-part",
       "Part of a grid's blocks calling its barrier deadlocks",
       {"partial-sync"},
       part_of_a_grid_deadlocks},
      {"multi-grid-load", "Blocks and warps per multiprocessor affect a barrier of grids", {}, undecided<0>},
      {"multi-grid-acceptable",
       "A barrier of grids is acceptable with up to 1024 threads and 8 blocks per multiprocessor",
       {},
       undecided<0>},
      {"multi-grid-part", "Part of the grids calling their barrier deadlocks", {}, undecided<0>},
      {"implicit-one-gpu", "Implicit barriers are slightly better on one GPU", {"reduction"}, implicit_is_better},
      {"implicit-few-steps",
       "Implicit barriers are better where there are few steps",
       {"grid-sync"},
       few_steps_are_for_launches},
      {"implicit-many-gpus", "Implicit barriers are slightly better on many GPUs", {}, undecided<0>},
      {"implicit-programs", "Implicit barriers are harder to program", {}, undecided<1>},
  };
  return all;
}

observation_finding judge(const observation& which, const std::vector<row>& rows) {
  std::vector<row> usable;
  std::ranges::copy_if(rows, std::back_inserter(usable), [&](const row& entry) {
    // partial-sync may fail a row whose finding is that it hangs.
    return !is_published(entry) && (entry.status == row_status::ok || entry.experiment == part_of_grid.experiment);
  });
  return which.judge(usable);
}

}  // namespace gpusync::tool
