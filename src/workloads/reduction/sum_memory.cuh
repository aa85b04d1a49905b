// Workload "reduction" on CUDA devices: inputs and results in the memory of one, and what the results must be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "workloads/reduction/reduction_cuda.cuh"

namespace gpusync::tool {

/// All inputs, one behind the other, the space between them included: element i of the memory is that of index
/// `first` + i.
template <class T>
__global__ void fill_inputs(T* values, uint64_t count, uint64_t first) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    values[i] = T(reduction_element(first + i));
  }
}

/// The sum of each input in whole numbers, from what stands in memory: a row of blocks for each.
template <class T>
__global__ void sum_in_integers(const T* first, uint64_t stride, uint64_t count, unsigned long long* sums) {
  const T* const values = first + blockIdx.y * stride;
  long long sum = 0;
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    sum += static_cast<long long>(values[i]);
  }
  for (unsigned step = 16; step != 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sums + blockIdx.y, static_cast<unsigned long long>(sum));
}

/// Fills the caches with something else.
template <class Vector>
__global__ void read_junk(const Vector* junk, uint64_t count, float* never) {
  float sum = 0;
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count; i += uint64_t{gridDim.x} * blockDim.x) {
    const Vector value = junk[i];
    sum += value.x + value.y + value.z + value.w;
  }
  if (sum == -1.5f) *never = sum;  // zeros never add up to that
}

/// Inputs and results in device memory, and what they must be.
template <class T>
class sum_memory {
 public:
  static constexpr uint32_t most_results = 1u << 14;  ///< are kept of a run, or one for each input

  sum_memory(const cuda_target& where, const reduction_problem& problem, const reduction_layout& layout)
      : where_(where),
        cached_(problem.cached),
        inputs_(where.device(), layout.bytes(), where.stream()),
        kept_((most_results + layout.pieces - 1) / layout.pieces * layout.pieces),
        results_(where.device(), kept_ * sizeof(T), where.stream()),
        junk_(where.device(), problem.cached ? 16 : 2 * l2_bytes(where.device()) + 16, where.stream()) {
    auto* const first = static_cast<T*>(inputs_.address());
    const uint64_t stride = layout.stride / sizeof(T);
    const cuda_device_scope scope(where.device().ordinal());
    fill_inputs<<<blocks(), 512, 0, where.stream()>>>(first, layout.bytes() / sizeof(T), problem.first);
    pieces_ = {
        first + problem.offset, stride, layout.pieces, problem.elements, static_cast<T*>(results_.address()), kept_};
    const cuda_buffer sums(where.device(), layout.pieces * sizeof(long long), where.stream());
    sum_in_integers<<<dim3(blocks() / 4, layout.pieces), 256, 0, where.stream()>>>(
        pieces_.first, stride, problem.elements, static_cast<unsigned long long*>(sums.address()));
    check_cuda(cudaGetLastError(), "the launch of a sum in integers");
    check_cuda(cudaStreamSynchronize(where.stream()), "the sums in integers");
    expected_.resize(layout.pieces);
    where.download(expected_.data(), sums, sums.bytes());
    require_expected(problem, stride);
  }

  const sum_pieces<T>& pieces() const { return pieces_; }
  /// What the sum in that place must be.
  int64_t expected(uint32_t place) const { return expected_[place % pieces_.count]; }

  /// No result is a number, and no input is in a cache, unless it is to be.
  void reset() const {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemsetAsync(results_.address(), 0xff, results_.bytes(), where_.stream()), "cudaMemsetAsync");
    if (!cached_) {
      read_junk<<<blocks(), 512, 0, where_.stream()>>>(static_cast<const float4*>(junk_.address()), junk_.bytes() / 16,
                                                       static_cast<float*>(junk_.address()));
      check_cuda(cudaGetLastError(), "the launch of what clears the caches");
    }
    check_cuda(cudaStreamSynchronize(where_.stream()), "what clears the caches");
  }

  std::vector<T> results(uint32_t count) const {
    std::vector<T> found(count);
    where_.download(found.data(), results_, count * sizeof(T));
    return found;
  }

  const cuda_target& where() const { return where_; }

 private:
  static uint64_t l2_bytes(const cuda_device& device) { return static_cast<uint64_t>(device.properties().l2CacheSize); }
  unsigned blocks() const { return 4 * static_cast<unsigned>(where_.device().sm_count()); }

  /// What the device has summed in whole numbers is itself checked by the host, as far as that is soon done.
  void require_expected(const reduction_problem& problem, uint64_t stride) const {
    constexpr uint64_t most = 1 << 22;
    if (problem.elements > most) return;
    const auto pieces = static_cast<uint32_t>(
        std::clamp<uint64_t>(most / std::max<uint64_t>(problem.elements, 1), 1, expected_.size()));
    for (uint32_t piece = 0; piece < pieces; ++piece) {
      const uint64_t first = problem.first + problem.offset + piece * stride;
      if (reduction_sum(first, problem.elements) == expected_[piece]) continue;
      throw runtime_failure("The device's sums in integers are not the host's.", 0);
    }
  }

  const cuda_target& where_;
  const bool cached_;
  const cuda_buffer inputs_;
  const uint32_t kept_;
  const cuda_buffer results_, junk_;
  sum_pieces<T> pieces_{};
  std::vector<int64_t> expected_;
};

}  // namespace gpusync::tool
