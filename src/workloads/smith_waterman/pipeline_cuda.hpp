// Workload "Smith-Waterman" as a pipeline, on CUDA devices.
#pragma once

#include "boundary/steps_cuda.hpp"
#include "workloads/smith_waterman/alignment_problem.hpp"

namespace gpusync::tool {

/// The workload on this problem; both must outlive it.
std::unique_ptr<workload> aligning_in_pipeline(const cuda_target& where, const alignment_problem& problem);

}  // namespace gpusync::tool
