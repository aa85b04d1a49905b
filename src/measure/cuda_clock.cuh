// The clock that a CUDA device really runs at.
#pragma once

#include <gpusync/core/cuda_device.hpp>

namespace gpusync::tool {

/// Megahertz of the SM clock now: cycles (clock64) over nanoseconds (%globaltimer) in a kernel on `stream` that spins
/// for `microseconds`. Blocking. Needs no privileges, and sees what the kernels see rather than what the driver
/// reports.
double measure_clock_mhz(const cuda_device& device, cudaStream_t stream, double microseconds = 200);

}  // namespace gpusync::tool
