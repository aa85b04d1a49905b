// Time on a CUDA device, by events.
#pragma once

#include <gpusync/core/cuda_device.hpp>

namespace gpusync::tool {

/// Two events on a stream: nanoseconds between what stood before start() and what stands before stop(). Resolution
/// about 0.5 us (CUDA runtime API).
class cuda_timer {
 public:
  cuda_timer() {
    check_cuda(cudaEventCreate(&start_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  ~cuda_timer() {
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(stop_);
  }
  cuda_timer(const cuda_timer&) = delete;
  cuda_timer& operator=(const cuda_timer&) = delete;

  void start(cudaStream_t stream) { check_cuda(cudaEventRecord(start_, stream), "cudaEventRecord"); }

  /// Waits for the stream and returns the nanoseconds since start(). Throws what the work in between failed with.
  double stop(cudaStream_t stream) {
    mark_stop(stream);
    return marked();
  }
  /// stop() in halves: queues the end, and waits for it.
  void mark_stop(cudaStream_t stream) { check_cuda(cudaEventRecord(stop_, stream), "cudaEventRecord"); }
  double marked() {
    check_cuda(cudaEventSynchronize(stop_), "cudaEventSynchronize");
    return elapsed();
  }

  /// The same for who has waited for the stream in another way. Precondition: what stood before mark_stop() has ended.
  double elapsed() const {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    return double{milliseconds} * 1e6;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

}  // namespace gpusync::tool
