// Workload "rmw calls" on CUDA devices: states of floating-point types.
#include "workloads/rmw_calls/rmw_calls_cuda.cuh"

namespace gpusync::tool {

namespace {

template <class State>
std::unique_ptr<workload> open_calls_on(const cuda_target& where, const call_setup& setup) {
  if (setup.where == rmw::space::global) {
    return std::make_unique<calls_workload<State, 5, rmw::space::global>>(where, setup);
  }
  return std::make_unique<calls_workload<State, 5, rmw::space::shared>>(where, setup);
}

}  // namespace

std::unique_ptr<workload> open_calls_on_other_types(const cuda_target& where, const call_setup& setup) {
  if (setup.type == "float32") return open_calls_on<float>(where, setup);
  return open_calls_on<double>(where, setup);
}

}  // namespace gpusync::tool
