// Where the programs of a CUDA device run. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/launch/cuda_admission.hpp>

#include "boundary/program.hpp"
#include "measure/host_timer.hpp"

namespace gpusync::tool {

/// A device and the stream that everything of the process is queued on there. Eight kernels on a
/// second one make a graph's idle steps a third slower on an H200 (experiment graph-states).
class cuda_target {
 public:
  explicit cuda_target(int ordinal) : device_(ordinal) {
    static std::mutex mutex;
    static std::map<int, cudaStream_t> streams;
    const std::lock_guard<std::mutex> lock(mutex);
    cudaStream_t& known = streams[ordinal];
    if (known == nullptr) {
      const cuda_device_scope scope(ordinal);
      check_cuda(cudaStreamCreateWithFlags(&known, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    }
    stream_ = known;
  }

  const cuda_device& device() const { return device_; }
  cudaStream_t stream() const { return stream_; }
  /// Bytes of device memory that are free now; its own processes' and others' are not.
  uint64_t free_memory() const {
    const cuda_device_scope scope(device_.ordinal());
    size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }
  /// Memory whose size is drawn, so that what is allocated while it lives lies elsewhere than before. Allocations are
  /// told apart by multiples of 512 bytes, and lines of the L2 cache by less than a megabyte.
  cuda_buffer spacer() const {
    static std::minstd_rand pieces(std::random_device{}());
    return cuda_buffer(device_, 512 * (1 + pieces() % 2048), stream_);
  }
  /// Copies to the device, complete for all streams when it returns.
  void upload(const cuda_buffer& to, const void* from, size_t bytes) const {
    const cuda_device_scope scope(device_.ordinal());
    check_cuda(cudaMemcpy(to.address(), from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    // This stream does not wait for the legacy stream, on which the copy may still be under way.
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
  /// What a launch may take in which a kernel waits for others, or measures.
  static constexpr double usual_limit_s = 20;
  /// Waits for the stream, which may have a kernel that never ends: throws stuck_launch after so many seconds, and
  /// cuda_failure if a launch has failed. Looks without a pause for `awake_s`, then every 50 us or so: who times this
  /// by the host's clock stays awake.
  void await(double limit_s = usual_limit_s, double awake_s = 1e-3) const {
    const host_timer clock;
    while (cudaStreamQuery(stream_) == cudaErrorNotReady) {
      (void)cudaGetLastError();
      if (clock.nanoseconds() > limit_s * 1e9) {
        throw stuck_launch("cuda:" + std::to_string(device_.ordinal()),
                           "A launch has not ended in " + std::to_string(static_cast<int>(limit_s)) +
                               " s: something in it that should end does not.");
      }
      if (clock.nanoseconds() > awake_s * 1e9) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    check_cuda(cudaStreamSynchronize(stream_), "a launch");
  }
  /// Copies to the host. Precondition: what writes it has ended.
  void download(void* to, const cuda_buffer& from, size_t bytes) const {
    const cuda_device_scope scope(device_.ordinal());
    check_cuda(cudaMemcpy(to, from.address(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }

 private:
  cuda_device device_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace gpusync::tool
