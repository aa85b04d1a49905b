// Workload "conjugate-gradients" on CUDA devices.
#include <gpusync/gpusync.cuh>

#include "boundary/cuda_barriers.hpp"
#include "boundary/cuda_survey.cuh"
#include "boundary/cuda_text.cuh"
#include "boundary/cuda_waiting.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/conjugate_gradients/conjugate_gradients.hpp"

namespace gpusync::tool {

namespace {

/// Barriers to compare with: our default and NVIDIA's.
using conjugate_barriers =
    grid::algorithm_list<grid::cooperative_groups, grid::placed_counters<ordering::acquire_release>>;

/// The storages of two barriers, whose votes are under way at once.
struct two_barriers {
  grid_barrier_storage low, high;
};

template <class Text>
__global__ void __launch_bounds__(Text::most_threads, full_blocks<Text::most_threads, Text::full_blocks>)
    run_conjugate_votes(Text text, uint32_t steps, grid_barrier low, grid_barrier high) {
  conjugate_by_votes(cuda_exchange_grid{}, text, steps, low, high);
}

template <class Real>
class cuda_conjugate : public workload {
 public:
  cuda_conjugate(const cuda_target& where, std::shared_ptr<const conjugate_problem> problem)
      : where_(where), problem_(std::move(problem)) {}

  std::vector<step_method> methods() const override {
    return methods_of(computation({(problem_->rows() + 511) / 512, 512}));
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_whole_warps(shape);  // their threads add up values by shuffles
    return prepare_program(method, shape, computation(shape));
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_of(computation({(problem_->rows() + threads - 1) / threads, threads}), methods, threads);
  }

 private:
  cuda_computation computation(const step_shape& shape) const {
    const uint64_t threads = uint64_t{shape.blocks} * shape.threads;
    const uint64_t rows = (problem_->rows() + threads - 1) / threads;
    if (rows <= 1) return made<1>(shape);
    if (rows <= 2) return made<2>(shape);
    if (rows <= 4) return made<4>(shape);
    throw invalid_argument("A thread takes up to four rows; these would be " + std::to_string(rows) +
                           ". Take more threads, or a smaller side.");
  }

  template <uint32_t Rows>
  cuda_computation made(const step_shape& shape) const {
    using in_registers = conjugate_text<Real, Rows, true>;
    using in_memory = conjugate_text<Real, Rows, false>;
    static_assert(sizeof(in_registers) == sizeof(in_memory), "kernels of both take the same bytes");
    const auto memory = std::make_shared<cuda_arrays>(where_, conjugate_arrays<Real>(*problem_, shape.blocks));
    in_memory text{};
    text.data = conjugate_data_in<Real>(*memory, *problem_, shape.blocks);
    cuda_kernels kernels = kernels_of<in_memory, grid::algorithm_list<>>();
    kernels.with_barrier = kernels_of<in_registers, conjugate_barriers>().with_barrier;
    step_sequence steps = step_sequence::of_whole(2 * problem_->iterations());
    steps.number = [](uint32_t s, uint32_t) { return s % 4; };
    cuda_computation all{
        where_, kernels, text, steps,
        std::make_shared<conjugate_result>(problem_, sizeof(Real) == sizeof(double), shape.blocks, memory)};
    all.own.push_back(
        {conjugate_votes_method(), reinterpret_cast<const void*>(&run_conjugate_votes<in_registers>),
         [](const cuda_target& where, const step_shape& of) {
           return waiting_by_several(
               where,
               [&where, blocks = of.blocks] {
                 return two_barriers{default_grid_barrier(where, blocks), default_grid_barrier(where, blocks)};
               },
               [](two_barriers& both, auto&& take) { take(both.low.barrier(), both.high.barrier()); },
               [](two_barriers&) {});  // they choose their lines
         }});
    return all;
  }

  const cuda_target& where_;
  const std::shared_ptr<const conjugate_problem> problem_;
};

class cuda_conjugate_device : public conjugate_device {
 public:
  explicit cuda_conjugate_device(const device_description& description) : where_(description.index) {}
  std::unique_ptr<workload> solving(std::shared_ptr<const conjugate_problem> problem, bool is_double) override {
    if (is_double) return std::make_unique<cuda_conjugate<double>>(where_, std::move(problem));
    return std::make_unique<cuda_conjugate<float>>(where_, std::move(problem));
  }

 private:
  const cuda_target where_;
};

const register_side<conjugate_device> conjugate_registered(device_kind::cuda, make_side<cuda_conjugate_device>);

}  // namespace

}  // namespace gpusync::tool
