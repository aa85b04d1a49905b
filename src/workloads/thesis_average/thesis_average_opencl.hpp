// Workload "thesis_average" on OpenCL devices, under any barriers: also those that tests have spoilt.
#pragma once

#include <gpusync/opencl/registry.hpp>
#include "workloads/thesis_average/thesis_average.hpp"

namespace gpusync::tool {

/// Throws no_such_device if the device is not there.
std::unique_ptr<thesis_device> open_thesis_average(const device_description& device,
                                                   std::vector<opencl::barrier_method> barriers);

}  // namespace gpusync::tool
