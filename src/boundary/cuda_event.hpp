// An event between streams. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <memory>
#include <type_traits>

#include <gpusync/core/cuda_device.hpp>

namespace gpusync::tool {

/// An event of the current device, which takes no times.
class cuda_event {
 public:
  /// Throws cuda_failure.
  cuda_event() {
    cudaEvent_t made = nullptr;
    check_cuda(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    event_.reset(made);
  }
  cudaEvent_t get() const { return event_.get(); }

 private:
  struct destroy {
    void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, destroy> event_;
};

}  // namespace gpusync::tool
