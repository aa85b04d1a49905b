// Workload "barrier-parts" on CUDA devices.
#include <algorithm>

#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/barrier_parts/barrier_parts.hpp"

namespace gpusync::tool {

namespace {

/// All steps of a run with a part between them.
template <barrier_part Part>
__global__ void __launch_bounds__(1024, full_blocks<1024>) part_kernel(barrier_parts_text<Part> text, uint32_t steps) {
  computation::kept nothing;
  all_steps(text, cuda_grid::current(), steps, nothing, [](uint32_t) { return true; });
}

/// A kernel for each variant.
cuda_kernels barrier_parts_kernels() {
  cuda_kernels kernels{};
  kernels.with_barrier = kernels_with_barriers<whole_barriers, barriers::all>([](auto algorithm) {
    return &run_all_steps<barrier_parts_text<barrier_part::whole>, barrier_with<decltype(algorithm)>>;
  });
  for_each_part([&](auto part, const char* name) { kernels.with_part.add(name, &part_kernel<part.value>); });
  return kernels;
}

class cuda_barrier_parts : public workload {
 public:
  explicit cuda_barrier_parts(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override { return barrier_parts_methods(); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto memory = std::make_shared<cuda_arrays>(where_, barrier_parts_arrays(shape));
    const auto text_at = [&](uint32_t place) {  // of the same bytes for every part
      return barrier_parts_in<barrier_part::whole>(*memory, shape, place);
    };
    cuda_computation computation(where_, kernels_, text_at(0), barrier_parts_steps_of_a_run(),
                                 std::make_shared<barrier_parts_result>(shape, method.name, memory));
    for (uint32_t place = 1; place < parts_word_places; ++place) computation.add_place(text_at(place));
    return prepare_program(method, shape, std::move(computation));
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_on_cuda(where_.device(), kernels_, methods, threads);
  }

  /// One block on each multiprocessor, as in the paper, up to all of them; 30 is where the paper's grids end.
  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    if (quick) return distinct({1, std::min(30u, sms / 2), sms});
    return distinct({1, 2, 4, 8, 15, 30, sms / 2, sms}, sms);
  }
  std::vector<uint32_t> default_threads(bool) override { return {256}; }

 private:
  const cuda_target where_;
  const cuda_kernels kernels_ = barrier_parts_kernels();
};

const register_side<workload> barrier_parts_registered(device_kind::cuda, make_side<cuda_barrier_parts>,
                                                       "barrier-parts");

}  // namespace

}  // namespace gpusync::tool
