// The models that fits_of() chooses from; each takes the rows of one sweep.
#pragma once

#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// Where barriers are faster than launches, over the blocks (Feng and Xiao 2010, item F10).
std::vector<row> crossing_rows(const std::vector<row>& rows);

/// What a barrier of a launch takes, over the barriers in it, and from how many on it takes less than NVIDIA's.
std::vector<row> launch_barrier_fits(const std::vector<row>& rows);

/// The equations of Shen 2013: 3 and 4, over the work-groups; 5 and 6, over the iterations; memory over the
/// work-groups.
std::vector<row> opencl_barrier_fits(const std::vector<row>& rows);
std::vector<row> opencl_iteration_fits(const std::vector<row>& rows);
std::vector<row> opencl_memory_fits(const std::vector<row>& rows);

/// Latency of barriers of a block over its warps (Zhang et al. 2020, item Z7).
std::vector<row> level_fits(const std::vector<row>& rows);

}  // namespace gpusync::tool
