#include <gpusync/gpusync.cuh>

#include "boundary/cuda_text.cuh"
#include "workloads/average/average_cuda.hpp"

namespace gpusync::tool {

cuda_kernels average_kernels() {
  return kernels_of<average_text, grid::cuda_algorithms>();
}

grid_facts facts_of(const cuda_device& device) {
  const grid::cuda_line_lease lease(device, 1);
  const grid::line_survey& survey = lease.survey().figures();
  return {static_cast<uint32_t>(device.sm_count()),
          static_cast<uint32_t>(device.properties().maxThreadsPerMultiProcessor), survey.has_partitions(),
          survey.near(), survey.far()};
}

}  // namespace gpusync::tool
