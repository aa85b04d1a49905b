// Surveys of the L2 cache for everything in the tool that places words.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include <gpusync/grid/l2_survey.cuh>

#include "boundary/cuda_target.hpp"

namespace gpusync::tool {

/// A survey of the device that has so many lines of each partition left, if it has partitions. Surveys are made on the
/// stream that everything runs on, for kernels on a second one would make graphs slower (cuda_target), and kept.
inline l2_survey survey_with_lines(const cuda_target& where, uint32_t per_partition) {
  static std::mutex mutex;
  static std::map<int, std::vector<l2_survey>> by_device;
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<l2_survey>& known = by_device[where.device().ordinal()];
  for (const l2_survey& survey : known) {
    if (!survey.figures().has_partitions()) return survey;
    if (!grid::cuda_line_lease(where.device(), per_partition, survey).empty()) return survey;
  }
  known.emplace_back(where.device(), where.stream());
  return known.back();
}

}  // namespace gpusync::tool
