// Surveys of the L2 cache for everything in the tool that places words.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include <gpusync/grid/l2_survey.cuh>

#include "boundary/cuda_target.hpp"

namespace gpusync::tool {

/// `make(survey)` for a survey of the device that has lines left for what is made: `has_lines(made)`. Surveys are made
/// on the stream that everything runs on, for kernels on a second one would make graphs slower (cuda_target), and kept.
template <class Make, class HasLines>
auto with_survey(const cuda_target& where, Make&& make, HasLines&& has_lines) {
  static std::mutex mutex;
  static std::map<int, std::vector<l2_survey>> by_device;
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<l2_survey>& known = by_device[where.device().ordinal()];
  for (const l2_survey& survey : known) {
    auto made = make(survey);
    if (has_lines(made) || !survey.figures().has_partitions()) return made;
  }
  known.emplace_back(where.device(), where.stream());
  return make(known.back());
}

/// So many lines of each partition; none where there are no partitions.
inline grid::cuda_line_lease lease_lines(const cuda_target& where, uint32_t per_partition) {
  return with_survey(
      where, [&](const l2_survey& survey) { return grid::cuda_line_lease(where.device(), per_partition, survey); },
      [](const grid::cuda_line_lease& lease) { return !lease.empty(); });
}

}  // namespace gpusync::tool
