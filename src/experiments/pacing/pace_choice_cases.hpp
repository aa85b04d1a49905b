// The loops on which the automatic choice is tried.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/experiment.hpp"
#include "workloads/paced/paced.hpp"

namespace gpusync::tool::pace_choice_experiment {

/// One loop in one size on one grid.
struct loop_case {
  const char* workload;  ///< as register_side<paced_device> knows its text
  uint32_t blocks;       ///< of the grid, or, if `each_unit`, for each multiprocessor
  bool each_unit;
  uint32_t threads;           ///< a block
  uint64_t elements, length;  ///< of paced_problem; as all below
  uint32_t percent = 0;
  uint64_t band = 0;
  bool small_l1 = false;

  paced_problem problem(const device_description& device) const;
};

/// All that there are for this kind of device: 66 on GPUs, of up to 5 GB; a small one of each workload elsewhere.
const std::vector<loop_case>& loop_cases(device_kind kind);

}  // namespace gpusync::tool::pace_choice_experiment
