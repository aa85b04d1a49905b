#include "boundary/cuda_compare.hpp"

namespace gpusync::tool {

namespace {

__global__ void count_different_words(const uint32_t* found, const uint32_t* expected, size_t words,
                                      unsigned long long* different) {
  unsigned long long mine = 0;
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += stride) {
    mine += found[i] == expected[i] ? 0 : 1;
  }
  if (mine != 0) (void)atomicAdd(different, mine);
}

}  // namespace

uint64_t different_words(const cuda_target& where, const void* found, const void* expected, size_t words,
                         const cuda_buffer& count) {
  const cuda_device_scope scope(where.device().ordinal());
  auto* const counted = static_cast<unsigned long long*>(count.address());
  check_cuda(cudaMemsetAsync(counted, 0, sizeof(*counted), where.stream()), "cudaMemsetAsync");
  count_different_words<<<static_cast<unsigned>(4 * where.device().sm_count()), 256, 0, where.stream()>>>(
      static_cast<const uint32_t*>(found), static_cast<const uint32_t*>(expected), words, counted);
  check_cuda(cudaGetLastError(), "launch of count_different_words");
  unsigned long long different = 0;
  check_cuda(cudaMemcpyAsync(&different, counted, sizeof(different), cudaMemcpyDeviceToHost, where.stream()),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(where.stream()), "cudaStreamSynchronize");
  return different;
}

}  // namespace gpusync::tool
