// Workload "bitonic sort" on OpenCL devices.
#include <map>

#include "boundary/steps_opencl.hpp"
#include "embedded/bitonic_sort_cl.hpp"
#include "workloads/bitonic_sort/bitonic_steps.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"

namespace gpusync::tool {

namespace {

class opencl_data : public run_data {
 public:
  opencl_data(const opencl_target& target, const sort_input& input) : target_(target), input_(input) {
    opencl::checked(
        [&] { elements_ = cl::Buffer(target.context, CL_MEM_READ_WRITE, std::max<size_t>(1, input.bytes())); });
  }

  void reset() override {
    if (input_.bytes() == 0) return;
    opencl::checked(
        [&] { target_.queue.enqueueWriteBuffer(elements_, CL_TRUE, 0, input_.bytes(), input_.unsorted.data()); });
  }
  check_result check(uint64_t) override {
    std::vector<uint32_t> found(input_.unsorted.size());
    if (!found.empty()) {
      opencl::checked([&] { target_.queue.enqueueReadBuffer(elements_, CL_TRUE, 0, input_.bytes(), found.data()); });
    }
    return compare_sorted(input_, found.data());
  }
  std::string how() const override { return how_sorts_are_checked(); }

  uint32_t steps() const { return merges() * (merges() + 1) / 2; }

  void set_arguments(cl::Kernel& kernel, cl_uint first) const {
    opencl::checked([&] {
      kernel.setArg(first, elements_);
      kernel.setArg(first + 1, static_cast<cl_uint>(input_.count));
      kernel.setArg(first + 2, cl_uint{merges()});
      kernel.setArg(first + 3, cl_ulong{input_.order.negative});
      kernel.setArg(first + 4, cl_ulong{input_.order.all});
    });
  }

 private:
  uint32_t merges() const { return merges_of(input_.count); }

  const opencl_target& target_;
  const sort_input& input_;
  cl::Buffer elements_;
};

class opencl_bitonic : public bitonic_device {
 public:
  explicit opencl_bitonic(const device_description& device) : target_(device) {}

  std::unique_ptr<workload> sorting(const sort_input& input, sort_form form) override {
    if (!has(form)) throw invalid_argument("OpenCL devices sort in memory only.");
    const auto data = std::make_shared<opencl_data>(target_, input);
    auto& kernels = kernels_[input.element_bytes];
    if (!kernels) {
      kernels = std::make_shared<opencl_kernels>(target_, embedded::bitonic_sort_cl,
                                                 "-DSORT_BYTES=" + std::to_string(input.element_bytes));
    }
    return workload_on_opencl({kernels,
                               [data](cl::Kernel& kernel, cl_uint first) { data->set_arguments(kernel, first); },
                               step_sequence::of_whole(data->steps()), data});
  }
  bool has(sort_form form) const override { return form == sort_form::memory; }
  uint64_t memory() const override {
    return opencl::checked([&] { return target_.device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>(); });
  }
  uint64_t largest_buffer() const override {
    return opencl::checked([&] { return target_.device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>(); });
  }
  /// The elements: the host has the others.
  memory_need need_of(uint64_t count, uint32_t element_bytes, sort_form) const override {
    return {count * element_bytes, count * element_bytes};
  }

 private:
  const opencl_target target_;
  std::map<uint32_t, std::shared_ptr<opencl_kernels>> kernels_;  ///< by the bytes of an element
};

const register_side<bitonic_device> registered(device_kind::opencl, [](const device_description& device) {
  return std::make_unique<opencl_bitonic>(device);
});

}  // namespace

}  // namespace gpusync::tool
