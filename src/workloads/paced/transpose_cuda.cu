// Text "transpose" on CUDA devices.
#include "workloads/paced/paced_cuda.cuh"
#include "workloads/paced/transpose.hpp"

namespace gpusync::tool {

namespace {

const register_side<paced_device> transpose_registered = register_cuda_text<transpose_text>("transpose");

}  // namespace

}  // namespace gpusync::tool
