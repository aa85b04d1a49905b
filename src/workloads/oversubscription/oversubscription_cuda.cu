// Workload "oversubscription" on CUDA devices.
#include <gpusync/gpusync.cuh>

#include "boundary/cuda_survey.cuh"
#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/oversubscription/oversubscription.hpp"

namespace gpusync::tool {

namespace {

/// All phases of a run in one kernel.
template <class PhasedGrid>
__global__ void relay_phased(PhasedGrid grid, relay_data data, uint32_t first, uint32_t phases) {
  relay_phases(cuda_grid::current(), grid, data, first, phases);
}

/// One kernel for all phases.
template <class Schedule>
class phased_program : public cuda_program {
 public:
  phased_program(const cuda_target& where, const step_shape& shape, const relay_data& data,
                 const std::shared_ptr<relay_result>& result)
      : cuda_program(where, {shape.blocks, shape.threads}, result, relay_steps(result)),
        data_(data),
        result_(*result),
        storage_(make(where, shape.blocks)) {}

  static uint32_t resident(const cuda_device& device, uint32_t threads) {
    return resident_blocks(device, kernel, {UINT32_MAX, threads});
  }

 private:
  using storage_type = cuda_phased_storage<Schedule>;
  static constexpr auto kernel = relay_phased<typename storage_type::grid_type>;

  static std::unique_ptr<storage_type> make(const cuda_target& where, uint32_t blocks) {
    return with_survey(
        where, [&](const l2_survey& survey) { return std::make_unique<storage_type>(where.device(), blocks, survey); },
        [](const auto& made) { return made->counters().placed(); });
  }

  void carry_out(uint32_t phases) override {
    launch_phased(where_.device(), where_.stream(), {data_.blocks, shape_.threads}, kernel, *storage_, data_,
                  result_.next_phase(), phases);
  }

  const relay_data data_;
  const relay_result& result_;
  const std::unique_ptr<storage_type> storage_;
};

class cuda_oversubscription : public workload {
 public:
  explicit cuda_oversubscription(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all = relay_methods();
    all.insert(all.begin() + 1,
               {method_names::graph, "CUDA graph of kernels, one for each phase", {}, method_kind::graph});
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_shape(where_.device(), {shape.blocks, shape.threads});
    const auto memory = std::make_shared<cuda_arrays>(where_, relay_arrays(shape));
    const auto result = std::make_shared<relay_result>(shape, memory);
    const relay_data data{memory->address<uint32_t>(0), memory->address<uint32_t>(1), shape.blocks};
    const auto phased = [&](auto schedule) {
      return std::make_unique<phased_program<decltype(schedule)>>(where_, shape, data, result);
    };
    if (method.name == "phased-striding") return phased(phased::striding{});
    if (method.name == "phased-claiming") return phased(phased::claiming{});
    if (method.name == "phased-flag-claiming") return phased(phased::flag_claiming{});
    return prepare_program(
        method, shape,
        {where_, kernels_of<relay_text, grid::algorithm_list<>>(), relay_text{{}, data}, relay_steps(result), result});
  }

  /// Under every schedule.
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_shape(where_.device(), {1, threads});
    return std::min({phased_program<phased::striding>::resident(where_.device(), threads),
                     phased_program<phased::claiming>::resident(where_.device(), threads),
                     phased_program<phased::flag_claiming>::resident(where_.device(), threads)});
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    return {static_cast<uint32_t>(workload::max_co_resident(default_threads(quick).front()))};
  }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }

 private:
  const cuda_target where_;
};

const register_side<workload> oversubscription_registered(device_kind::cuda, make_side<cuda_oversubscription>,
                                                          "oversubscription");

}  // namespace

}  // namespace gpusync::tool
