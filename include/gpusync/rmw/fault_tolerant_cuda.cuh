// The fault-tolerant barrier of a CUDA grid.
#pragma once

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/rmw/cuda.cuh>
#include <gpusync/rmw/device.cuh>
#include <gpusync/rmw/survivor_storage.hpp>

namespace gpusync {

/// Owns the memory of one fault-tolerant barrier for `blocks` blocks of a CUDA device.
template <uint32_t N>
class cuda_fault_tolerant_storage
    : public detail::survivor_storage<N, cuda_grid, rmw::cuda_survivor, detail::cuda_backend> {
 public:
  /// Throws invalid_argument unless there are 1 to N blocks, cuda_failure if memory is short.
  cuda_fault_tolerant_storage(const cuda_device& device, block_count blocks)
      : cuda_fault_tolerant_storage::survivor_storage(device, blocks) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }
};

}  // namespace gpusync
