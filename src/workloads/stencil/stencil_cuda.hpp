// What the files of workload "stencil" on CUDA devices know of each other. Needs no nvcc.
#pragma once

#include "boundary/steps_cuda.hpp"
#include "workloads/stencil/stencil.hpp"

namespace gpusync::tool {

/// The relaxation of a body of points of that kind, with every grid barrier that orders data, and on the chip. `where`
/// must outlive it.
cuda_computation single_relaxation_on_cuda(const cuda_target& where, const stencil_body& body);
cuda_computation twice_relaxation_on_cuda(const cuda_target& where, const stencil_body& body);
/// That of a plate or a cube which ends by itself.
cuda_computation converging_relaxation_on_cuda(const cuda_target& where, const stencil_body& body);

}  // namespace gpusync::tool
