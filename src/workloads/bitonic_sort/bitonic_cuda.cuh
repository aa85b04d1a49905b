// Workload "bitonic sort" on CUDA devices, by element: a file for each, which compile side by side.
#pragma once

#include "workloads/bitonic_sort/sort_input.hpp"
#include "workloads/device_side/cuda_side.cuh"

namespace gpusync::tool {

/// See bitonic_device::sorting(). Precondition: the input's elements are of type Element.
template <class Element>
std::unique_ptr<whole_workload> sort_on_cuda(const cuda_target& where, const sort_input& input, sort_form form);

extern template std::unique_ptr<whole_workload> sort_on_cuda<uint32_t>(const cuda_target&, const sort_input&,
                                                                       sort_form);
extern template std::unique_ptr<whole_workload> sort_on_cuda<uint64_t>(const cuda_target&, const sort_input&,
                                                                       sort_form);
extern template std::unique_ptr<whole_workload> sort_on_cuda<sort_pair>(const cuda_target&, const sort_input&,
                                                                        sort_form);

}  // namespace gpusync::tool
