// Texts "scalar-product" on CUDA devices.
#include "workloads/paced/paced_cuda.cuh"
#include "workloads/paced/scalar_product.hpp"

namespace gpusync::tool {

namespace {

const register_side<paced_device> scalar_product_registered[] = {
    register_cuda_text<scalar_product_text<false>>("scalar-product set"),
    register_cuda_text<scalar_product_text<true>>("scalar-product element")};

}  // namespace

}  // namespace gpusync::tool
