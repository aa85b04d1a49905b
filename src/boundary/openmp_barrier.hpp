// Threads of the host that meet at OpenMP's barrier: how the paper joins GPUs on the CPU's side. C++17: CUDA sources
// include it.
#pragma once

#include <cstdint>
#include <functional>

namespace gpusync::tool {

/// A thread for each GPU, on a processor of its own: each calls `step(gpu, i)` for i = 0 … steps - 1, and they meet at
/// an OpenMP barrier after each. Returns nanoseconds a step, without the first `warm_up`. Throws what a step throws,
/// invalid_argument if the build has no OpenMP.
double steps_with_openmp_barrier(uint32_t gpus, uint32_t steps, uint32_t warm_up,
                                 const std::function<void(uint32_t gpu, uint32_t i)>& step);

}  // namespace gpusync::tool
