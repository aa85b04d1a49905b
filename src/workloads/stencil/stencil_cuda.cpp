// Workload "stencil" on CUDA devices.
#include "workloads/stencil/stencil_cuda.hpp"

#include "boundary/cuda_compare.hpp"
#include "boundary/steps_cuda.hpp"
#include "measure/cuda_clock.cuh"

namespace gpusync::tool {

namespace {

/// A plate's first and last state on the device, for all programs, and the two buffers that they work on in turn.
class plate : public run_data {
 public:
  plate(const cuda_target& where, const stencil_size& size)
      : where_(where),
        size_(size),
        start_(buffer()),
        reference_(buffer()),
        a_(buffer()),
        b_(buffer()),
        different_(where.device(), sizeof(unsigned long long)) {
    where.upload(start_, stencil_start(size).data(), start_.bytes());
    where.upload(reference_, stencil_reference(size).data(), reference_.bytes());
  }

  stencil_text text() const {
    return {{}, static_cast<float*>(a_.address()), static_cast<float*>(b_.address()), size_};
  }

  void reset() override {
    const cuda_device_scope scope(where_.device().ordinal());
    for (const cuda_buffer* each : {&a_, &b_}) {
      check_cuda(
          cudaMemcpyAsync(each->address(), start_.address(), start_.bytes(), cudaMemcpyDeviceToDevice, where_.stream()),
          "cudaMemcpyAsync");
    }
  }
  check_result check(uint64_t) override {
    const size_t words = size_.points();
    return {words, different_words(where_, a_.address(), reference_.address(), words, different_)};
  }
  std::string how() const override {
    return "every point after each of the timed relaxations of " + std::to_string(stencil_steps) +
           " steps, bit for bit as the host computed it";
  }

 private:
  cuda_buffer buffer() const { return {where_.device(), size_.points() * sizeof(float)}; }

  const cuda_target& where_;
  const stencil_size size_;
  const cuda_buffer start_, reference_, a_, b_, different_;
};

class stencil_workload : public workload {
 public:
  stencil_workload(const cuda_target& where, const stencil_size& size)
      : where_(where), plate_(std::make_shared<plate>(where, size)) {}

  std::vector<step_method> methods() const override { return methods_on_cuda(where_.device(), kernels_, false); }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    return prepare_on_cuda(where_, method, shape,
                           {kernels_, plate_->text(), step_sequence::of_whole(stencil_steps), plate_});
  }
  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_on_cuda(where_.device(), kernels_, methods, threads);
  }
  std::vector<uint32_t> default_blocks(bool) override { return {static_cast<uint32_t>(where_.device().sm_count())}; }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target& where_;
  const cuda_kernels kernels_ = stencil_kernels();
  const std::shared_ptr<plate> plate_;
};

class cuda_stencil : public stencil_device {
 public:
  explicit cuda_stencil(const device_description& description) : where_(description.index) {}

  std::unique_ptr<workload> on_plate(const stencil_size& size) override {
    return std::make_unique<stencil_workload>(where_, size);
  }

 private:
  const cuda_target where_;
};

const register_side<stencil_device> registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_stencil>(device);
});

}  // namespace

}  // namespace gpusync::tool
