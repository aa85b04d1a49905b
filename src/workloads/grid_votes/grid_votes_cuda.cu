// Workload "grid-votes" on CUDA devices.
#include "boundary/cuda_barriers.hpp"
#include "boundary/cuda_text.cuh"
#include "boundary/device_side.hpp"
#include "boundary/steps_cuda.hpp"
#include "workloads/grid_votes/grid_votes.hpp"

namespace gpusync::tool {

namespace {

/// Barriers to compare with, behind which partials are read: our default and NVIDIA's.
using votes_barriers = grid::algorithm_list<grid::cooperative_groups, grid::placed_counters<ordering::acquire_release>>;

/// FullBlocks: blocks of 1,024 threads that a multiprocessor is to hold. With two, a thread has 32 registers.
template <unsigned FullBlocks, vote_form Form, class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024, FullBlocks>)
    run_votes(votes_by_partials text, uint32_t steps, Barrier barrier) {
  votes_of_a_run<Form>(cuda_grid::current(), text, steps, barrier);
}

template <unsigned FullBlocks, vote_form Form, class Algorithm>
const void* votes_kernel() {
  return reinterpret_cast<const void*>(&run_votes<FullBlocks, Form, barrier_with<Algorithm>>);
}

template <unsigned FullBlocks>
cuda_own_method by_votes(const vote_method& one) {
  const bool ours = std::string_view(one.barrier) == method_names::default_barrier;
  const auto waits_by = [name = std::string(one.barrier)](const cuda_target& where,
                                                          const step_shape& shape) -> std::unique_ptr<cuda_waiting> {
    return make_cuda_barrier(name, where, shape.blocks, std::nullopt);
  };
  const void* const kernel =
      ours ? with_vote_form(one.form,
                            [](auto form) {
                              return votes_kernel<FullBlocks, decltype(form)::value,
                                                  grid::placed_counters<ordering::acquire_release>>();
                            })
           : votes_kernel<FullBlocks, vote_form::no_answer, grid::cooperative_groups>();
  return {method_of(one), kernel, waits_by};
}

class cuda_grid_votes : public workload {
 public:
  explicit cuda_grid_votes(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override { return methods_of(computation({}, {1, 32})); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_whole_warps(shape);  // their threads add up values by shuffles
    return prepare_program(method, shape, computation(method.name, shape));
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    // As a device is filled.
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    return max_co_resident_of(computation({}, {2 * sms * (1024 / threads), threads}), methods, threads);
  }

 private:
  cuda_computation computation(const std::string& method, const step_shape& shape) const {
    const auto memory = std::make_shared<cuda_arrays>(where_, votes_arrays(shape));
    votes_by_partials text{};
    text.words = memory->address<uint32_t>(0);
    text.partials = memory->address<uint32_t>(1);
    cuda_computation all{where_, kernels_of<votes_by_partials, votes_barriers>(), text, votes_steps_of_a_run(),
                         std::make_shared<votes_result>(shape, method, memory)};
    const bool full =
        uint64_t{shape.blocks} * shape.threads > uint64_t{1024} * static_cast<unsigned>(where_.device().sm_count());
    for (const vote_method& one : vote_methods) all.own.push_back(full ? by_votes<2>(one) : by_votes<1>(one));
    return all;
  }

  const cuda_target where_;
};

const register_side<workload> grid_votes_registered(device_kind::cuda, make_side<cuda_grid_votes>, "grid-votes");

}  // namespace

}  // namespace gpusync::tool
