// Workload "Smith-Waterman" on OpenCL devices.
#include "boundary/steps_opencl.hpp"
#include "embedded/smith_waterman_cl.hpp"
#include "workloads/smith_waterman/wavefront.hpp"

namespace gpusync::tool {

namespace {

class opencl_data : public run_data {
 public:
  opencl_data(const opencl_target& target, const alignment_problem& problem)
      : target_(target), problem_(problem), found_(problem.query.size()) {
    std::vector<uint8_t> query = problem.query, reference = letters_of_reference(problem.reference);
    query.resize(std::max<size_t>(1, query.size()));  // a buffer is not empty
    reference.resize(std::max<size_t>(1, reference.size()));
    const size_t rows = query.size();
    opencl::checked([&] {
      constexpr auto copied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
      query_ = cl::Buffer(target.context, copied, query.size(), query.data());
      reference_ = cl::Buffer(target.context, copied, reference.size(), reference.data());
      down_ = cl::Buffer(target.context, CL_MEM_READ_WRITE, 2 * rows * sizeof(handed_down));
      on_ = cl::Buffer(target.context, CL_MEM_READ_WRITE, rows * sizeof(handed_on));
      best_ = cl::Buffer(target.context, CL_MEM_READ_WRITE, rows * sizeof(row_best));
    });
  }

  void reset() override {
    opencl::checked([&] {
      // What a run hands on must not come from the run before.
      const size_t rows = std::max<size_t>(1, found_.size());
      target_.queue.enqueueFillBuffer(down_, cl_int2{{0, no_score}}, 0, 2 * rows * sizeof(handed_down));
      target_.queue.enqueueFillBuffer(on_, cl_int2{{no_score, 0}}, 0, rows * sizeof(handed_on));
      target_.queue.enqueueFillBuffer(best_, cl_uint{0}, 0, rows * sizeof(row_best));
      target_.queue.finish();
    });
  }
  check_result check(uint64_t) override {
    if (!found_.empty()) {
      opencl::checked(
          [&] { target_.queue.enqueueReadBuffer(best_, CL_TRUE, 0, found_.size() * sizeof(row_best), found_.data()); });
    }
    return compare_rows(problem_, found_);
  }
  std::string how() const override { return how_alignments_are_checked(); }
  findings found() const override { return findings_of(found_); }

  wavefront_problem numbers() const { return wavefront_problem::of(problem_, nullptr, nullptr); }

  void set_arguments(cl::Kernel& kernel, cl_uint next) const {
    const wavefront_problem all = numbers();
    opencl::checked([&] {
      for (const cl::Buffer* buffer : {&query_, &reference_, &down_, &on_, &best_}) kernel.setArg(next++, *buffer);
      for (const uint32_t length : {all.rows, all.columns}) kernel.setArg(next++, cl_uint{length});
      for (const int32_t score : {all.match, all.mismatch, all.open_and_extend, all.extend}) {
        kernel.setArg(next++, cl_int{score});
      }
    });
  }

 private:
  const opencl_target& target_;
  const alignment_problem& problem_;
  cl::Buffer query_, reference_, down_, on_, best_;
  std::vector<row_best> found_;
};

class opencl_smith_waterman : public smith_waterman_device {
 public:
  explicit opencl_smith_waterman(const device_description& device)
      : target_(device), kernels_(std::make_shared<opencl_kernels>(target_, embedded::smith_waterman_cl)) {}

  std::unique_ptr<workload> aligning(const alignment_problem& problem, alignment_form form) override {
    if (!has(form)) throw invalid_argument("OpenCL devices keep the rows of an alignment in memory only.");
    const auto data = std::make_shared<opencl_data>(target_, problem);
    return workload_on_opencl({kernels_,
                               [data](cl::Kernel& kernel, cl_uint first) { data->set_arguments(kernel, first); },
                               step_sequence::of_whole(data->numbers().steps()), data});
  }
  bool has(alignment_form form) const override { return form == alignment_form::memory; }
  uint64_t memory() const override {
    return opencl::checked([&] { return target_.device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>(); });
  }
  uint64_t largest_buffer() const override {
    return opencl::checked([&] { return target_.device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>(); });
  }

 private:
  const opencl_target target_;
  const std::shared_ptr<opencl_kernels> kernels_;
};

const register_side<smith_waterman_device> registered(device_kind::opencl, [](const device_description& device) {
  return std::make_unique<opencl_smith_waterman>(device);
});

}  // namespace

}  // namespace gpusync::tool
