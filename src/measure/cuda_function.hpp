// What is known of a kernel's machine code. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <string>

#include <gpusync/core/cuda_device.hpp>

namespace gpusync::tool {

/// What a kernel is called in the machine code; empty if the CUDA runtime cannot say.
inline std::string name_in_machine_code(const cuda_device& device, const void* kernel) {
#if CUDART_VERSION >= 12030
  const cuda_device_scope scope(device.ordinal());
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) == cudaSuccess && name != nullptr) return name;
  (void)cudaGetLastError();
#else
  (void)device, (void)kernel;
#endif
  return "";
}

/// The architecture of its loaded machine code: 90 for sm_90.
inline int architecture_of(const cuda_device& device, const void* kernel) {
  const cuda_device_scope scope(device.ordinal());
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  return attributes.binaryVersion;
}

}  // namespace gpusync::tool
