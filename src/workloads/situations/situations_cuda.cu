// Workload "situations" on CUDA devices.
#include <gpusync/gpusync.cuh>
#include <gpusync/neighbours/cuda.cuh>

#include "boundary/cuda_survey.cuh"
#include "boundary/cuda_text.cuh"
#include "boundary/cuda_waiting.cuh"
#include "boundary/steps_cuda.hpp"
#include "measure/cuda_clock.cuh"
#include "workloads/situations/situations.hpp"

namespace gpusync::tool {

namespace {

/// Our default and NVIDIA's.
using advised_barriers =
    grid::algorithm_list<grid::cooperative_groups, grid::placed_counters<ordering::acquire_release>>;

template <class Text, class Halo>
__global__ void __launch_bounds__(Text::most_threads, full_blocks<Text::most_threads, Text::full_blocks>)
    run_situation(Text text, uint32_t steps, Halo halo) {
  halo.in_form([&](auto& fixed) { text.exchange(cuda_exchange_grid{}, steps, fixed); });
}

template <class Text>
std::vector<cuda_own_method> methods_among_neighbours(const halo_problem& problem) {
  const auto by_halo = [problem](const cuda_target& where, const step_shape& shape) {
    return waiting_by(
        where,
        [&where, problem, blocks = shape.blocks] {
          return placed_halo<uint32_t>(where, halo_neighbourhood(problem, blocks), problem.words);
        },
        [](halo_storage<uint32_t>& storage) { return storage.halo<halo_form::automatic>(); });
  };
  const auto by_barrier = [problem](const cuda_target& where, const step_shape& shape) {
    return waiting_by(
        where,
        [&where, problem, blocks = shape.blocks] {
          return neighbour_barrier_storage(where.device(), halo_neighbourhood(problem, blocks));
        },
        [](neighbour_barrier_storage& storage) { return storage.barrier(); });
  };
  return {{halo_own_method(halo_methods::automatic),
           reinterpret_cast<const void*>(&run_situation<Text, halo<uint32_t, halo_form::automatic>>), by_halo},
          {halo_own_method(halo_methods::barrier),
           reinterpret_cast<const void*>(&run_all_steps<Text, neighbour_barrier>), by_barrier}};
}

class cuda_situation_workload : public workload {
 public:
  cuda_situation_workload(const cuda_target& where, const advice::situation& asked, double clock_mhz)
      : where_(where), asked_(asked), clock_mhz_(clock_mhz) {}

  std::vector<step_method> methods() const override { return methods_of(computation()); }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    return prepare_program(method, shape, computation());
  }
  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_of(computation(), methods, threads);
  }

 private:
  cuda_computation computation() const {
    const bool dense = is_dense(asked_, static_cast<uint32_t>(where_.device().sm_count()));
    if (memory_ == nullptr) memory_ = std::make_shared<cuda_arrays>(where_, situation_arrays(asked_));
    return with_situation_text(asked_, dense, [this](auto text) {
      using text_type = decltype(text);
      text = filled_in(text, asked_, clock_mhz_);
      text.a = memory_->template address<uint32_t>(0);
      text.b = memory_->template address<uint32_t>(1);
      text.memory = memory_->template address<uint32_t>(2);
      cuda_computation all{where_, kernels_of<text_type, advised_barriers>(), text,
                           step_sequence::of_whole(static_cast<uint32_t>(asked_.steps)),
                           std::make_shared<situation_result>(asked_, memory_)};
      if (asked_.waits_for == advice::dependence::neighbours) {
        all.own = methods_among_neighbours<text_type>(neighbours_of(asked_));
      }
      return all;
    });
  }

  const cuda_target& where_;
  const advice::situation asked_;
  const double clock_mhz_;
  mutable std::shared_ptr<cuda_arrays> memory_;
};

class cuda_situation_device : public situation_device {
 public:
  explicit cuda_situation_device(const device_description& description)
      : where_(description.index), clock_mhz_(measure_clock_mhz(where_.device(), where_.stream())) {}
  std::unique_ptr<workload> in(const advice::situation& asked) override {
    return std::make_unique<cuda_situation_workload>(where_, asked, clock_mhz_);
  }
  advice::device_room room() const override {
    int threads = 0, blocks = 0;
    const int ordinal = where_.device().ordinal();
    check_cuda(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, ordinal),
               "cudaDeviceGetAttribute");
    check_cuda(cudaDeviceGetAttribute(&blocks, cudaDevAttrMaxBlocksPerMultiprocessor, ordinal),
               "cudaDeviceGetAttribute");
    return {static_cast<uint32_t>(where_.device().sm_count()), static_cast<uint32_t>(threads),
            static_cast<uint32_t>(blocks)};
  }

 private:
  const cuda_target where_;
  const double clock_mhz_;
};

const register_side<situation_device> situations_registered(device_kind::cuda, make_side<cuda_situation_device>);

}  // namespace

}  // namespace gpusync::tool
