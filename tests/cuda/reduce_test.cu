// gpusync::reduce() on a CUDA device: exact sums of every size, alignment and plan, in streams, graphs and beside
// others.
#include <gpusync/reduce/reduce.cuh>

#include <numeric>
#include <sstream>
#include <thread>

#include "cuda/device_fixture.cuh"

namespace gpusync::test {
namespace {

/// Whole numbers, so that sums are exact in any order.
template <class T>
std::vector<T> numbers(size_t count) {
  std::vector<T> made(count);
  for (size_t i = 0; i < count; ++i) made[i] = static_cast<T>(static_cast<int>((i * 2654435761u >> 7) % 17) - 8);
  return made;
}

template <class T>
double sum_of(const std::vector<T>& values, size_t first, size_t count) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(first),
                         values.begin() + static_cast<std::ptrdiff_t>(first + count), 0.0);
}

class CudaReduce : public CudaTest {
 protected:
  /// Input and result on the device.
  template <class T>
  struct arrays {
    arrays(const cuda_device& device, size_t count)
        : host(numbers<T>(count)), memory(device, count * sizeof(T)), result(device, sizeof(T)) {
      check_cuda(cudaMemcpy(memory.address(), host.data(), memory.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    const T* in() const { return static_cast<const T*>(memory.address()); }
    T* out() const { return static_cast<T*>(result.address()); }
    double found() const {
      T value;
      check_cuda(cudaMemcpy(&value, result.address(), sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
      return static_cast<double>(value);
    }
    std::vector<T> host;
    cuda_buffer memory, result;
  };

  template <class T>
  void sums_every_size() {
    const size_t most = size_t{9} << 20;
    const arrays<T> data(device(), most + 4);
    reduction_storage storage(device());
    std::vector<size_t> counts{0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 1000};
    for (size_t power = 10; power <= most; power *= 2) {
      counts.insert(counts.end(), {power - 1, power, power + 1, 3 * power / 4 + 1});
    }
    counts.push_back(most);
    for (const size_t count : counts) {
      if (count > most) continue;
      for (const size_t offset : {size_t{0}, size_t{1}, size_t{2}, size_t{3}}) {
        for (const reduction_options options :
             {reduction_options{}, reduction_options{true, false}, reduction_options{false, true}}) {
          reduce(storage, nullptr, data.in() + offset, count, data.out(), options);
          ASSERT_EQ(data.found(), sum_of(data.host, offset, count))
              << count << " elements from " << offset << " on, " << options.same_order << options.independent_blocks;
        }
      }
    }
    EXPECT_EQ(storage.report(), "");
  }
};

TEST_F(CudaReduce, SumsEverySizeOfFloatsFromEveryAlignment) {
  sums_every_size<float>();
}
TEST_F(CudaReduce, SumsEverySizeOfDoublesFromEveryAlignment) {
  sums_every_size<double>();
}

/// Each kernel that there is, on inputs that fill it, leave it almost empty, and go beyond what one round of its blocks
/// takes.
template <class T>
void run_every_plan(const cuda_device& device) {
  const size_t most = (size_t{300} << 20) / sizeof(T);
  cuda_buffer memory(device, most * sizeof(T), cudaStreamPerThread), result(device, sizeof(T));
  const std::vector<T> host = numbers<T>(most);
  check_cuda(cudaMemcpy(memory.address(), host.data(), memory.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  size_t plans = 0;
  detail::reduction_kernels<T>::for_each([&](reduction_plan plan, const void*) {
    if (plan.finish == reduction_finish::cluster) plan.cluster = 8;
    if (plan.walk != reduction_walk::one_tile) plan.blocks_per_sm = 2;
    const uint64_t holds = std::min<uint64_t>(plan.capacity(reduction_tuning::most_tiles), most * sizeof(T));
    reduction_tuning tuning = reduction_tuning::generic();
    reduction_rules rules{{holds, plan}};
    if (plan.walk != reduction_walk::one_tile) rules.clear();
    const reduction_plan rest = plan.walk == reduction_walk::one_tile ? tuning.float_rules.back().plan : plan;
    rules.push_back({reduction_rule::any, rest});
    (sizeof(T) == 4 ? tuning.float_rules : tuning.double_rules) = rules;
    reduction_storage storage(device, tuning);
    for (const size_t count : {size_t{1}, static_cast<size_t>(holds / sizeof(T) / 3),
                               static_cast<size_t>(holds / sizeof(T)) - 1, static_cast<size_t>(holds / sizeof(T))}) {
      reduce(storage, nullptr, static_cast<const T*>(memory.address()), count, static_cast<T*>(result.address()));
      T found;
      check_cuda(cudaMemcpy(&found, result.address(), sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
      EXPECT_EQ(static_cast<double>(found), sum_of(host, 0, count))
          << reduction_tuning::form_in_words(plan) << ' ' << plan.threads << ' ' << plan.vectors << ", " << count;
    }
    ++plans;
  });
  EXPECT_GE(plans, 28u);
}
TEST_F(CudaReduce, EveryPlanIsRight) {
  run_every_plan<float>(device());
  run_every_plan<double>(device());
}

TEST_F(CudaReduce, ReplaysOfAGraphSumWhatIsThereThen) {
  const size_t count = 700'001;
  const arrays<float> data(device(), count);
  reduction_storage storage(device());
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  for (int i = 0; i < 5; ++i) reduce(storage, stream, data.in(), count - static_cast<size_t>(i), data.out());
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&instance, graph, 0), cudaSuccess);
  for (int replay = 0; replay < 50; ++replay) {
    ASSERT_EQ(cudaGraphLaunch(instance, stream), cudaSuccess);
    reduce(storage, stream, data.in(), count, data.out());  // between replays
    ASSERT_EQ(cudaGraphLaunch(instance, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(data.found(), sum_of(data.host, 0, count - 4));
  }
  EXPECT_EQ(cudaGraphExecDestroy(instance), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(CudaReduce, NumbersOfCallsMayWrap) {
  const size_t count = 600'000;
  for (const uint32_t first : {0xfffffffeu, (1u << 30) - 2, 0x7ffffffeu, 0u}) {
    const arrays<float> floats(device(), count);
    const arrays<double> doubles(device(), count);
    reduction_storage storage(device(), reduction_tuning::generic(), first);
    for (int call = 0; call < 6; ++call) {
      const size_t less = static_cast<size_t>(call) * 1000;
      reduce(storage, nullptr, floats.in(), count - less, floats.out(), {false, call == 3});
      reduce(storage, nullptr, doubles.in(), count - less, doubles.out(), {false, call == 2});
      ASSERT_EQ(floats.found(), sum_of(floats.host, 0, count - less)) << first << " + " << call;
      ASSERT_EQ(doubles.found(), sum_of(doubles.host, 0, count - less)) << first << " + " << call;
    }
  }
}

TEST_F(CudaReduce, TwoStreamsAtOnceWithAStorageEach) {
  const size_t count = 3'000'000;
  const arrays<double> data(device(), count);
  const auto work = [&](size_t less) {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    reduction_storage storage(device());
    const cuda_buffer result(device(), 1000 * sizeof(double));
    auto* const out = static_cast<double*>(result.address());
    for (size_t i = 0; i < 1000; ++i) reduce(storage, stream, data.in(), count - less - i, out + i);
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::vector<double> found(1000);
    check_cuda(cudaMemcpy(found.data(), out, result.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    double right = sum_of(data.host, 0, count - less);  // of whole numbers: exact
    for (size_t i = 0; i < 1000; ++i) {
      EXPECT_EQ(found[i], right) << less << ' ' << i;
      right -= data.host[count - less - i - 1];
    }
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
  };
  std::thread other(work, 1);
  work(500'000);
  other.join();
}

TEST_F(CudaReduce, AnotherStreamIsRefusedUntilTheStorageIsHandedOver) {
  const arrays<float> data(device(), 1'000'000);  // sums of fewer share nothing
  reduction_storage storage(device());
  cudaStream_t one = nullptr, two = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking), cudaSuccess);
  reduce(storage, one, data.in(), data.host.size(), data.out());
  EXPECT_THROW(reduce(storage, two, data.in(), data.host.size(), data.out()), storage_in_use);
  ASSERT_EQ(cudaStreamSynchronize(one), cudaSuccess);
  storage.hand_over();
  reduce(storage, two, data.in(), data.host.size(), data.out());
  ASSERT_EQ(cudaStreamSynchronize(two), cudaSuccess);
  EXPECT_EQ(data.found(), sum_of(data.host, 0, data.host.size()));
  EXPECT_EQ(cudaStreamDestroy(one), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(two), cudaSuccess);
}

TEST_F(CudaReduce, WrongArgumentsAreRefusedInWords) {
  const arrays<double> data(device(), 100);
  reduction_storage storage(device());
  const double* const null = nullptr;
  EXPECT_THROW(reduce(storage, nullptr, null, 3, data.out()), invalid_argument);
  EXPECT_THROW(reduce(storage, nullptr, data.in(), 3, static_cast<double*>(nullptr)), invalid_argument);
  EXPECT_THROW(reduce(storage, nullptr, reinterpret_cast<const double*>(reinterpret_cast<uintptr_t>(data.in()) + 4), 3,
                      data.out()),
               invalid_argument);
  EXPECT_THROW(reduce(storage, nullptr, data.in(), SIZE_MAX / 4, data.out()), invalid_argument);
  reduce(storage, nullptr, null, 0, data.out());
  EXPECT_EQ(data.found(), 0);
  reduction_tuning tuning = reduction_tuning::generic();
  tuning.float_rules.front().plan.threads = 96;
  EXPECT_THROW(reduction_storage(device(), tuning), invalid_argument);
  tuning = reduction_tuning::generic();
  tuning.float_rules.front().plan = detail::cluster_plan(8, 1024, 64);
  EXPECT_THROW(reduction_storage(device(), tuning), invalid_argument) << "a cluster that was not compiled";
}

/// Every thread gives its number plus 1.
template <unsigned Threads>
__global__ void sum_numbers(float* out) {
  const float sum = reduction::sum_of_block<Threads>(static_cast<float>(threadIdx.x + 1));
  if (threadIdx.x == 0) *out = sum;
}
template <unsigned... Threads>
void expect_sums_of_blocks(float* out) {
  const auto expect = [&](auto kernel, unsigned threads) {
    kernel<<<1, threads>>>(out);
    float found;
    check_cuda(cudaMemcpy(&found, out, sizeof(found), cudaMemcpyDeviceToHost), "cudaMemcpy");
    EXPECT_EQ(found, static_cast<float>(threads) * static_cast<float>(threads + 1) / 2) << threads;
  };
  (expect(&sum_numbers<Threads>, Threads), ...);
}
TEST_F(CudaReduce, BlocksOfAnyNumberOfWarpsAreSummed) {
  const arrays<float> data(device(), 4);
  expect_sums_of_blocks<32, 64, 96, 160, 192, 224, 288, 512, 544, 768, 992, 1024>(data.out());
}

TEST_F(CudaReduce, TheSameOrderGivesTheSameBits) {
  const size_t count = (size_t{1100} << 20) / sizeof(float);
  if (device().properties().totalGlobalMem < (size_t{8} << 30)) GTEST_SKIP() << "little memory";
  std::vector<float> host(count);
  for (size_t i = 0; i < count; ++i) host[i] = static_cast<float>(i * 2654435761u % 1000) * 1.1e-3f;
  const cuda_buffer memory(device(), count * sizeof(float), cudaStreamPerThread), result(device(), sizeof(float));
  check_cuda(cudaMemcpy(memory.address(), host.data(), memory.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  reduction_storage storage(device());
  EXPECT_EQ(storage.plan_for<float>(count).walk, reduction_walk::claimed);
  EXPECT_EQ(storage.plan_for<float>(count, {true, false}).walk, reduction_walk::dealt);
  uint32_t first = 0;
  for (int call = 0; call < 10; ++call) {
    reduce(storage, nullptr, static_cast<const float*>(memory.address()), count, static_cast<float*>(result.address()),
           {true, false});
    uint32_t bits;
    check_cuda(cudaMemcpy(&bits, result.address(), sizeof(bits), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (call == 0) first = bits;
    EXPECT_EQ(bits, first);
  }
}

}  // namespace
}  // namespace gpusync::test
