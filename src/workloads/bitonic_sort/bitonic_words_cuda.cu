// Workload "bitonic sort" on CUDA devices: elements of 4 bytes.
#include "workloads/bitonic_sort/bitonic_workload.cuh"

namespace gpusync::tool {

template std::unique_ptr<whole_workload> sort_on_cuda<uint32_t>(const cuda_target&, const sort_input&, sort_form);

}  // namespace gpusync::tool
