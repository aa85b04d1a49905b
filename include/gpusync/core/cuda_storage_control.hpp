// What storages on a CUDA device see to besides: that launches on them follow each other. Needs no nvcc.
#pragma once

#include <gpusync/core/cuda_device.hpp>
#include <gpusync/core/storage_control.hpp>

namespace gpusync::detail {

/// The stream that a storage's launches go to. Launches on one stream follow each other; those of two might run at once
/// and count in the same words, so the second stream is refused. To wait for the first one by an event is no way out:
/// the stream may have been destroyed since, nothing tells that, and a runtime call that names it may crash. An event
/// after every launch costs more than the launch may (docs/decisions.md).
class stream_order {
 public:
  /// Throws cuda_failure if the device cannot be used.
  explicit stream_order(int device) {
    const cuda_device_scope scope(device);
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

}  // namespace gpusync::detail
