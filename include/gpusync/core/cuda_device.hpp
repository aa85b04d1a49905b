// CUDA devices and checked runtime calls. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/core/cuda_driver.hpp>
#include <gpusync/core/error.hpp>

namespace gpusync {

/// A call of the CUDA runtime that failed; code() is its cudaError_t.
class cuda_failure : public runtime_failure {
 public:
  /// `call` returned `code`.
  cuda_failure(const char* call, cudaError_t code)
      : runtime_failure(
            std::string(call) + " failed: " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ").", code) {}
  /// A failure with a further sentence.
  cuda_failure(const cuda_failure& failure, const std::string& words)
      : runtime_failure(std::string(failure.what()) + " " + words, failure.code()) {}
};

/// Throws cuda_failure unless `code` is cudaSuccess; `call` says what was called. Clears the runtime's sticky copy of
/// the error, so that a later launch is not blamed for it.
inline void check_cuda(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  throw cuda_failure(call, code);
}

/// Makes a device current for a scope.
class cuda_device_scope {
 public:
  /// Makes device `ordinal` current until the scope ends. Throws cuda_failure.
  explicit cuda_device_scope(int ordinal) {
    const detail::cuda_driver& driver = detail::cuda_driver::get();
    if (driver.ask(driver.current_device, &previous_) && previous_ == ordinal) return;
    check_cuda(cudaGetDevice(&previous_), "cudaGetDevice");
    changed_ = previous_ != ordinal;
    if (changed_) check_cuda(cudaSetDevice(ordinal), "cudaSetDevice");
  }
  ~cuda_device_scope() {
    if (changed_) (void)cudaSetDevice(previous_);
  }
  cuda_device_scope(const cuda_device_scope&) = delete;
  cuda_device_scope& operator=(const cuda_device_scope&) = delete;

 private:
  int previous_ = 0;
  bool changed_ = false;
};

/// One CUDA device. A light value; its properties are read once, when it is made.
class cuda_device {
 public:
  /// The device with this ordinal. Throws no_such_device, naming how many there are.
  explicit cuda_device(int ordinal = 0) : ordinal_(ordinal) {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) {
      (void)cudaGetLastError();
      throw no_such_device(std::string("No CUDA device can be used: ") + cudaGetErrorString(code) + ".");
    }
    if (ordinal < 0 || ordinal >= count) {
      throw no_such_device("There is no CUDA device " + std::to_string(ordinal) + ": this machine has " +
                           std::to_string(count) + ", counted from 0.");
    }
    check_cuda(cudaGetDeviceProperties(&properties_, ordinal), "cudaGetDeviceProperties");
  }

  /// Its number, as the CUDA runtime counts.
  int ordinal() const { return ordinal_; }
  /// As the CUDA runtime says it: "NVIDIA H200".
  std::string name() const { return properties_.name; }
  /// Streaming multiprocessors.
  int sm_count() const { return properties_.multiProcessorCount; }
  /// All that the CUDA runtime says of it.
  const cudaDeviceProp& properties() const { return properties_; }

 private:
  int ordinal_;
  cudaDeviceProp properties_{};
};

namespace detail {

/// Sets memory of a device to zero by copies from the host. Blocks. Throws cuda_failure.
inline void clear_by_copies(int ordinal, void* address, size_t bytes) {
  const cuda_device_scope scope(ordinal);
  const std::vector<char> zeros(std::min(bytes, size_t{1} << 20));
  for (size_t done = 0; done < bytes; done += zeros.size()) {
    check_cuda(cudaMemcpy(static_cast<char*>(address) + done, zeros.data(), std::min(zeros.size(), bytes - done),
                          cudaMemcpyHostToDevice),
               "cudaMemcpy");
  }
  // Streams that do not wait for the legacy stream must find the zeros too.
  check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

}  // namespace detail

/// Device memory that is freed with its owner. Bytes, not elements; zeroed when made.
class cuda_buffer {
 public:
  cuda_buffer() = default;
  /// By copies from the host, which no kernel carries out, as a memset may: once kernels ran on a second stream, here
  /// the default one, idle graphs of the process are slower (docs/measuring.md). All streams find the zeros. Throws
  /// cuda_failure when the device has too little memory left.
  cuda_buffer(const cuda_device& device, size_t bytes) : cuda_buffer(bytes, device) { clear(); }
  /// By a memset on `stream`: for large ones.
  cuda_buffer(const cuda_device& device, size_t bytes, cudaStream_t stream) : cuda_buffer(bytes, device) {
    const cuda_device_scope scope(ordinal_);
    check_cuda(cudaMemsetAsync(address_, 0, bytes, stream), "cudaMemsetAsync");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  ~cuda_buffer() {
    if (address_ != nullptr) (void)cudaFree(address_);
  }
  cuda_buffer(cuda_buffer&& other) noexcept { swap(other); }
  cuda_buffer& operator=(cuda_buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Zero again, by copies from the host. Blocks. Precondition: nothing that uses it is under way. Throws cuda_failure.
  void clear() const { detail::clear_by_copies(ordinal_, address_, bytes_); }

  /// On the device; null if it holds no memory.
  void* address() const { return address_; }
  /// Its size.
  size_t bytes() const { return bytes_; }
  /// The device's number.
  int ordinal() const { return ordinal_; }

 private:
  /// As it comes. What delegates to it has a destructor when it throws.
  cuda_buffer(size_t bytes, const cuda_device& device) : ordinal_(device.ordinal()), bytes_(bytes) {
    const cuda_device_scope scope(ordinal_);
    check_cuda(cudaMalloc(&address_, bytes), "cudaMalloc");
  }
  void swap(cuda_buffer& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    std::swap(ordinal_, other.ordinal_);
  }
  int ordinal_ = 0;
  size_t bytes_ = 0;
  void* address_ = nullptr;
};

}  // namespace gpusync
