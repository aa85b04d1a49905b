// Workload "halo-exchange" on CUDA devices.
#include <gpusync/gpusync.cuh>
#include <gpusync/neighbours/cuda.cuh>

#include <cmath>

#include "boundary/cuda_survey.cuh"
#include "boundary/cuda_text.cuh"
#include "boundary/cuda_waiting.cuh"
#include "boundary/steps_cuda.hpp"
#include "measure/cuda_clock.cuh"
#include "workloads/halo_exchange/halo_exchange.hpp"

namespace gpusync::tool {

namespace {

/// Barriers to compare with: our default and NVIDIA's.
using halo_barriers = grid::algorithm_list<grid::cooperative_groups, grid::placed_counters<ordering::acquire_release>>;

template <class Text, class Halo>
__global__ void __launch_bounds__(Text::most_threads, full_blocks<Text::most_threads, Text::full_blocks>)
    run_exchange(Text text, uint32_t steps, Halo halo) {
  if constexpr (Halo::form_of == halo_form::automatic) {
    halo.in_form([&](auto& fixed) { text.exchange(cuda_exchange_grid{}, steps, fixed); });
  } else {
    text.exchange(cuda_exchange_grid{}, steps, halo);
  }
}

template <class Text, halo_form Form>
cuda_own_method own_halo(step_method method, const halo_problem& problem, bool placed = true) {
  const auto waits_by = [problem, placed](const cuda_target& where, const step_shape& shape) {
    return waiting_by(
        where,
        [&where, problem, placed, blocks = shape.blocks] {
          const neighbourhood who = halo_neighbourhood(problem, blocks);
          return placed ? placed_halo<uint32_t>(where, who, problem.words)
                        : halo_storage<uint32_t>(where.device(), who, problem.words);
        },
        [](halo_storage<uint32_t>& storage) { return storage.halo<Form>(); });
  };
  return {std::move(method), reinterpret_cast<const void*>(&run_exchange<Text, halo<uint32_t, Form>>), waits_by};
}

template <class Text>
cuda_own_method own_barrier(const halo_problem& problem) {
  const auto waits_by = [problem](const cuda_target& where, const step_shape& shape) {
    return waiting_by(
        where,
        [&where, problem, blocks = shape.blocks] {
          return neighbour_barrier_storage(where.device(), halo_neighbourhood(problem, blocks));
        },
        [](neighbour_barrier_storage& storage) { return storage.barrier(); });
  };
  return {halo_own_method(halo_methods::barrier),
          reinterpret_cast<const void*>(&run_all_steps<Text, neighbour_barrier>), waits_by};
}

/// Our default barrier, split.
template <class Text>
cuda_own_method own_split() {
  const auto waits_by = [](const cuda_target& where, const step_shape& shape) -> std::unique_ptr<cuda_waiting> {
    return make_cuda_barrier(method_names::default_barrier, where, shape.blocks, std::nullopt);
  };
  return {{halo_methods::split, "grid barrier, split phase", {}, method_kind::barrier, true, true},
          reinterpret_cast<const void*>(&run_split_steps<Text, grid_barrier>),
          waits_by};
}

class cuda_halo_workload : public workload {
 public:
  cuda_halo_workload(const cuda_target& where, const halo_problem& problem) : where_(where), problem_(problem) {}

  std::vector<step_method> methods() const override {
    step_shape smallest;
    smallest.blocks = 4;
    smallest.threads = 256;
    return methods_of(computation({2, 1, halo_work::kind::none, 0, false}, smallest));
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    return prepare_program(method, shape, computation(problem_, shape));
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    step_shape shape;
    shape.blocks = 4;
    shape.threads = threads;
    return max_co_resident_of(computation(problem_, shape), methods, threads);
  }

 private:
  cuda_computation computation(const halo_problem& problem, const step_shape& shape) const {
    const uint32_t each = (problem.words + shape.threads - 1) / shape.threads;
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    const bool full = uint64_t{shape.blocks} * shape.threads > uint64_t{sms} * 1024;
    if (each == 1 && problem.neighbours == 2)
      return full ? made<2, 1, 2>(problem, shape) : made<2, 1, 1>(problem, shape);
    if (each == 1 && problem.neighbours == 4)
      return full ? made<4, 1, 2>(problem, shape) : made<4, 1, 1>(problem, shape);
    if (each == 1) return full ? made<8, 1, 2>(problem, shape) : made<8, 1, 1>(problem, shape);
    if (each <= 4 && problem.neighbours == 2) return made<2, 4, 1>(problem, shape);
    if (each <= 4 && problem.neighbours == 4) return made<4, 4, 1>(problem, shape);
    throw invalid_argument(
        "Exchanges of up to four words a thread with 2 or 4 neighbours are compiled, of one word with 8; this would "
        "be " +
        std::to_string(each) + " words a thread with " + std::to_string(problem.neighbours) + " neighbours.");
  }

  template <uint32_t Neighbours, uint32_t Words, unsigned FullBlocks>
  cuda_computation made(const halo_problem& problem, const step_shape& shape) const {
    using text_type = halo_text<Neighbours, Words, FullBlocks>;
    if (reference_ == nullptr || of_blocks_ != shape.blocks || of_words_ != problem.words) {
      reference_ = std::make_shared<halo_reference>(problem, shape.blocks);
      of_blocks_ = shape.blocks;
      of_words_ = problem.words;
    }
    const auto memory = std::make_shared<cuda_arrays>(where_, halo_arrays(*reference_));
    text_type text{};
    text.a = memory->address<uint32_t>(0);
    text.b = memory->address<uint32_t>(1);
    text.words = problem.words;
    text.across = halo_blocks_across(problem, shape.blocks);
    text.work = {problem.work, cycles_of(problem), problem.overlaps};
    step_sequence steps;
    steps.most = reference_->affordable_steps();
    // A replayed graph's steps are told the same numbers again: of these only the buffer and the delays depend.
    steps.number = [](uint32_t s, uint32_t) { return s % halo_work::repeats; };
    cuda_computation all{where_, kernels_of<text_type, halo_barriers>(), text, steps,
                         std::make_shared<halo_result>(reference_, memory)};
    step_method unplaced = halo_own_method(halo_methods::words);
    unplaced.name = halo_methods::unplaced;
    unplaced.title += ", in memory as it comes";
    all.own = {own_halo<text_type, halo_form::automatic>(halo_own_method(halo_methods::automatic), problem),
               own_halo<text_type, halo_form::words>(halo_own_method(halo_methods::words), problem),
               own_halo<text_type, halo_form::words>(unplaced, problem, false),
               own_halo<text_type, halo_form::flags>(halo_own_method(halo_methods::flags), problem),
               own_barrier<text_type>(problem),
               own_split<text_type>()};
    return all;
  }

  uint32_t cycles_of(const halo_problem& problem) const {
    if (problem.work == halo_work::kind::none) return 0;
    if (clock_ == 0) clock_ = measure_clock_mhz(where_.device(), where_.stream());
    return static_cast<uint32_t>(std::lround(problem.mean_ns * clock_ / 1000));
  }

  const cuda_target& where_;
  const halo_problem problem_;
  mutable double clock_ = 0;
  mutable std::shared_ptr<halo_reference> reference_;
  mutable uint32_t of_blocks_ = 0, of_words_ = 0;
};

class cuda_halo_device : public halo_device {
 public:
  explicit cuda_halo_device(const device_description& description) : where_(description.index) {}
  std::unique_ptr<workload> exchanging(const halo_problem& problem) override {
    return std::make_unique<cuda_halo_workload>(where_, problem);
  }

 private:
  const cuda_target where_;
};

const register_side<halo_device> halo_exchange_registered(device_kind::cuda, make_side<cuda_halo_device>);

}  // namespace

}  // namespace gpusync::tool
