// Text "column-walk" on CUDA devices.
#include "workloads/paced/column_walk.hpp"
#include "workloads/paced/paced_cuda.cuh"

namespace gpusync::tool {

namespace {

const register_side<paced_device> column_walk_registered = register_cuda_text<column_walk_text>("column-walk");

}  // namespace

}  // namespace gpusync::tool
