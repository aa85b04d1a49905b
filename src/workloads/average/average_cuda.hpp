// Workload "average" on CUDA devices: what nvcc compiles of it.
#pragma once

#include "boundary/cuda_kernels.hpp"
#include "boundary/program.hpp"
#include "workloads/average/average.hpp"

namespace gpusync {
class cuda_device;
}

namespace gpusync::tool {

/// The text with every grid barrier.
cuda_kernels average_kernels();

/// What a survey of the device's L2 cache finds.
grid_facts facts_of(const cuda_device& device);

}  // namespace gpusync::tool
