// Workload "Smith-Waterman" on OpenCL devices.
#include "boundary/steps_opencl.hpp"
#include "embedded/smith_waterman_cl.hpp"
#include "workloads/smith_waterman/alignment_result.hpp"

namespace gpusync::tool {

namespace {

class opencl_smith_waterman : public smith_waterman_device {
 public:
  explicit opencl_smith_waterman(const device_description& device)
      : target_(device), kernels_(std::make_shared<opencl_kernels>(target_, embedded::smith_waterman_cl)) {}

  std::unique_ptr<workload> aligning(const alignment_problem& problem, alignment_form form) override {
    if (!has(form)) throw invalid_argument("OpenCL devices keep the rows of an alignment in memory only.");
    const auto memory = std::make_shared<opencl_arrays>(target_, alignment_arrays(problem));
    const wavefront_problem numbers = wavefront_problem::of(problem, nullptr, nullptr);
    const auto set_arguments = [memory, numbers](cl::Kernel& kernel, cl_uint first) {
      cl_uint next = memory->set_arguments(kernel, first);
      opencl::checked([&] {
        for (const uint32_t length : {numbers.rows, numbers.columns}) kernel.setArg(next++, cl_uint{length});
        for (const int32_t score : {numbers.match, numbers.mismatch, numbers.open_and_extend, numbers.extend}) {
          kernel.setArg(next++, cl_int{score});
        }
      });
    };
    return workload_of(opencl_computation{kernels_, set_arguments, step_sequence::of_whole(numbers.steps()),
                                          std::make_shared<alignment_result>(problem, memory)});
  }
  uint64_t memory() const override { return target_.memory(); }
  uint64_t largest_buffer() const override { return target_.largest_buffer(); }

 private:
  const opencl_target target_;
  const std::shared_ptr<opencl_kernels> kernels_;
};

const register_side<smith_waterman_device> smith_waterman_registered(device_kind::opencl,
                                                                     make_side<opencl_smith_waterman>);

}  // namespace

}  // namespace gpusync::tool
