// Workload "barrier-parts" on CUDA devices.
#include "workloads/barrier_parts/barrier_parts_cuda.hpp"

#include <algorithm>

#include "boundary/steps_cuda.hpp"
#include "measure/cuda_clock.cuh"
#include "workloads/barrier_parts/barrier_parts_result.hpp"

namespace gpusync::tool {

namespace {

class parts_program : public cuda_program {
 public:
  /// `barrier`: null for a part.
  parts_program(const cuda_target& where, const step_shape& shape, const std::string& method, const void* kernel,
                std::unique_ptr<cuda_barrier> barrier)
      : parts_program(where, shape, method, kernel, std::move(barrier),
                      std::make_shared<cuda_arrays>(where, barrier_parts_arrays(shape))) {}

 private:
  parts_program(const cuda_target& where, const step_shape& shape, const std::string& method, const void* kernel,
                std::unique_ptr<cuda_barrier> barrier, const std::shared_ptr<cuda_arrays>& memory)
      : cuda_program(where, {shape.blocks, shape.threads},
                     std::make_shared<barrier_parts_result>(shape, method, memory), barrier_parts_steps_of_a_run()),
        text_{{{memory->address<float>(0), memory->address<uint32_t>(1)}, memory->address<uint32_t>(2), 0},
              shape.stores},
        kernel_(kernel),
        barrier_(std::move(barrier)) {
    require_co_resident(where.device(), kernel, shape_);
  }

  void carry_out(uint32_t steps) override { launch_with(where_, shape_, kernel_, {&text_, &steps}, barrier_.get()); }

  barrier_parts_text text_;
  const void* const kernel_;
  const std::unique_ptr<cuda_barrier> barrier_;
};

class cuda_barrier_parts : public workload {
 public:
  explicit cuda_barrier_parts(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override { return barrier_parts_methods(); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    const void* const kernel = kernels_.find(method.name);
    if (kernel == nullptr) throw invalid_argument("There is no variant " + method.name + " on CUDA devices.");
    auto barrier = find_part(method.name) != nullptr
                       ? nullptr
                       : make_cuda_barrier(method.name, where_.device(), shape.blocks, method.plan);
    return std::make_unique<parts_program>(where_, shape, method.name, kernel, std::move(barrier));
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    uint64_t least = UINT64_MAX;
    for (const step_method& method : methods) {
      const void* const kernel = kernels_.find(method.name);
      if (kernel != nullptr && method.needs_co_residency) {
        least = std::min(least, gpusync::max_co_resident(where_.device(), kernel, {1, threads}).blocks());
      }
    }
    return least;
  }

  /// One block on each multiprocessor, as in the paper, up to all of them; 30 is where the paper's grids end.
  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    std::vector<uint32_t> blocks{1, 2, 4, 8, 15, 30, sms / 2, sms};
    if (quick) blocks = {1, std::min(30u, std::max(sms / 2, 1u)), sms};
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    blocks.erase(std::remove_if(blocks.begin(), blocks.end(), [sms](uint32_t b) { return b == 0 || b > sms; }),
                 blocks.end());
    return blocks;
  }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target where_;
  const kernel_table kernels_ = barrier_parts_kernels();
};

const register_workload registered("barrier-parts", device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_barrier_parts>(device);
});

}  // namespace

}  // namespace gpusync::tool
