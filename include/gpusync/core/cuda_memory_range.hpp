// Whose memory an address leads to. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_driver.hpp>

namespace gpusync::detail {

/// Throws runtime_failure unless a call of the driver, named `call`, returned CUDA_SUCCESS.
inline void check_driver(CUresult code, const char* call) {
  if (code == CUDA_SUCCESS) return;
  CUresult (*describe)(CUresult, const char**) = nullptr;
  cuda_driver::look_up("cuGetErrorString", describe);
  const char* words = nullptr;
  if (describe != nullptr) (void)describe(code, &words);
  throw runtime_failure(std::string(call) + " failed: " + (words != nullptr ? words : "unknown error") + " (" +
                            std::to_string(static_cast<int>(code)) + ").",
                        code);
}

/// A function of the driver by its name. Throws runtime_failure where the runtime cannot hand it out.
template <class Function>
Function driver_function(const char* name) {
  Function function = nullptr;
  cuda_driver::look_up(name, function);
  if (function != nullptr) return function;
  throw runtime_failure(std::string(name) + " cannot be had of this CUDA runtime: 12.5 and later hand it out.", 0);
}

/// Throws invalid_argument, which begins with `what`, unless so many bytes at an address are allocated on a device.
inline void require_memory(const cuda_device& device, uint64_t address, size_t bytes, const std::string& what) {
  const cuda_device_scope scope(device.ordinal());
  static const auto ask =
      driver_function<CUresult (*)(void*, CUpointer_attribute, CUdeviceptr)>("cuPointerGetAttribute");
  const auto has = [&](CUpointer_attribute which, void* answer) {
    const CUresult code = ask(answer, which, static_cast<CUdeviceptr>(address));
    if (code == CUDA_ERROR_INVALID_VALUE) return false;
    check_driver(code, "cuPointerGetAttribute");
    return true;
  };
  unsigned type = 0;
  if (!has(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, &type) || type != CU_MEMORYTYPE_DEVICE) {
    char place[32];
    std::snprintf(place, sizeof place, "%#llx", static_cast<unsigned long long>(address));
    throw invalid_argument(what + " at " + place +
                           " is no memory of a CUDA device, or it has been freed. Keep the buffer for as long as the "
                           "barrier.");
  }
  int lies_on = 0;
  if (has(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, &lies_on) && lies_on != device.ordinal()) {
    throw invalid_argument(what + " lies on CUDA device " + std::to_string(lies_on) +
                           ", but the barrier is for CUDA device " + std::to_string(device.ordinal()) +
                           ". Give it memory there.");
  }
  CUdeviceptr begin = 0;
  size_t length = 0;
  if (!has(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, &begin) || !has(CU_POINTER_ATTRIBUTE_RANGE_SIZE, &length)) return;
  if (address + bytes <= begin + length) return;
  throw invalid_argument(what + " has " + std::to_string(begin + length - address) +
                         " bytes up to the end of its allocation, and the barrier takes " + std::to_string(bytes) +
                         ".");
}

}  // namespace gpusync::detail
