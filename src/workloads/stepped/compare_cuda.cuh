// Comparing results on the device.
#pragma once

#include <gpusync/core/cuda_device.hpp>

namespace gpusync::tool {

/// Counts 32-bit words in which two arrays differ.
static __global__ void count_different_words(const uint32_t* found, const uint32_t* expected, size_t words,
                                             unsigned long long* different) {
  unsigned long long mine = 0;
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += stride) {
    mine += found[i] == expected[i] ? 0 : 1;
  }
  if (mine != 0) (void)atomicAdd(different, mine);
}

/// The same from the host: blocking, on `stream`. `count` is device memory to work with.
inline uint64_t different_words(const cuda_device& device, cudaStream_t stream, const void* found, const void* expected,
                                size_t words, const cuda_buffer& count) {
  const cuda_device_scope scope(device.ordinal());
  auto* const counted = static_cast<unsigned long long*>(count.address());
  check_cuda(cudaMemsetAsync(counted, 0, sizeof(*counted), stream), "cudaMemsetAsync");
  count_different_words<<<static_cast<unsigned>(4 * device.sm_count()), 256, 0, stream>>>(
      static_cast<const uint32_t*>(found), static_cast<const uint32_t*>(expected), words, counted);
  check_cuda(cudaGetLastError(), "launch of count_different_words");
  unsigned long long different = 0;
  check_cuda(cudaMemcpyAsync(&different, counted, sizeof(different), cudaMemcpyDeviceToHost, stream),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return different;
}

}  // namespace gpusync::tool
