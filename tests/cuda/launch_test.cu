// Checked launches on a CUDA device: what could deadlock is refused in words.
#include "cuda/device_fixture.cuh"

namespace gpusync {
namespace {

__global__ void small(grid_barrier barrier) {
  barrier.sync();
}

__global__ void plain(uint32_t* ran) {
  atomicAdd(ran, 1u);
}

/// Uses many registers: an unrolled chain of values that all live to the end.
template <int Values>
__global__ void greedy(float* data) {
  float value[Values];
#pragma unroll
  for (int i = 0; i < Values; ++i) value[i] = data[i * 33];
#pragma unroll 1
  for (int round = 0; round < 4; ++round) {
#pragma unroll
    for (int i = 0; i < Values; ++i) value[i] = value[i] * value[(i + 7) % Values] + data[round];
  }
#pragma unroll
  for (int i = 0; i < Values; ++i) data[i * 33] = value[i];
}

class CudaLaunch : public test::CudaTest {
 protected:
  template <class Kernel>
  std::string refusal(Kernel kernel, const launch_shape& shape) const {
    try {
      const auto found = max_co_resident(device(), kernel, shape);
      const auto attributes = detail::attributes_of(reinterpret_cast<const void*>(kernel));
      require_co_resident(found, device().name(), shape, detail::needs_of(attributes, shape));
    } catch (const not_co_resident& refused) {
      return refused.what();
    }
    return "";
  }
};

TEST_F(CudaLaunch, RefusesOneBlockTooManyWithTheLimitAndItsCause) {
  const uint32_t most = sms() * static_cast<uint32_t>(device().properties().maxThreadsPerMultiProcessor) / 256;
  grid_barrier_storage storage(device(), most + 1);
  EXPECT_NO_THROW(launch(device(), nullptr, {most, 256}, small, storage.barrier()));
  try {
    launch(device(), nullptr, {most + 1, 256}, small, storage.barrier());
    FAIL() << "it was not refused";
  } catch (const not_co_resident& refused) {
    EXPECT_EQ(refused.limit(), most);
    EXPECT_EQ(refused.requested(), most + 1);
    const std::string words = refused.what();
    EXPECT_NE(words.find("at most " + std::to_string(most)), std::string::npos) << words;
    EXPECT_NE(words.find("limited by threads per SM"), std::string::npos) << words;
    RecordProperty("sentence", words);
    std::puts(words.c_str());
  }
}

TEST_F(CudaLaunch, NamesEachCauseOfTheLimit) {
  EXPECT_NE(refusal(plain, {1u << 20, 32}).find("blocks per SM"), std::string::npos);
  EXPECT_NE(refusal(plain, {1u << 20, 64, 100 * 1024}).find("shared memory"), std::string::npos);
  EXPECT_NE(refusal(greedy<96>, {1u << 20, 256}).find("registers"), std::string::npos)
      << refusal(greedy<96>, {1u << 20, 256});
}

TEST_F(CudaLaunch, ExplainsEveryOccupancyThatTheRuntimeReports) {
  // The explanation comes from the library's own arithmetic: it must never say less than the runtime allows.
  for (const uint32_t threads : {1u, 32u, 33u, 64u, 96u, 128u, 256u, 384u, 512u, 768u, 1024u}) {
    for (const size_t shared : {size_t{0}, size_t{1000}, size_t{16384}, size_t{50000}, size_t{100000}}) {
      for (auto* kernel : {greedy<8>, greedy<40>, greedy<96>}) {
        const launch_shape shape{1, threads, shared};
        const auto found = max_co_resident(device(), kernel, shape);
        EXPECT_FALSE(found.limited_by.empty()) << threads << " threads, " << shared << " bytes";
        const auto attributes = detail::attributes_of(reinterpret_cast<const void*>(kernel));
        uint64_t least = UINT64_MAX;
        for (const auto& [name, limit] : detail::limits_by_resource(detail::resources_of(device().properties()),
                                                                    detail::needs_of(attributes, shape))) {
          least = std::min(least, limit);
        }
        EXPECT_EQ(least, static_cast<uint64_t>(found.blocks_per_sm))
            << threads << " threads, " << shared << " bytes, " << attributes.numRegs << " registers";
      }
    }
  }
}

TEST_F(CudaLaunch, RefusesShapesThatNoLaunchCanHave) {
  grid_barrier_storage storage(device(), 2);
  EXPECT_THROW(launch(device(), nullptr, {0, 1}, small, storage.barrier()), invalid_argument);
  EXPECT_THROW(launch(device(), nullptr, {1, 1025}, small, storage.barrier()), invalid_argument);
  EXPECT_THROW(launch(device(), nullptr, {3, 1}, small, storage.barrier()), invalid_argument) << "storage too small";
}

TEST_F(CudaLaunch, ReportsAFailingCallWithItsName) {
  try {
    check_cuda(cudaErrorInvalidValue, "cudaSomething");
    FAIL();
  } catch (const cuda_failure& failure) {
    EXPECT_EQ(failure.code(), cudaErrorInvalidValue);
    EXPECT_NE(std::string(failure.what()).find("cudaSomething"), std::string::npos);
  }
}

TEST(CudaDevice, ThatIsNotThereIsRefused) {
  EXPECT_THROW(cuda_device(12345), no_such_device);
  EXPECT_THROW(cuda_device(-1), no_such_device);
}

/// Two barriers of the same blocks, each with a storage of its own, and a word that every block adds to between them.
__global__ void counts_between(uint32_t* count, uint32_t* seen, grid_barrier first, grid_barrier second) {
  if (threadIdx.x == 0) atomicAdd(count, 1u);
  first.sync();
  if (threadIdx.x == 0) seen[blockIdx.x] = *count;
  second.sync();
}

TEST_F(CudaLaunch, TakesAKernelByItsAddressAndCompletesItsBarriers) {
  const void* const kernel = reinterpret_cast<const void*>(&counts_between);
  grid_barrier_storage one(device(), sms()), two(device(), sms());
  const auto count = words(1), seen = words(sms());
  uint32_t *count_at = address(count), *seen_at = address(seen);
  const launch_shape shape{sms(), 64};
  for (uint32_t run = 1; run <= 3; ++run) {
    launch_by_address(device(), nullptr, shape, kernel, {&count_at, &seen_at}, one.barrier(), two.barrier());
    synchronize(device());
    for (const uint32_t found : contents(seen)) EXPECT_EQ(found, run * sms());
  }
  EXPECT_THROW(launch_by_address(device(), nullptr, shape, kernel, {&count_at, &seen_at}, one.barrier(), one.barrier()),
               invalid_argument)
      << "two barriers of one storage";
  EXPECT_THROW(
      launch_by_address(device(), nullptr, {100'000, 64}, kernel, {&count_at, &seen_at}, one.barrier(), two.barrier()),
      not_co_resident);
  EXPECT_EQ(max_co_resident(device(), kernel, shape).blocks(),
            max_co_resident(device(), counts_between, shape).blocks());
}

}  // namespace
}  // namespace gpusync
