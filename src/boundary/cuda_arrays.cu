#include "boundary/cuda_arrays.hpp"

namespace gpusync::tool {

namespace {

__global__ void fill_words(uint32_t* to, size_t words, uint64_t pattern) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += stride) {
    to[i] = static_cast<uint32_t>(i % 2 == 0 ? pattern : pattern >> 32);
  }
}

__global__ void count_different_words(const uint32_t* found, const uint32_t* expected, size_t words,
                                      unsigned long long* different) {
  unsigned long long mine = 0;
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += stride) {
    mine += found[i] == expected[i] ? 0 : 1;
  }
  if (mine != 0) (void)atomicAdd(different, mine);
}

unsigned blocks_on(const cuda_target& where) {
  return static_cast<unsigned>(4 * where.device().sm_count());
}

cuda_buffer copy_of(const cuda_target& where, const void* bytes, size_t count) {
  if (bytes == nullptr || count == 0) return {};
  cuda_buffer copy(where.device(), count, where.stream());
  where.upload(copy, bytes, count);
  return copy;
}

}  // namespace

cuda_arrays::cuda_arrays(const cuda_target& where, std::vector<array_content> content)
    : arrays(std::move(content)),
      where_(where),
      different_(where.device(), sizeof(unsigned long long), where.stream()) {
  const cuda_device_scope scope(where.device().ordinal());
  for (array_content& each : content_) {
    buffers& made = all_.emplace_back();
    made.first = copy_of(where, each.first.get(), each.bytes);
    made.expected = copy_of(where, each.expected.get(), each.bytes);
    made.is_first = !each.anew && made.first.address() != nullptr;
    made.memory = made.is_first ? std::move(made.first)
                                : cuda_buffer(where.device(), each.bytes == 0 ? 1 : each.bytes, where.stream());
    each.first.reset();
    each.expected.reset();
  }
  fill_all();
}

void cuda_arrays::fill(size_t array) {
  const size_t bytes = content_[array].bytes;
  if (bytes == 0 || all_[array].is_first) return;
  const cuda_device_scope scope(where_.device().ordinal());
  const buffers& to = all_[array];
  if (to.first.address() != nullptr) {
    check_cuda(
        cudaMemcpyAsync(to.memory.address(), to.first.address(), bytes, cudaMemcpyDeviceToDevice, where_.stream()),
        "cudaMemcpyAsync");
    return;
  }
  fill_words<<<blocks_on(where_), 256, 0, where_.stream()>>>(static_cast<uint32_t*>(to.memory.address()),
                                                             bytes / sizeof(uint32_t), content_[array].pattern);
  check_cuda(cudaGetLastError(), "launch of fill_words");
}

void cuda_arrays::finish() {
  const cuda_device_scope scope(where_.device().ordinal());
  check_cuda(cudaStreamSynchronize(where_.stream()), "cudaStreamSynchronize");
}

void cuda_arrays::read(size_t array, void* to) {
  where_.download(to, all_[array].memory, content_[array].bytes);
}

uint64_t cuda_arrays::different(size_t array) {
  const buffers& which = all_[array];
  return different_words(where_, which.memory.address(), which.expected.address(),
                         content_[array].bytes / sizeof(uint32_t), different_);
}

uint64_t different_words(const cuda_target& where, const void* found, const void* expected, size_t words,
                         const cuda_buffer& counted) {
  const cuda_device_scope scope(where.device().ordinal());
  auto* const count = static_cast<unsigned long long*>(counted.address());
  check_cuda(cudaMemsetAsync(count, 0, sizeof(*count), where.stream()), "cudaMemsetAsync");
  count_different_words<<<blocks_on(where), 256, 0, where.stream()>>>(
      static_cast<const uint32_t*>(found), static_cast<const uint32_t*>(expected), words, count);
  check_cuda(cudaGetLastError(), "launch of count_different_words");
  unsigned long long different = 0;
  check_cuda(cudaMemcpyAsync(&different, count, sizeof(different), cudaMemcpyDeviceToHost, where.stream()),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(where.stream()), "cudaStreamSynchronize");
  return different;
}

}  // namespace gpusync::tool
