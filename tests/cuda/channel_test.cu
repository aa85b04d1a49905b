// Channels on a CUDA device: every word in its place, also with delays, over launches, and by some warps of a block;
// deadlines that name the partner; launches that are refused.
#include <gpusync/neighbours/channel_cuda.cuh>

#include "cuda/device_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;
using namespace gpusync::literals;

using ChannelCuda = CudaTest;

template <class T>
__device__ T content(uint32_t channel, uint64_t chunk, uint32_t i) {
  return static_cast<T>((chunk + 1) * 0x9e3779b97f4a7c15u + channel * 0x85ebca6bu + i * 77777u);
}

/// Lets up to `cycles` pass, another number each time.
__device__ void linger(uint32_t cycles, uint32_t block, uint32_t chunk) {
  if (cycles == 0) return;
  const uint32_t random = (block * 2654435761u ^ (chunk * 40503u)) * 2246822519u;
  const long long begin = clock64();
  while (clock64() - begin < (random >> 8) % cycles) {
  }
}

/// What a block sends, or takes and compares; `view` is who does it.
template <class T, class View>
__device__ void send(channels<T>& all, uint32_t channel, const View& view, uint64_t first, uint32_t chunks,
                     uint32_t cycles) {
  auto out = all.sender(channel, view);
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    linger(cycles, blockIdx.x, chunk);
    for (uint32_t i = view.thread(); i < all.chunk(); i += view.threads())
      out.put(i, content<T>(channel, first + chunk, i));
    out.next();
  }
}
template <class T, class View>
__device__ void take(channels<T>& all, uint32_t channel, const View& view, uint64_t first, uint32_t chunks,
                     uint32_t cycles, uint32_t* wrong) {
  auto in = all.receiver(channel, view);
  uint32_t mine = 0;
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    linger(cycles, blockIdx.x + 7777, chunk);
    for (uint32_t i = view.thread(); i < all.chunk(); i += view.threads())
      mine += in.get(i) != content<T>(channel, first + chunk, i);
    in.next();
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

/// A ring of blocks: the first warp of each takes what the second warp of the one before sends.
template <class T>
__global__ void around_by_warps(channels<T> all, uint64_t first, uint32_t chunks, uint32_t cycles, uint32_t* wrong) {
  const uint32_t before = (blockIdx.x + gridDim.x - 1) % gridDim.x;
  if (threadIdx.x < 32) {
    take(all, before, cuda_warps_grid<>(0), first, chunks, cycles, wrong);
  } else if (threadIdx.x < 64) {
    send(all, blockIdx.x, cuda_warps_grid<>(32), first, chunks, cycles);
  }
}

/// A row of blocks: even ones send to the next, whole blocks.
template <class T>
__global__ void in_pairs(channels<T> all, uint64_t first, uint32_t chunks, uint32_t cycles, uint32_t* wrong) {
  if (blockIdx.x % 2 == 0) {
    send(all, blockIdx.x / 2, cuda_grid{}, first, chunks, cycles);
  } else {
    take(all, blockIdx.x / 2, cuda_grid{}, first, chunks, cycles, wrong);
  }
}

std::vector<channel_ends> ring_of(uint32_t blocks) {
  std::vector<channel_ends> all;
  for (uint32_t b = 0; b < blocks; ++b) all.push_back({b, (b + 1) % blocks});
  return all;
}

TEST_F(ChannelCuda, CarriesTenMillionWordsBetweenWarps) {
  for (const uint32_t cycles : {0u, 3000u}) {
    channel_storage<uint64_t> storage(device(), ring_of(sms()), 32, 16);
    const cuda_buffer wrong = words(1);
    const uint32_t chunks = 1 + 10'000'000 / 3 / 32 / sms();
    for (uint64_t launches = 0; launches < 3; ++launches) {
      launch(device(), nullptr, {sms(), 96}, around_by_warps<uint64_t>, storage.channels(), launches * chunks, chunks,
             cycles, address(wrong));
    }
    synchronize(device());
    EXPECT_EQ(contents(wrong)[0], 0u) << cycles;
  }
}

TEST_F(ChannelCuda, CarriesWordsBetweenWholeBlocksWhateverTheRing) {
  for (const auto& [chunk, depth] : {std::pair{1u, 1u}, {1u, 7u}, {33u, 1u}, {256u, 2u}, {1000u, 3u}}) {
    for (const uint64_t before : {uint64_t{0}, (uint64_t{1} << 32) * depth - 5}) {
      std::vector<channel_ends> ends;
      for (uint32_t b = 0; b + 1 < sms(); b += 2) ends.push_back({b, b + 1});
      channel_storage<float> storage(device(), ends, chunk, depth, before);
      const cuda_buffer wrong = words(1);
      for (uint32_t launches = 0; launches < 2; ++launches) {
        launch(device(), nullptr, {2 * static_cast<uint32_t>(ends.size()), 128}, in_pairs<float>, storage.channels(),
               uint64_t{launches} * 50, 50u, launches == 0 ? 0u : 2000u, address(wrong));
      }
      synchronize(device());
      EXPECT_EQ(contents(wrong)[0], 0u) << chunk << " " << depth << " " << before;
    }
  }
}

__global__ void waits_in_vain(channels<int> all, bool for_words, uint32_t* outcome) {
  if (for_words && blockIdx.x == 1) {
    auto in = all.receiver(0);
    int value = 0;
    const bool late = in.get_for(0, value, 2_ms) == wait_status::timed_out;
    const bool again = in.get_for(0, value, 60_s) == wait_status::timed_out;
    if (threadIdx.x == 0) *outcome = late && again;
  }
  if (!for_words && blockIdx.x == 0) {
    auto out = all.sender(0);
    uint32_t sent = 0;
    while (sent < 10 && out.put_for(threadIdx.x, 1, 2_ms) == wait_status::completed) {
      out.next();
      ++sent;
    }
    if (threadIdx.x == 0) *outcome = sent;
  }
}

TEST_F(ChannelCuda, DeadlinesNameWhoDoesNotComeAndTheChunk) {
  channel_storage<int> storage(device(), {{0, 1}}, 64, 3);
  const cuda_buffer outcome = words(1);
  launch(device(), nullptr, {2, 64}, waits_in_vain, storage.channels(), true, address(outcome));
  synchronize(device());
  EXPECT_EQ(contents(outcome)[0], 1u);
  EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{0, 0}})) << storage.report();
  EXPECT_THROW(launch(device(), nullptr, {2, 64}, waits_in_vain, storage.channels(), true, address(outcome)),
               broken_barrier);
  storage.reset();
  launch(device(), nullptr, {2, 64}, waits_in_vain, storage.channels(), false, address(outcome));
  synchronize(device());
  EXPECT_EQ(contents(outcome)[0], 3u);
  EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{1, 3}})) << storage.report();
  storage.reset();
  EXPECT_EQ(storage.report(), "");
}

__global__ void nothing(channels<int>) {}

TEST_F(ChannelCuda, LaunchesThatCannotBeRightAreRefused) {
  channel_storage<int> storage(device(), {{0, 3}}, 1, 1);
  EXPECT_THROW(launch(device(), nullptr, {3, 32}, nothing, storage.channels()), invalid_argument);
  EXPECT_NO_THROW(launch(device(), nullptr, {4, 32}, nothing, storage.channels()));
  synchronize(device());
  cudaStream_t other = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  EXPECT_THROW(launch(device(), other, {4, 32}, nothing, storage.channels()), storage_in_use);
  storage.hand_over();
  EXPECT_NO_THROW(launch(device(), other, {4, 32}, nothing, storage.channels()));
  synchronize(device(), other);
  check_cuda(cudaStreamDestroy(other), "cudaStreamDestroy");
  EXPECT_THROW(channel_storage<int>(device(), {}, 1, 1), invalid_argument);
}

}  // namespace
}  // namespace gpusync
