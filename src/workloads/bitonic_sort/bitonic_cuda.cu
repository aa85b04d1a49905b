// Workload "bitonic sort" on CUDA devices.
#include "measure/cuda_clock.cuh"
#include "workloads/bitonic_sort/bitonic_cuda.cuh"

namespace gpusync::tool {

namespace {

class cuda_bitonic : public bitonic_device {
 public:
  explicit cuda_bitonic(const device_description& device) : where_(device.index) {}

  std::unique_ptr<whole_workload> sorting(const sort_input& input, sort_form form) override {
    if (input.element_bytes == 4) return sort_on_cuda<uint32_t>(where_, input, form);
    if (input.element_bytes == 8) return sort_on_cuda<uint64_t>(where_, input, form);
    return sort_on_cuda<sort_pair>(where_, input, form);
  }
  bool has(sort_form) const override { return true; }
  uint64_t memory() const override {
    const cuda_device_scope scope(where_.device().ordinal());
    size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target where_;
};

const register_side<bitonic_device> registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_bitonic>(device);
});

}  // namespace

}  // namespace gpusync::tool
