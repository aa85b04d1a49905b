// Workload "rmw calls" on CUDA devices: 32-bit words, for which there are all sizes of objects.
#include "workloads/rmw_calls/rmw_calls_cuda.cuh"

namespace gpusync::tool {

std::unique_ptr<workload> open_calls_on_words(const cuda_target& where, const call_setup& setup) {
  if (setup.where == rmw::space::global) {
    if (setup.capacity == 5) return std::make_unique<calls_workload<uint32_t, 5, rmw::space::global>>(where, setup);
    if (setup.capacity == 132) return std::make_unique<calls_workload<uint32_t, 132, rmw::space::global>>(where, setup);
    return std::make_unique<calls_workload<uint32_t, 264, rmw::space::global>>(where, setup);
  }
  if (setup.capacity == 5) return std::make_unique<calls_workload<uint32_t, 5, rmw::space::shared>>(where, setup);
  if (setup.capacity == 16) return std::make_unique<calls_workload<uint32_t, 16, rmw::space::shared>>(where, setup);
  return std::make_unique<calls_workload<uint32_t, 32, rmw::space::shared>>(where, setup);
}

}  // namespace gpusync::tool
