// Workload "bitonic sort" on CUDA devices: what nvcc compiles of it.
#pragma once

#include "boundary/cuda_kernels.hpp"
#include "workloads/bitonic_sort/bitonic_stages.hpp"
#include "workloads/bitonic_sort/bitonic_steps.hpp"

namespace gpusync::tool {

struct sort_kernels {
  cuda_kernels in_memory;     ///< of bitonic_steps, with every grid barrier
  cuda_kernels in_registers;  ///< of bitonic_stages, with a few of them
};

/// Of an element: uint32_t, uint64_t or sort_pair.
template <class Element>
sort_kernels sort_kernels_of();

}  // namespace gpusync::tool
