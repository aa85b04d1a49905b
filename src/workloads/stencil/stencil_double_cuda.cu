// Workload "stencil" on CUDA devices with doubles.
#include "workloads/stencil/stencil_cuda.cuh"

namespace gpusync::tool {

cuda_computation twice_relaxation_on_cuda(const cuda_target& where, const stencil_body& body) {
  return relaxation_on_cuda<double>(where, body);
}

}  // namespace gpusync::tool
