// Workload "bitonic sort" on OpenCL devices.
#include <map>

#include "boundary/steps_opencl.hpp"
#include "embedded/bitonic_sort_cl.hpp"
#include "workloads/bitonic_sort/bitonic_steps.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"

namespace gpusync::tool {

namespace {

class opencl_bitonic : public bitonic_device {
 public:
  explicit opencl_bitonic(const device_description& device) : target_(device) {}

  std::unique_ptr<workload> sorting(const sort_input& input, sort_form form) override {
    if (!has(form)) throw invalid_argument("OpenCL devices sort in memory only.");
    const auto memory = std::make_shared<opencl_arrays>(target_, std::vector{elements_of(input)});
    auto& kernels = kernels_[input.element_bytes];
    if (!kernels) {
      kernels = std::make_shared<opencl_kernels>(target_, embedded::bitonic_sort_cl,
                                                 "-DSORT_BYTES=" + std::to_string(input.element_bytes));
    }
    const uint32_t merges = merges_of(input.count);
    const auto set_arguments = [memory, merges, count = input.count, order = input.order](cl::Kernel& kernel,
                                                                                          cl_uint first) {
      const cl_uint next = memory->set_arguments(kernel, first);
      opencl::checked([&] {
        kernel.setArg(next, static_cast<cl_uint>(count));
        kernel.setArg(next + 1, cl_uint{merges});
        kernel.setArg(next + 2, cl_ulong{order.negative});
        kernel.setArg(next + 3, cl_ulong{order.all});
      });
    };
    return workload_of(opencl_computation{kernels, set_arguments, step_sequence::of_whole(bitonic_steps_in(merges)),
                                          sorted_result(input, memory)});
  }
  uint64_t memory() const override { return target_.memory(); }
  uint64_t largest_buffer() const override { return target_.largest_buffer(); }
  /// The elements: the host has the others.
  memory_need need_of(uint64_t count, uint32_t element_bytes, sort_form) const override {
    return {count * element_bytes, count * element_bytes};
  }

 private:
  const opencl_target target_;
  std::map<uint32_t, std::shared_ptr<opencl_kernels>> kernels_;  ///< by the bytes of an element
};

const register_side<bitonic_device> bitonic_registered(device_kind::opencl, make_side<opencl_bitonic>);

}  // namespace

}  // namespace gpusync::tool
