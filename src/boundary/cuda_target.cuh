// Where the programs of a CUDA device run.
#pragma once

#include <gpusync/gpusync.cuh>

namespace gpusync::tool {

/// A device and a stream of its own. All programs of a workload share it: with a stream each, graphs' empty steps were
/// a third slower on H200 (docs/measuring.md).
class cuda_target {
 public:
  explicit cuda_target(int ordinal) : device_(ordinal) {
    const cuda_device_scope scope(ordinal);
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~cuda_target() { (void)cudaStreamDestroy(stream_); }
  cuda_target(const cuda_target&) = delete;
  cuda_target& operator=(const cuda_target&) = delete;

  const cuda_device& device() const { return device_; }
  cudaStream_t stream() const { return stream_; }

 private:
  cuda_device device_;
  cudaStream_t stream_ = nullptr;
};

/// Throws not_co_resident, invalid_argument or cuda_failure if `kernel` cannot run in this shape with all its blocks at
/// once: said when a program is prepared, not when it is measured.
template <class... Parameters>
void require_launchable(const cuda_device& device, void (*kernel)(Parameters...), const launch_shape& shape) {
  require_co_resident(device, kernel, shape);
}

}  // namespace gpusync::tool
