// Workload "stencil" on CUDA devices, with every grid barrier that orders data.
#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

namespace {

class cuda_stencil : public stencil_device {
 public:
  explicit cuda_stencil(const device_description& description) : where_(description.index) {}

  std::unique_ptr<workload> relaxing(const stencil_body& body) override {
    const auto memory = std::make_shared<cuda_arrays>(where_, body.content());
    return with_stencil_text(body.size(), memory->address<float>(0), memory->address<float>(1), [&](const auto& text) {
      using text_type = std::decay_t<decltype(text)>;
      return workload_of(cuda_computation{where_, kernels_of<text_type, grid::cuda_algorithms, barriers::that_order>(),
                                          text, body.steps(), body.result(memory)});
    });
  }

 private:
  const cuda_target where_;
};

const register_side<stencil_device> registered(device_kind::cuda, make_side<cuda_stencil>);

}  // namespace

}  // namespace gpusync::tool
