// Workload "rmw calls" on CUDA devices: 32-bit words, many participants.
#include "workloads/rmw_calls/rmw_calls_cuda.cuh"

namespace gpusync::tool {

std::unique_ptr<workload> open_calls_of_many(const cuda_target& where, const call_setup& setup) {
  if (setup.where == rmw::space::shared) {
    return std::make_unique<calls_workload<uint32_t, 32, rmw::space::shared>>(where, setup);
  }
  if (setup.capacity == 132) return std::make_unique<calls_workload<uint32_t, 132, rmw::space::global>>(where, setup);
  return std::make_unique<calls_workload<uint32_t, 264, rmw::space::global>>(where, setup);
}

}  // namespace gpusync::tool
