// What tests of what must not go wrong in silence on a CUDA device have in common.
#pragma once

#include "cuda/barrier_fixture.cuh"

namespace gpusync::test {

/// A stream of its own for a test.
class other_stream {
 public:
  other_stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }
  ~other_stream() { (void)cudaStreamDestroy(stream_); }
  other_stream(const other_stream&) = delete;
  other_stream& operator=(const other_stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

template <class Algorithm>
class CudaSafety : public CudaBarrier<Algorithm> {};

class CudaRefusals : public CudaTest {};

}  // namespace gpusync::test
