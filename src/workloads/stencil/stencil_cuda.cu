// Workload "stencil" on CUDA devices.
#include "workloads/stencil/stencil_cuda.cuh"

namespace gpusync::tool {

cuda_computation single_relaxation_on_cuda(const cuda_target& where, const stencil_body& body) {
  return relaxation_on_cuda<float>(where, body);
}

namespace {

class cuda_stencil : public stencil_device {
 public:
  explicit cuda_stencil(const device_description& description) : where_(description.index) {}

  std::unique_ptr<workload> relaxing(const stencil_body& body) override {
    if (body.tolerance()) return workload_of(converging_relaxation_on_cuda(where_, body));
    return workload_of(body.real() == stencil_real::twice ? twice_relaxation_on_cuda(where_, body)
                                                          : single_relaxation_on_cuda(where_, body));
  }

 private:
  const cuda_target where_;
};

const register_side<stencil_device> stencil_registered(device_kind::cuda, make_side<cuda_stencil>);

}  // namespace

}  // namespace gpusync::tool
