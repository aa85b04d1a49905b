// Workload "stencil" on OpenCL devices.
#include "boundary/steps_opencl.hpp"
#include "embedded/stencil_text_h.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

namespace {

class opencl_stencil : public stencil_device {
 public:
  explicit opencl_stencil(const device_description& device) : target_(device) {}

  std::unique_ptr<workload> relaxing(const stencil_body& body) override {
    const auto memory = std::make_shared<opencl_arrays>(target_, body.content());
    const auto set_arguments = [memory, size = body.size()](cl::Kernel& kernel, cl_uint first) {
      kernel.setArg(memory->set_arguments(kernel, first), size);
    };
    return workload_of(opencl_computation{kernels_, set_arguments, body.steps(), body.result(memory)});
  }

 private:
  const opencl_target target_;
  const std::shared_ptr<opencl_kernels> kernels_ = std::make_shared<opencl_kernels>(target_, embedded::stencil_text_h);
};

const register_side<stencil_device> registered(device_kind::opencl, make_side<opencl_stencil>);

}  // namespace

}  // namespace gpusync::tool
