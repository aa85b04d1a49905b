// Words that a stream brings to the host. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include <array>

#include <gpusync/core/cuda_device.hpp>

#include "boundary/cuda_event.hpp"

namespace gpusync::tool {

/// Pinned memory of the host, for copies that a stream orders.
template <class Word>
class pinned_words {
 public:
  explicit pinned_words(size_t count) {
    check_cuda(cudaMallocHost(reinterpret_cast<void**>(&words_), count * sizeof(Word)), "cudaMallocHost");
  }
  ~pinned_words() { (void)cudaFreeHost(words_); }
  pinned_words(const pinned_words&) = delete;
  pinned_words& operator=(const pinned_words&) = delete;
  Word* get() const { return words_; }

 private:
  Word* words_ = nullptr;
};

/// Asks what a word of the device's holds behind what is queued so far. Questions are numbered, and two may be open at
/// once: the host reads the answer to one while the device goes on to the next.
class cuda_questions {
 public:
  void ask(cudaStream_t stream, const uint32_t* word, uint32_t number) {
    const uint32_t slot = number % 2;
    check_cuda(cudaMemcpyAsync(words_.get() + slot, word, sizeof(uint32_t), cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaEventRecord(answered_[slot].get(), stream), "cudaEventRecord");
  }
  /// Blocking. Precondition: asked, and not after the next but one was.
  uint32_t answer(uint32_t number) const {
    check_cuda(cudaEventSynchronize(answered_[number % 2].get()), "cudaEventSynchronize");
    return words_.get()[number % 2];
  }

 private:
  const pinned_words<uint32_t> words_{2};
  std::array<cuda_event, 2> answered_;
};

}  // namespace gpusync::tool
