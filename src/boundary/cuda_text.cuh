// The kernels of a computation: its text (boundary/computation.hpp) under every way to pass from step to step that a
// CUDA device has.
#pragma once

#include <type_traits>

#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/grid/registry.hpp>

#include "boundary/computation.hpp"
#include "boundary/cuda_dependent.cuh"
#include "boundary/cuda_exchange_grid.cuh"
#include "boundary/cuda_kernels.hpp"
#include "measure/cuda_full_blocks.cuh"

namespace gpusync::tool {

/// In the place of a barrier, and none.
struct waits_for_nothing {
  __device__ void enter() const {}
  __device__ void sync() const {}
};

/// All steps in one kernel.
template <class Text, class Barrier>
__global__ void __launch_bounds__(Text::most_threads, full_blocks<Text::most_threads, Text::full_blocks>)
    run_all_steps(Text text, uint32_t steps, Barrier barrier) {
  barrier.enter();
  const cuda_exchange_grid grid;
  typename Text::kept kept = text.load(grid, 0);
  all_steps(text, grid, steps, kept, [&barrier](uint32_t) {
    barrier.sync();
    return true;
  });
  text.save(grid, kept);
}

/// All steps in one kernel whose blocks arrive in the middle of a step, and wait at its end.
template <class Text, class Barrier>
__global__ void __launch_bounds__(Text::most_threads, full_blocks<Text::most_threads, Text::full_blocks>)
    run_split_steps(Text text, uint32_t steps, Barrier barrier) {
  barrier.enter();
  const cuda_exchange_grid grid;
  typename Text::kept kept = text.load(grid, 0);
  for (uint32_t s = 0; s < steps; ++s) {
    text.first(grid, s, kept);
    auto token = barrier.arrive();
    text.rest(grid, s, kept);
    barrier.wait(static_cast<decltype(token)&&>(token));
  }
  text.save(grid, kept);
}

/// One step; the end of the kernel is the boundary. Dependent: with programmatic dependent launch, blocks are set up
/// while the step before runs; what touches memory waits for its end. Late: the blocks of the step behind are let in
/// once this one has begun its work, and not as soon as it is set up itself.
template <class Text, kernel_start How>
__global__ void __launch_bounds__(Text::most_threads, full_blocks<Text::most_threads, Text::full_blocks>)
    run_one_step(Text text, uint32_t number) {
  const cuda_exchange_grid grid;
  // A grid has fewer than 2^32 threads, so that no place is all ones.
  wait_for_kernel_before<How>((grid.block() * grid.threads() + grid.thread()) & number);
  typename Text::kept kept = text.load(grid, number);
  text.step(grid, number, kept);
  text.save(grid, kept);
}

/// Which barriers of a list something is compiled with: all, those that order data, or of these the ones whose text is
/// not for whole grids alone.
enum class barriers { all, that_order, that_divide };

/// A kernel for each barrier of a list, e.g. grid::cuda_algorithms: `kernel_with(Algorithm{})` returns it.
template <class List, barriers Which, class KernelWith>
kernel_table kernels_with_barriers(KernelWith&& kernel_with) {
  kernel_table table;
  List::for_each([&](auto algorithm) {
    using algorithm_type = decltype(algorithm);
    if constexpr (Which == barriers::all || (orders_data(algorithm_type::order) &&
                                             (Which == barriers::that_order || !algorithm_type::whole_grid_only))) {
      table.add(grid::name_of<algorithm_type>(), kernel_with(algorithm));
    }
  });
  return table;
}

/// A grid barrier of CUDA devices.
template <class Algorithm>
using barrier_with = basic_grid_barrier<Algorithm, cuda_grid>;

/// Compiles a computation with the barriers of a list.
template <class Text, class List, barriers Which = barriers::all>
cuda_kernels kernels_of() {
  static_assert(std::is_trivially_copyable_v<Text>, "an argument of kernels");
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  return {address(&run_all_steps<Text, waits_for_nothing>), address(&run_one_step<Text, kernel_start::plain>),
          address(&run_one_step<Text, kernel_start::dependent>),
          address(&run_one_step<Text, kernel_start::dependent_late>),
          kernels_with_barriers<List, Which>(
              [](auto algorithm) { return &run_all_steps<Text, barrier_with<decltype(algorithm)>>; })};
}

/// Compiles a text that keeps its data on the chip, and whose steps are split.
template <class Text, class List>
cuda_on_chip_kernels on_chip_kernels_of() {
  static_assert(std::is_trivially_copyable_v<Text>, "an argument of kernels");
  return {kernels_with_barriers<List, barriers::that_order>(
              [](auto algorithm) { return &run_all_steps<Text, barrier_with<decltype(algorithm)>>; }),
          kernels_with_barriers<List, barriers::that_order>(
              [](auto algorithm) { return &run_split_steps<Text, barrier_with<decltype(algorithm)>>; })};
}

/// Barriers that computations in registers are compiled with: our default, our simplest, NVIDIA's.
using few_barriers = grid::algorithm_list<grid::cooperative_groups, grid::lock_based<ordering::acquire_release>,
                                          grid::placed_counters<ordering::acquire_release>>;

}  // namespace gpusync::tool
