// Workload "warp sum" on CUDA devices.
#include <cooperative_groups.h>

#include <algorithm>

#include "boundary/cuda_target.hpp"
#include "measure/cuda_chain.cuh"
#include "measure/cuda_function.hpp"
#include "workloads/warp_sum/warp_sum.hpp"

namespace gpusync::tool {

namespace {

constexpr uint32_t inputs = 4096;

// ---- who goes first in a step

/// All lanes at once.
struct together {
  __device__ explicit together(volatile unsigned int*) {}
  template <class Step>
  __device__ __forceinline__ void take(const Step& step) {
    step();
  }
};

/// Lanes 0 to 7 wait until the others have taken the step. They give up after a while, so that nothing can hang.
class apart {
 public:
  __device__ explicit apart(volatile unsigned int* taken) : taken_(taken) {}
  template <class Step>
  __device__ __forceinline__ void take(const Step& step) {
    constexpr unsigned int most_polls = 1u << 16;
    ++turn_;
    if (threadIdx.x >= 8) {
      step();
      asm volatile("" ::: "memory");
      *taken_ = turn_;
    } else {
      for (unsigned int polls = 0; *taken_ < turn_ && polls < most_polls; ++polls) {
      }
      asm volatile("" ::: "memory");
      step();
    }
  }

 private:
  volatile unsigned int* const taken_;
  unsigned int turn_ = 0;
};

// ---- the groups of lanes

using tile = cooperative_groups::thread_block_tile<warp_lanes, cooperative_groups::thread_block>;
using coalesced = cooperative_groups::coalesced_group;

template <class Group>
__device__ Group this_warp();
template <>
__device__ tile this_warp<tile>() {
  return cooperative_groups::tiled_partition<warp_lanes>(cooperative_groups::this_thread_block());
}
template <>
__device__ coalesced this_warp<coalesced>() {
  return cooperative_groups::coalesced_threads();
}

// ---- the forms: lane 0 returns the sum of `numbers`, of which `own` is the lane's

struct no_sum {
  template <class Order>
  __device__ __forceinline__ double of(double*, double own, Order&) const {
    return own;
  }
};

struct serial_sum {
  template <class Order>
  __device__ __forceinline__ double of(double* numbers, double own, Order& order) const {
    double sum = own;
    order.take([&] {
      if (threadIdx.x != 0) return;
      sum = numbers[0];
#pragma unroll
      for (unsigned int i = 1; i < warp_lanes; ++i) sum += numbers[i];
    });
    return sum;
  }
};

/// Reads, waits, writes, waits: nobody writes what another has still to read.
template <class Group>
class with_two_barriers {
 public:
  template <class Order>
  __device__ __forceinline__ double of(double* numbers, double, Order& order) const {
#pragma unroll
    for (unsigned int step = warp_lanes / 2; step != 0; step /= 2) {
      const bool adds = threadIdx.x + step < warp_lanes;
      double other = 0;
      order.take([&] {
        if (adds) other = numbers[threadIdx.x + step];
      });
      group_.sync();
      order.take([&] {
        if (adds) numbers[threadIdx.x] += other;
      });
      group_.sync();
    }
    return numbers[0];
  }

 private:
  const Group group_ = this_warp<Group>();
};

/// As figure 11 prints it: what a lane reads, another may just be writing.
template <class Group>
class one_barrier {
 public:
  template <class Order>
  __device__ __forceinline__ double of(double* numbers, double, Order& order) const {
#pragma unroll
    for (unsigned int step = warp_lanes / 2; step != 0; step /= 2) {
      order.take([&] {
        if (threadIdx.x + step < warp_lanes) numbers[threadIdx.x] += numbers[threadIdx.x + step];
      });
      group_.sync();
    }
    return numbers[0];
  }

 private:
  const Group group_ = this_warp<Group>();
};

/// The same without any barrier. Number: double, or volatile double, which the compiler reads and writes in each step.
template <class Number>
struct without_barriers {
  template <class Order>
  __device__ __forceinline__ double of(double* shared, double, Order& order) const {
    Number* const numbers = shared;
#pragma unroll
    for (unsigned int step = warp_lanes / 2; step != 0; step /= 2) {
      order.take([&] {
        if (threadIdx.x + step < warp_lanes) numbers[threadIdx.x] = numbers[threadIdx.x] + numbers[threadIdx.x + step];
      });
    }
    asm volatile("" ::: "memory");
    return numbers[0];
  }
};

template <class Group>
class shuffles {
 public:
  template <class Order>
  __device__ __forceinline__ double of(double*, double own, Order& order) const {
    double sum = own;
#pragma unroll
    for (unsigned int step = warp_lanes / 2; step != 0; step /= 2) {
      order.take([] {});  // lanes come one after the other; the shuffle itself lets them wait
      sum += group_.shfl_down(sum, step);
    }
    return sum;
  }

 private:
  const Group group_ = this_warp<Group>();
};

// ---- the kernel

/// What a warp leaves.
struct left_sum {
  double sum;
  long long cycles;
};

/// A block of one warp for each input. The passes must be a loop, as in a chain (measure/cuda_chain.cuh).
template <class Form, class Order>
__global__ void __launch_bounds__(warp_lanes) sum_in_warp(const double* all, left_sum* left) {
  __shared__ double numbers[warp_lanes];
  __shared__ unsigned int taken;
  if (threadIdx.x == 0) taken = 0;
  const double own = all[blockIdx.x * warp_lanes + threadIdx.x];
  const Form form;
  Order order(&taken);
  double sum = 0;
  long long begin = 0, end = 0;
#pragma unroll 1
  for (unsigned int pass = 0; pass < chain_passes; ++pass) {
    __syncthreads();
    numbers[threadIdx.x] = own;
    __syncthreads();
    begin = chain_clock_behind(own);
    sum = form.of(numbers, own, order);
    end = chain_clock_behind(sum);
  }
  if (threadIdx.x == 0) left[blockIdx.x] = {sum, end - begin};
}

using warp_sum_kernel = void (*)(const double*, left_sum*);

struct form_kernels {
  const char* method;
  warp_sum_kernel timed, apart_lanes;
};

template <class Form>
form_kernels kernels_of_form(const char* method) {
  return {method, &sum_in_warp<Form, together>, &sum_in_warp<Form, apart>};
}

const std::vector<form_kernels>& all_kernels() {
  static const std::vector<form_kernels> all{
      kernels_of_form<no_sum>(empty_warp_sum),
      kernels_of_form<serial_sum>("serial"),
      kernels_of_form<with_two_barriers<tile>>("tile"),
      kernels_of_form<with_two_barriers<coalesced>>("coalesced"),
      kernels_of_form<shuffles<tile>>("shuffle-tile"),
      kernels_of_form<shuffles<coalesced>>("shuffle-coalesced"),
      kernels_of_form<without_barriers<double>>("nosync"),
      kernels_of_form<without_barriers<volatile double>>("nosync-volatile"),
      kernels_of_form<one_barrier<tile>>("figure-11"),
  };
  return all;
}

const form_kernels& find_kernels(const std::string& method) {
  const auto found = std::find_if(all_kernels().begin(), all_kernels().end(),
                                  [&](const form_kernels& one) { return one.method == method; });
  if (found == all_kernels().end()) throw invalid_argument("There is no sum of a warp " + method + ".");
  return *found;
}

// ---- the host's side

class cuda_warp_sum : public warp_sum_program {
 public:
  cuda_warp_sum(const cuda_target& where, const form_kernels& kernels)
      : where_(where),
        kernels_(kernels),
        numbers_(where.device(), size_t{inputs} * warp_lanes * sizeof(double)),
        left_(where.device(), inputs * sizeof(left_sum)),
        expected_(inputs) {
    std::vector<double> numbers;
    for (uint32_t input = 0; input < inputs; ++input) {
      for (uint32_t lane = 0; lane < warp_lanes; ++lane) {
        numbers.push_back(warp_sum_number(input, lane));
        expected_[input] += numbers.back();
      }
    }
    where.upload(numbers_, numbers.data(), numbers_.bytes());
  }

  double run() override {
    const uint32_t input = static_cast<uint32_t>(timed_.inputs % inputs);
    const left_sum left = sums(kernels_.timed, input, 1).front();
    ++timed_.inputs;
    timed_.right += left.sum == expected_[input] ? 1 : 0;
    return static_cast<double>(left.cycles);
  }

  right_sums timed() const override { return timed_; }
  right_sums together() override { return all_inputs(kernels_.timed); }
  right_sums apart() override { return all_inputs(kernels_.apart_lanes); }

 private:
  right_sums all_inputs(warp_sum_kernel kernel) const {
    right_sums found;
    for (const left_sum& left : sums(kernel, 0, inputs)) {
      found.right += left.sum == expected_[found.inputs] ? 1 : 0;
      ++found.inputs;
    }
    return found;
  }

  /// What a launch for `count` inputs from `first` on leaves.
  std::vector<left_sum> sums(warp_sum_kernel kernel, uint32_t first, uint32_t count) const {
    const cuda_device_scope scope(where_.device().ordinal());
    const std::vector<left_sum> none(count, left_sum{-1, 0});  // no sum is negative
    where_.upload(left_, none.data(), count * sizeof(left_sum));
    kernel<<<count, warp_lanes, 0, where_.stream()>>>(
        static_cast<const double*>(numbers_.address()) + size_t{first} * warp_lanes,
        static_cast<left_sum*>(left_.address()));
    check_cuda(cudaGetLastError(), "the launch of a warp's sum");
    where_.await();
    std::vector<left_sum> left(count);
    where_.download(left.data(), left_, count * sizeof(left_sum));
    return left;
  }

  const cuda_target& where_;
  const form_kernels& kernels_;
  const cuda_buffer numbers_, left_;
  std::vector<double> expected_;
  right_sums timed_;
};

class cuda_warp_sums : public warp_sums_device {
 public:
  explicit cuda_warp_sums(const device_description& description) : where_(description.index) {}

  std::unique_ptr<warp_sum_program> prepare(const std::string& method) override {
    return std::make_unique<cuda_warp_sum>(where_, find_kernels(method));
  }
  std::string function_of(const std::string& method) const override {
    return name_in_machine_code(where_.device(), reinterpret_cast<const void*>(find_kernels(method).timed));
  }
  int architecture() const override {
    return architecture_of(where_.device(), reinterpret_cast<const void*>(all_kernels().front().timed));
  }

 private:
  const cuda_target where_;
};

const register_side<warp_sums_device> warp_sum_registered(device_kind::cuda, make_side<cuda_warp_sums>);

}  // namespace

}  // namespace gpusync::tool
