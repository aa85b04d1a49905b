// Workload "stencil" on OpenCL devices.
#include <map>

#include "boundary/steps_opencl.hpp"
#include "embedded/stencil_text_h.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

namespace {

class opencl_stencil : public stencil_device {
 public:
  explicit opencl_stencil(const device_description& device) : target_(device) {}

  bool has(stencil_real real) const override {
    return real == stencil_real::single ||
           opencl::checked([&] { return target_.device.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() != 0; });
  }

  std::unique_ptr<workload> relaxing(const stencil_body& body) override {
    if (body.tolerance()) throw invalid_argument("On OpenCL devices relaxations have a number of steps.");
    const auto memory = std::make_shared<opencl_arrays>(target_, body.content());
    const auto set_arguments = [memory, size = body.size()](cl::Kernel& kernel, cl_uint first) {
      kernel.setArg(memory->set_arguments(kernel, first), size);
    };
    return workload_of(opencl_computation{kernels_of(body.real()), set_arguments, body.steps(), body.result(memory)});
  }

 private:
  std::shared_ptr<opencl_kernels> kernels_of(stencil_real real) {
    auto& made = kernels_[real];
    if (!made) {
      made = std::make_shared<opencl_kernels>(target_, embedded::stencil_text_h,
                                              real == stencil_real::twice ? "-DSTENCIL_DOUBLE" : "");
    }
    return made;
  }

  const opencl_target target_;
  std::map<stencil_real, std::shared_ptr<opencl_kernels>> kernels_;
};

const register_side<stencil_device> stencil_registered(device_kind::opencl, make_side<opencl_stencil>);

}  // namespace

}  // namespace gpusync::tool
