// What every launch asks, put to the driver instead of the runtime. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <cuda_runtime_api.h>

namespace gpusync::detail {

/// Functions of the driver that answer in a third of the time in which the runtime passes the question on (10 to 15 ns,
/// not 30 to 45). Each returns 0 for success. null where the runtime cannot hand them out: what one of them does not
/// answer, the runtime is to be asked, which makes contexts, and whose errors users know.
struct cuda_driver {
  // The driver's status, devices and enumerations are int here, so that this needs no cuda.h.
  int (*is_capturing)(cudaStream_t, int* status) = nullptr;
  int (*number_of)(cudaStream_t, unsigned long long* number) = nullptr;
  int (*current_device)(int* device) = nullptr;
  int (*current_context)(void** context) = nullptr;
  /// Lets the current context's kernels reach that context's memory.
  int (*enable_peer_access)(void* context, unsigned int flags) = nullptr;

  /// Whether one of the functions has answered. Only where the calling thread has a context: without one they fail,
  /// which tools that watch the driver report.
  template <class... Parameters, class... Arguments>
  bool ask(int (*function)(Parameters...), Arguments... arguments) const {
    void* context = nullptr;
    return function != nullptr && current_context != nullptr && current_context(&context) == 0 && context != nullptr &&
           function(arguments...) == 0;
  }

  static const cuda_driver& get() {
    static const cuda_driver found;
    return found;
  }

  /// Finds a function of the driver under the name that fits what the default stream means to the caller, which the
  /// runtime knows. Where it cannot be had, `function` stays as it is.
  template <class Function>
  static void look_up([[maybe_unused]] const char* name, [[maybe_unused]] Function& function) {
#if CUDART_VERSION >= 12050
    void* address = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    if (cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &result) != cudaSuccess) {
      (void)cudaGetLastError();
    } else if (result == cudaDriverEntryPointSuccess) {
      function = reinterpret_cast<Function>(address);
    }
#endif
  }

 private:
  cuda_driver() {
    look_up("cuStreamIsCapturing", is_capturing);
    look_up("cuStreamGetId", number_of);
    look_up("cuCtxGetDevice", current_device);
    look_up("cuCtxGetCurrent", current_context);
    look_up("cuCtxEnablePeerAccess", enable_peer_access);
  }
};

}  // namespace gpusync::detail
