// Surveys of the L2 cache for everything in the tool that places words.
#pragma once

#include <map>
#include <vector>

#include <gpusync/gpusync.cuh>
#include <gpusync/grid/l2_survey.cuh>
#include <gpusync/neighbours/cuda.cuh>

#include "boundary/cuda_target.hpp"

namespace gpusync::tool {

/// The surveys of a device that were made so far. They are never destroyed: a stuck kernel would be waited for.
inline std::vector<l2_survey>& surveys_of(const cuda_device& device) {
  static auto* const by_device = new std::map<int, std::vector<l2_survey>>;
  return (*by_device)[device.ordinal()];
}

/// `make(survey)` for a survey of the device that has lines left for what is made: `has_lines(made)`. Surveys are made
/// on the stream that everything runs on, for kernels on a second one would make graphs slower (cuda_target), and kept.
/// For one thread at a time.
template <class Make, class HasLines>
auto with_survey(const cuda_target& where, Make&& make, HasLines&& has_lines) {
  std::vector<l2_survey>& known = surveys_of(where.device());
  for (const l2_survey& survey : known) {
    auto made = make(survey);
    if (has_lines(made) || !survey.figures().has_partitions()) return made;
  }
  known.emplace_back(where.device(), where.stream());
  return make(known.back());
}

/// A survey of each device, for what needs no line of its own.
inline std::vector<l2_survey> surveys_for(const std::vector<cuda_target>& targets) {
  std::vector<l2_survey> all;
  for (const cuda_target& one : targets) {
    all.push_back(with_survey(
        one, [](const l2_survey& survey) { return survey; }, [](const l2_survey&) { return true; }));
  }
  return all;
}

/// The storage of the default grid barrier for kernels on this stream: without a survey it would make one on a stream
/// of its own.
inline grid_barrier_storage default_grid_barrier(const cuda_target& where, uint32_t blocks) {
  return with_survey(
      where, [&](const l2_survey& survey) { return grid_barrier_storage(where.device(), blocks, survey); },
      [](const grid_barrier_storage& made) { return made.counters().placed(); });
}

/// A halo for kernels on this stream, its words placed.
template <class T>
halo_storage<T> placed_halo(const cuda_target& where, const neighbourhood& who, uint64_t words) {
  return with_survey(
      where, [&](const l2_survey& survey) { return halo_storage<T>(where.device(), who, words, survey); },
      [](const halo_storage<T>&) { return true; });
}

/// So many lines of each partition; none where there are no partitions.
inline grid::cuda_line_lease lease_lines(const cuda_target& where, uint32_t per_partition) {
  return with_survey(
      where, [&](const l2_survey& survey) { return grid::cuda_line_lease(where.device(), per_partition, survey); },
      [](const grid::cuda_line_lease& lease) { return !lease.empty(); });
}

}  // namespace gpusync::tool
