// Text "memory-test" on CUDA devices.
#include "workloads/paced/memory_test.hpp"
#include "workloads/paced/paced_cuda.cuh"

namespace gpusync::tool {

namespace {

const register_side<paced_device> memory_test_registered = register_cuda_text<memory_test_text>("memory-test");

}  // namespace

}  // namespace gpusync::tool
