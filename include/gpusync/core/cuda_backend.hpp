// What storages on a CUDA device are made of. core/host_backend.hpp has the same for host threads. Needs no nvcc.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/cuda_stream.hpp>
#include <gpusync/core/storage_control.hpp>

namespace gpusync::detail {

/// Words in device memory, zero when made. What is said to block waits for the device. Memory: cuda_buffer, or what has
/// its functions.
template <class Word, class Memory = cuda_buffer>
class cuda_words {
 public:
  /// Place: what the Memory is made from, a cuda_device.
  template <class Place>
  cuda_words(const Place& where, size_t count) : memory_(where, count * sizeof(Word)) {}

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
  /// Sets the words from the `first` on. Blocks.
  void write(const std::vector<Word>& from, size_t first = 0) {
    if (from.empty()) return;
    const cuda_device_scope scope(memory_.ordinal());
    check_cuda(cudaMemcpy(data() + first, from.data(), from.size() * sizeof(Word), cudaMemcpyHostToDevice),
               "cudaMemcpy");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  /// Sets a word that kernels may be polling, on a stream that waits for none of them. Blocks.
  void set_while_running(size_t at, Word value) {
    const cuda_device_scope scope(memory_.ordinal());
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    cudaError_t code = cudaMemcpyAsync(data() + at, &value, sizeof(value), cudaMemcpyHostToDevice, stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
    (void)cudaStreamDestroy(stream);
    check_cuda(code, "cudaMemcpyAsync");
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
  Memory memory_;
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
    legacy_ = number_of(cudaStreamLegacy);
  }

  /// Throws storage_in_use if launches on another stream came before, unless the two wait for each other by themselves:
  /// the legacy default stream and a stream that was made to.
  void check(const launch_request& launch) {
    const auto stream = static_cast<cudaStream_t>(launch.stream);
    // A stream that captures must not be asked for its number nor its flags, for that would end the capture. Then its
    // handle must do.
    const bool told = !launch.captured;
    unsigned long long id = none;
    if (told) id = number_of(stream);
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
    before_ = last_;
    was_used_ = used_;
    used_ = true;
    last_ = next_;
  }
  /// It does not.
  void withdraw() {
    last_ = before_;
    used_ = was_used_;
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
  bool used_ = false, was_used_ = false;
  named_stream last_, next_, before_;
  unsigned long long legacy_ = none;
};

/// Where memory comes from, for the storages.
struct cuda_backend {
  using place = cuda_device;
  template <class Word>
  using words = cuda_words<Word>;
  using report = cuda_report;
  using order = cuda_order;
  static constexpr bool host_may_add = false;

  /// As in a launch_request.
  static int device(const place& on) { return on.ordinal(); }
};

}  // namespace gpusync::detail
