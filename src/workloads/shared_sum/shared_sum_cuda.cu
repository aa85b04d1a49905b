// Workload "shared sum" on CUDA devices.
#include <algorithm>
#include <cstddef>

#include "boundary/cuda_target.hpp"
#include "measure/cuda_chain.cuh"
#include "workloads/reduction/reduction.hpp"
#include "workloads/shared_sum/shared_sum.hpp"

namespace gpusync::tool {

namespace {

constexpr unsigned int most_threads = 1024;

enum class who { thread, warp, block };

/// What a launch leaves.
struct left_sums {
  unsigned int elements;  ///< those of the launch: what an earlier one has left is not taken for this one's
  warp_stamp stamps[most_threads / warp_lanes];
  double sums[most_threads];  ///< of each thread, or the one of all in the first place
};

__device__ __forceinline__ double sum_of_warp(double own) {
  double sum = own;
#pragma unroll
  for (unsigned int step = warp_lanes / 2; step != 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  return sum;
}

/// Brings the sums of a block's warps together; the first warp returns the whole.
__device__ __forceinline__ double sum_of_block(double of_warp, double* of_warps) {
  if (threadIdx.x % warp_lanes == 0) of_warps[threadIdx.x / warp_lanes] = of_warp;
  __syncthreads();
  if (threadIdx.x >= warp_lanes) return 0;
  return sum_of_warp(threadIdx.x < blockDim.x / warp_lanes ? of_warps[threadIdx.x] : 0);
}

/// Neither loop may be unrolled: the passes because the one that counts would be code that has never run, the sum
/// because the model is one of a loop whose every element takes as long.
template <who Who, sum_ending Ending>
__global__ void __launch_bounds__(most_threads)
    sum_in_shared(const double* input, unsigned int elements, left_sums* left) {
  extern __shared__ double numbers[];
  __shared__ double of_warps[most_threads / warp_lanes];
  for (unsigned int i = threadIdx.x; i < elements; i += blockDim.x) numbers[i] = input[i];
  const unsigned int step = Who == who::thread ? 1 : Who == who::warp ? warp_lanes : blockDim.x;
  double sum = 0;
  long long begin = 0, end = 0;
#pragma unroll 1
  for (unsigned int pass = 0; pass < chain_passes; ++pass) {
    __syncthreads();
    begin = chain_clock();
    sum = 0;
    if (Who != who::thread || threadIdx.x == 0) {
#pragma unroll 1
      for (unsigned int i = threadIdx.x; i < elements; i += step) sum += numbers[i];
    }
    if (Ending == sum_ending::one_sum && Who != who::thread) sum = sum_of_warp(sum);
    if (Ending == sum_ending::one_sum && Who == who::block) sum = sum_of_block(sum, of_warps);
    end = chain_clock_behind(sum);
  }
  if (Ending == sum_ending::each_its_own || threadIdx.x == 0) left->sums[threadIdx.x] = sum;
  if (threadIdx.x == 0) left->elements = elements;
  if (threadIdx.x % warp_lanes == 0) left->stamps[threadIdx.x / warp_lanes] = {begin, end, 1, 0};
}

using shared_sum_kernel = void (*)(const double*, unsigned int, left_sums*);

template <sum_ending Ending>
shared_sum_kernel kernel_for(uint32_t threads) {
  if (threads == 1) return &sum_in_shared<who::thread, Ending>;
  return threads == warp_lanes ? &sum_in_shared<who::warp, Ending> : &sum_in_shared<who::block, Ending>;
}

class cuda_shared_sum : public shared_sum_program {
 public:
  cuda_shared_sum(const cuda_target& where, const summing_group& group, sum_ending ending, uint32_t most_elements)
      : where_(where),
        group_(group),
        ending_(ending),
        kernel_(ending == sum_ending::one_sum ? kernel_for<sum_ending::one_sum>(group.threads)
                                              : kernel_for<sum_ending::each_its_own>(group.threads)),
        input_(where.device(), most_elements * sizeof(double)),
        left_(where.device(), sizeof(left_sums)),
        sums_until_(1) {
    std::vector<double> numbers;
    for (uint32_t i = 0; i < most_elements; ++i) {
      numbers.push_back(reduction_element(i));
      sums_until_.push_back(sums_until_.back() + numbers.back());
    }
    where.upload(input_, numbers.data(), input_.bytes());
    const cuda_device_scope scope(where.device().ordinal());
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel_), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(most_elements * sizeof(double))),
               "cudaFuncSetAttribute");
  }

  double run(uint32_t elements) override {
    const cuda_device_scope scope(where_.device().ordinal());
    auto* const left = static_cast<left_sums*>(left_.address());
    const uint32_t threads = std::max(warp_lanes, group_.threads);
    kernel_<<<1, threads, elements * sizeof(double), where_.stream()>>>(static_cast<const double*>(input_.address()),
                                                                        elements, left);
    check_cuda(cudaGetLastError(), "the launch of a sum in shared memory");
    where_.await();
    const bool one = ending_ == sum_ending::one_sum;
    where_.download(&found_, left_, offsetof(left_sums, sums) + (one ? 1 : threads) * sizeof(double));
    ++checked_;
    double sum = 0;
    for (uint32_t i = 0; i < (one ? 1 : threads); ++i) sum += found_.sums[i];
    wrong_ += found_.elements == elements && sum == sums_until_[elements] ? 0 : 1;
    long long begin = found_.stamps[0].begin, end = found_.stamps[0].end;
    for (uint32_t warp = 1; warp < threads / warp_lanes; ++warp) {
      begin = std::min(begin, found_.stamps[warp].begin);
      end = std::max(end, found_.stamps[warp].end);
    }
    return static_cast<double>(end - begin);
  }

  verification verify() const override {
    return {true, checked_, wrong_, "the sum of every launch, whole numbers, compared exactly"};
  }

 private:
  const cuda_target& where_;
  const summing_group group_;
  const sum_ending ending_;
  const shared_sum_kernel kernel_;
  const cuda_buffer input_, left_;
  std::vector<double> sums_until_;  ///< of the first so many numbers
  left_sums found_{};
  uint64_t checked_ = 0, wrong_ = 0;
};

class cuda_shared_sums : public shared_sums_device {
 public:
  explicit cuda_shared_sums(const device_description& description) : where_(description.index) {}

  std::unique_ptr<shared_sum_program> prepare(const summing_group& group, sum_ending ending) override {
    return std::make_unique<cuda_shared_sum>(where_, group, ending, most_elements());
  }
  uint32_t most_elements() const override {
    constexpr size_t own =
        most_threads / warp_lanes * sizeof(double) + 1024;  // its own words, and what the system takes
    const size_t bytes = where_.device().properties().sharedMemPerBlockOptin;
    return static_cast<uint32_t>((bytes - own) / sizeof(double));
  }

 private:
  const cuda_target where_;
};

const register_side<shared_sums_device> shared_sum_registered(device_kind::cuda, make_side<cuda_shared_sums>);

}  // namespace

}  // namespace gpusync::tool
