// Waiting for neighbours on a CUDA device.
#pragma once

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/neighbours/dependency_counters.cuh>
#include <gpusync/neighbours/device.cuh>
#include <gpusync/neighbours/halo_storage.hpp>
#include <gpusync/neighbours/neighbour_barrier.hpp>

namespace gpusync {

/// Owns the flags of a neighbour barrier for grids of exactly as many blocks as the neighbourhood has. Reusable by one
/// launch after another without a reset, unless a wait timed out. For launches on one stream, as cuda_barrier_storage.
class neighbour_barrier_storage : public detail::neighbour_storage<cuda_grid, detail::cuda_backend> {
 public:
  /// Throws cuda_failure if memory is short. `first_phase`: where the phase counter starts; only tests of the wrap need
  /// another than 0.
  neighbour_barrier_storage(const cuda_device& device, const neighbourhood& who, uint32_t first_phase = 0)
      : neighbour_storage(device, who, first_phase) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }
};

/// Owns the words of a halo for grids of exactly as many blocks as the neighbourhood has. Reusable by one launch after
/// another without a reset, unless a wait timed out. For launches on one stream, as cuda_barrier_storage.
template <class T>
class halo_storage : public detail::halo_storage<T, cuda_grid, detail::cuda_backend> {
 public:
  /// `words`: of each block. Throws invalid_argument for none, or so many that they cannot be numbered; cuda_failure if
  /// memory is short.
  halo_storage(const cuda_device& device, const neighbourhood& who, uint64_t words, const halo_rule& rule = {},
               uint32_t first_step = 0)
      : detail::halo_storage<T, cuda_grid, detail::cuda_backend>(device, who, words, rule, first_step) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }
};

}  // namespace gpusync
