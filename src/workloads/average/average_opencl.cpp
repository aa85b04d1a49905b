// Workload "average" on OpenCL devices.
#include "boundary/steps_opencl.hpp"
#include "embedded/average_text_h.hpp"
#include "workloads/average/average.hpp"

namespace gpusync::tool {

namespace {

using argument_setter = std::function<void(cl::Kernel&, cl_uint first)>;

argument_setter arguments(std::shared_ptr<opencl_arrays> memory, bool stores, bool crosses) {
  return [=](cl::Kernel& kernel, cl_uint first) {
    const cl_uint next = memory->set_arguments(kernel, first);
    kernel.setArg(next, cl_uint{stores});
    kernel.setArg(next + 1, cl_uint{crosses});
  };
}

class opencl_average : public workload {
 public:
  explicit opencl_average(const device_description& description)
      : target_(description), compute_units_(static_cast<uint32_t>(std::max(1, description.compute_units))) {}

  std::vector<step_method> methods() const override { return methods_on_opencl(*kernels_, true); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto memory = std::make_shared<opencl_arrays>(target_, average_arrays(shape));
    return prepare_program(method, shape,
                           {kernels_, arguments(memory, shape.stores, crosses_blocks(method)), average_steps(shape),
                            std::make_shared<average_result>(shape, crosses_blocks(method), memory)});
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    const auto untouched = std::make_shared<opencl_arrays>(target_, average_arrays({1, 1}));
    return max_co_resident_on_opencl(*kernels_, arguments(untouched, false, true), methods, threads);
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto resident = static_cast<uint32_t>(workload::max_co_resident(default_threads(quick).front()));
    if (target_.is_cpu()) {
      if (quick) return {resident};
      std::vector<uint32_t> blocks;
      for (uint32_t b = 1; b <= resident; ++b) blocks.push_back(b);
      return blocks;
    }
    if (quick) return {std::min(compute_units_, resident)};
    const uint32_t units = compute_units_;
    return distinct({1, units / 4, units / 2, units, 2 * units, resident}, resident);
  }

  std::vector<uint32_t> default_threads(bool quick) override {
    if (quick) return {target_.is_cpu() ? 64u : 256u};
    return {64, 256};
  }

 private:
  const opencl_target target_;
  const uint32_t compute_units_;
  const std::shared_ptr<opencl_kernels> kernels_ = std::make_shared<opencl_kernels>(target_, embedded::average_text_h);
};

const register_side<workload> average_registered(device_kind::opencl, make_side<opencl_average>, "average");

}  // namespace

}  // namespace gpusync::tool
