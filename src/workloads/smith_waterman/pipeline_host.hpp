// Workload "Smith-Waterman" as a pipeline on host threads: the text that GPUs run, for tests. Each thread is a warp of
// a few lanes, which it goes through one after the other.
#pragma once

#include <gpusync/core/host_grid.hpp>

#include "workloads/smith_waterman/alignment_problem.hpp"
#include "workloads/smith_waterman/pipeline_result.hpp"

namespace gpusync::tool {

/// Of a block: one warp that computes, and two between blocks.
inline constexpr uint32_t host_pipeline_threads = 3;

/// The workload on this problem, which must outlive it.
std::unique_ptr<workload> aligning_in_pipeline(const alignment_problem& problem);

}  // namespace gpusync::tool
