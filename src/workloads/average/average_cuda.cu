// Workload "average" on CUDA devices.
#include <gpusync/gpusync.cuh>

#include "boundary/cuda_survey.cuh"
#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/average/average.hpp"

namespace gpusync::tool {

namespace {

class cuda_average : public workload {
 public:
  explicit cuda_average(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override { return methods_on_cuda(where_.device(), kernels_, true); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto memory = std::make_shared<cuda_arrays>(where_, average_arrays(shape));
    const average_text text{
        {}, {memory->address<float>(0), memory->address<uint32_t>(1)}, shape.stores, crosses_blocks(method)};
    return prepare_program(method, shape,
                           {where_, kernels_, text, average_steps(shape),
                            std::make_shared<average_result>(shape, crosses_blocks(method), memory)});
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_on_cuda(where_.device(), kernels_, methods, threads);
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    if (quick) return {sms};
    return distinct({1, sms / 4, sms / 2, sms, 2 * sms, 8 * sms});
  }
  std::vector<uint32_t> default_threads(bool quick) override {
    if (quick) return {256};
    return {32, 256, 1024};
  }
  grid_facts facts() override {
    const grid::cuda_line_lease lease = lease_lines(where_, 1);
    const grid::line_survey& survey = lease.survey().figures();
    return {static_cast<uint32_t>(where_.device().sm_count()),
            static_cast<uint32_t>(where_.device().properties().maxThreadsPerMultiProcessor), survey.has_partitions(),
            survey.near(), survey.far()};
  }

 private:
  const cuda_target where_;
  const cuda_kernels kernels_ = kernels_of<average_text, grid::cuda_algorithms>();
};

const register_side<workload> average_registered(device_kind::cuda, make_side<cuda_average>, "average");

}  // namespace

}  // namespace gpusync::tool
