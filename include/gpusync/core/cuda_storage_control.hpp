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
  /// Throws storage_in_use if launches on another stream came before, unless the two wait for each other by themselves:
  /// the legacy default stream and a stream that was made to.
  void follow(cudaStream_t stream) {
    unsigned long long id = 0;
    check_cuda(cudaStreamGetId(stream, &id), "cudaStreamGetId");
    if (id == id_) return;
    unsigned flags = 0;
    check_cuda(cudaStreamGetFlags(stream, &flags), "cudaStreamGetFlags");
    unsigned long long legacy = 0;
    check_cuda(cudaStreamGetId(cudaStreamLegacy, &legacy), "cudaStreamGetId");
    const bool waits = (flags & cudaStreamNonBlocking) == 0;
    if (id_ != none && !(waits && waits_ && (id == legacy || id_ == legacy))) {
      throw storage_in_use(
          "This storage was last used by a launch on another stream, which may still run: the two would count in the same "
          "words. Give each stream a storage of its own; or, once one stream waits for the other, call hand_over() on the "
          "storage.");
    }
    id_ = id;
    waits_ = waits;
  }

  /// The next launch may come on any stream.
  void forget() { id_ = none; }

 private:
  static constexpr unsigned long long none = ~0ull;

  unsigned long long id_ = none;
  bool waits_ = false;
};

}  // namespace gpusync::detail
