// What a launch asks of its stream. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_driver.hpp>

namespace gpusync::detail {

/// Whether what is launched on `stream` is captured into a graph. Throws cuda_failure.
inline bool is_captured(cudaStream_t stream) {
  const cuda_driver& driver = cuda_driver::get();
  int answer = 0;
  if (driver.ask(driver.is_capturing, stream, &answer)) return answer != cudaStreamCaptureStatusNone;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

/// A number that no other stream has or had; their handles come back while kernels of a destroyed stream still run.
/// Precondition: the stream is not captured, for the question would end that. Throws cuda_failure.
inline unsigned long long number_of(cudaStream_t stream) {
  const cuda_driver& driver = cuda_driver::get();
  unsigned long long number = 0;
  if (driver.ask(driver.number_of, stream, &number)) return number;
  check_cuda(cudaStreamGetId(stream, &number), "cudaStreamGetId");
  return number;
}

}  // namespace gpusync::detail
