// What a launch asks of its device and its stream. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_driver.hpp>
#include <gpusync/core/storage_control.hpp>

namespace gpusync::detail {

/// Makes `calls` to the runtime or the driver. A kernel that broke a rule, or waited in vain, was ended by a trap:
/// then, or whatever the failure if `any_failure`, what they throw has what the storages of CUDA device `device`
/// report. Precondition: the thread has no storage_control::hold. Throws what `calls` throw.
template <class Calls>
void with_reports(int device, Calls&& calls, bool any_failure = false) {
  const auto reports = [&](const runtime_failure& failure) {
    const bool trapped = failure.code() == cudaErrorLaunchFailure || failure.code() == cudaErrorIllegalInstruction;
    return trapped || any_failure ? storage_control::reports_of(device) : std::string();
  };
  try {
    calls();
  } catch (const cuda_failure& failure) {
    const std::string words = reports(failure);
    if (words.empty()) throw;
    throw cuda_failure(failure, words);
  } catch (const runtime_failure& failure) {
    const std::string words = reports(failure);
    if (words.empty()) throw;
    throw runtime_failure(std::string(failure.what()) + " " + words, failure.code());
  }
}

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
