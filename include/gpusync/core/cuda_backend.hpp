// What storages on a CUDA device are made of. core/host_backend.hpp has the same for host threads. Needs no nvcc.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/storage_control.hpp>

namespace gpusync::detail {

/// Words in device memory, zero when made. What is said to block waits for the device.
template <class Word>
class cuda_words {
 public:
  cuda_words(const cuda_device& device, size_t count) : memory_(device, count * sizeof(Word)) {}

  Word* data() const { return static_cast<Word*>(memory_.address()); }
  size_t bytes() const { return memory_.bytes(); }

  /// All zero. Blocks.
  void clear() {
    const cuda_device_scope scope(memory_.ordinal());
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    memory_.clear();
  }
  /// The same for some of them, queued before a launch.
  void clear(size_t first, size_t count, const launch_request& launch) {
    check_cuda(cudaMemsetAsync(data() + first, 0, count * sizeof(Word), static_cast<cudaStream_t>(launch.stream)),
               "cudaMemsetAsync");
  }
  /// Sets the first words. Blocks.
  void write(const std::vector<Word>& from) {
    if (from.empty()) return;
    const cuda_device_scope scope(memory_.ordinal());
    check_cuda(cudaMemcpy(data(), from.data(), from.size() * sizeof(Word), cudaMemcpyHostToDevice), "cudaMemcpy");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  /// A copy of all, after what the device is doing. Blocks.
  std::vector<Word> read() const {
    const cuda_device_scope scope(memory_.ordinal());
    std::vector<Word> copy(bytes() / sizeof(Word));
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check_cuda(cudaMemcpy(copy.data(), data(), bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return copy;
  }

 private:
  cuda_buffer memory_;
};

/// A report in mapped host memory: the host can read it while a kernel runs.
class cuda_report {
 public:
  cuda_report(const cuda_device& device, uint32_t capacity) {
    const cuda_device_scope scope(device.ordinal());
    void* mapped = nullptr;
    check_cuda(cudaHostAlloc(&mapped, timeout_report::bytes(capacity), cudaHostAllocMapped), "cudaHostAlloc");
    std::memset(mapped, 0, timeout_report::bytes(capacity));
    memory_.reset(static_cast<timeout_report*>(mapped));
  }
  timeout_report* get() { return memory_.get(); }

 private:
  struct free_host {
    void operator()(timeout_report* report) const { (void)cudaFreeHost(report); }
  };
  std::unique_ptr<timeout_report, free_host> memory_;
};

/// The stream that a storage's launches go to. Launches on one stream follow each other; those of two might run at once
/// and count in the same words, so the second stream is refused. To wait for the first one by an event is no way out:
/// the stream may have been destroyed since, nothing tells that, and a runtime call that names it may crash. An event
/// after every launch costs more than the launch may (docs/decisions.md).
class cuda_order {
 public:
  /// Throws cuda_failure if the device cannot be used.
  explicit cuda_order(const cuda_device& device) {
    const cuda_device_scope scope(device.ordinal());
    check_cuda(cudaStreamGetId(cudaStreamLegacy, &legacy_), "cudaStreamGetId");
  }

  /// Throws storage_in_use if launches on another stream came before, unless the two wait for each other by themselves:
  /// the legacy default stream and a stream that was made to.
  void check(const launch_request& launch) {
    const auto stream = static_cast<cudaStream_t>(launch.stream);
    // A stream that captures must not be asked for its number nor its flags, for that would end the capture. Then its
    // handle must do.
    const bool told = !launch.captured;
    unsigned long long id = none;
    if (told) check_cuda(cudaStreamGetId(stream, &id), "cudaStreamGetId");
    next_ = {stream, told ? id : last_.id, last_.waits};
    if (used_ && (told && last_.id != none ? id == last_.id : stream == last_.handle)) return;
    unsigned flags = cudaStreamNonBlocking;
    if (told) check_cuda(cudaStreamGetFlags(stream, &flags), "cudaStreamGetFlags");
    const bool waits = (flags & cudaStreamNonBlocking) == 0;
    next_ = {stream, id, waits};
    if (used_ && !(waits && last_.waits && (id == legacy_ || last_.id == legacy_))) {
      throw storage_in_use(
          "This storage was last used by a launch on another stream, which may still run: the two would count in the "
          "same words. Give each stream a storage of its own; or, once one stream waits for the other, call "
          "hand_over() on the storage.");
    }
  }
  /// The launch on the stream that was checked takes place.
  void follow() {
    used_ = true;
    last_ = next_;
  }

  /// Nobody waits for its end.
  void release() {}

  /// The next launch may come on any stream.
  void forget() { used_ = false; }

 private:
  static constexpr unsigned long long none = ~0ull;

  struct named_stream {
    cudaStream_t handle = nullptr;
    unsigned long long id = none;  ///< handles come back when streams are destroyed, numbers do not
    bool waits = false;            ///< for the legacy default stream
  };
  bool used_ = false;
  named_stream last_, next_;
  unsigned long long legacy_ = none;
};

/// Where memory comes from, for the storages.
struct cuda_backend {
  using place = cuda_device;
  template <class Word>
  using words = cuda_words<Word>;
  using report = cuda_report;
  using order = cuda_order;

  /// As in a launch_request.
  static int device(const place& on) { return on.ordinal(); }
};

}  // namespace gpusync::detail
