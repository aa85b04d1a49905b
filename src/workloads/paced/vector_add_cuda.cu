// Text "vector-add" on CUDA devices.
#include "workloads/paced/paced_cuda.cuh"
#include "workloads/paced/vector_add.hpp"

namespace gpusync::tool {

namespace {

const register_side<paced_device> vector_add_registered = register_cuda_text<vector_add_text>("vector-add");

}  // namespace

}  // namespace gpusync::tool
