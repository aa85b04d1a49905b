// Which of the code that a program was compiled to a device runs.
#pragma once

#include <gpusync/core/cuda_device.hpp>

namespace gpusync {

namespace detail {
template <int>
__global__ void code_probe() {}
}  // namespace detail

/// The compute capability, times ten, for which the code was compiled that this program runs on a device: at most the
/// device's own, and less where the driver had to take what was compiled for an older one. What a kernel does behind
/// `__CUDA_ARCH__ >= 900` it does where this is at least 90, and not where the device alone is of 9.0.
/// 0 if there is no code for the device.
inline int code_for(const cuda_device& device) {
  const cuda_device_scope scope(device.ordinal());
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, detail::code_probe<0>) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return attributes.ptxVersion;
}

}  // namespace gpusync
