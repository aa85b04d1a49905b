// Texts "sparse-product" on CUDA devices.
#include "workloads/paced/paced_cuda.cuh"
#include "workloads/paced/sparse_product.hpp"

namespace gpusync::tool {

namespace {

const register_side<paced_device> sparse_product_registered[] = {
    register_cuda_text<row_a_warp_text>("sparse-product warp"),
    register_cuda_text<row_a_thread_text>("sparse-product thread")};

}  // namespace

}  // namespace gpusync::tool
