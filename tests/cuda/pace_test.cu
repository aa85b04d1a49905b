// Artificial barriers and windows on a CUDA device: what they bound, and that no launch hangs by a window.
#include <gpusync/pace/cuda.cuh>

#include "cuda/device_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;
using namespace gpusync::literals;

using PaceCuda = CudaTest;

__device__ uint32_t seen(const uint32_t* word) {
  return cuda_memory::load<memory_order::relaxed, scope::device>(word);
}

/// Blocks of unlike speed count their epochs. `wrong`: epochs that were begun more than the lead ahead of some block.
/// A window orders nothing, so each block's count is an add of its first thread, read where it is kept: in L2.
template <class Window>
__global__ void count_epochs(Window window, uint32_t* ended, uint32_t* wrong, uint32_t epochs, uint32_t leaver,
                             uint32_t last) {
  for (uint32_t epoch = 0; epoch < epochs; ++epoch) {
    if (blockIdx.x == leaver && epoch == last) {
      if (threadIdx.x == 0) atomicAdd(ended + blockIdx.x, 1u << 30);
      window.leave();
      return;
    }
    for (uint32_t b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      if (seen(ended + b) + window.lead() <= epoch) atomicAdd(wrong, 1u);
    }
    const long long begin = clock64();
    while (clock64() - begin < 500 * (blockIdx.x * 7 % 5)) {
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(ended + blockIdx.x, 1u);
      __threadfence();  // before the window counts it
    }
    window.end_epoch();
  }
}

TEST_F(PaceCuda, StrictWindowsBoundTheLeadOfEveryBlock) {
  for (const uint32_t lead : {1u, 2u, 3u, 8u, 33u}) {
    for (const uint32_t blocks : {1u, 2u, sms(), 2 * sms()}) {
      for (const uint32_t leaver : {~0u, blocks - 1}) {
        strict_grid_window_storage storage(device(), lead);
        const cuda_buffer ended = words(blocks), wrong = words(1);
        for (int again = 1; again <= 3; ++again) {  // on the counters that the launch before has left
          check_cuda(cudaMemset(ended.address(), 0, ended.bytes()), "cudaMemset");
          launch(device(), nullptr, {blocks, 64}, count_epochs<strict_grid_window>, storage.window(), address(ended),
                 address(wrong), 200u, leaver, 77u);
          synchronize(device());
        }
        EXPECT_EQ(contents(wrong)[0], 0u) << lead << " " << blocks << " " << leaver;
        for (uint32_t b = 0; b < blocks; ++b) {
          EXPECT_EQ(contents(ended)[b], b == leaver ? 77 + (1u << 30) : 200u);
        }
        EXPECT_EQ(storage.given_up(), 0u);
      }
    }
  }
}

TEST_F(PaceCuda, AStrictWindowOfAGridThatDoesNotFitIsRefusedInWords) {
  strict_grid_window_storage storage(device());
  const cuda_buffer ended = words(1), wrong = words(1);
  EXPECT_THROW(launch(device(), nullptr, {100000, 1024}, count_epochs<strict_grid_window>, storage.window(),
                      address(ended), address(wrong), 2u, ~0u, 0u),
               not_co_resident);
}

/// As count_epochs, without anything to check but the end.
__global__ void run_epochs(grid_window window, uint32_t* ended, uint32_t epochs, uint32_t absent) {
  if (blockIdx.x == absent) return;  // without a word
  for (uint32_t epoch = 0; epoch < epochs; ++epoch) window.end_epoch();
  if (threadIdx.x == 0) atomicAdd(ended, 1u);
}

TEST_F(PaceCuda, AGridOfAnySizeEndsAndLosesItsLimitOncePerBlock) {
  grid_window_storage storage(device(), 2, 100_us);
  const cuda_buffer ended = words(1);
  const uint32_t blocks = 40 * sms();
  launch(device(), nullptr, {blocks, 1024}, run_epochs, storage.window(), address(ended), 300u, ~0u);
  synchronize(device());
  EXPECT_EQ(contents(ended)[0], blocks);
  EXPECT_GT(storage.given_up(), 0u);
  // One that fits keeps pace: nobody gives up.
  launch(device(), nullptr, {sms(), 256}, run_epochs, storage.window(), address(ended), 300u, ~0u);
  synchronize(device());
  EXPECT_EQ(storage.given_up(), 0u);
}

TEST_F(PaceCuda, ABlockThatNeverComesCostsTheOthersTheLimitAndNoMore) {
  grid_window_storage storage(device(), 1, 100_us);
  const cuda_buffer ended = words(1);
  launch(device(), nullptr, {4, 64}, run_epochs, storage.window(), address(ended), 1000u, 2u);
  synchronize(device());
  EXPECT_EQ(contents(ended)[0], 3u);
  EXPECT_EQ(storage.given_up(), 3u);
}

TEST_F(PaceCuda, CapturedLaunchesBeginAnewAtEachReplay) {
  strict_grid_window_storage storage(device(), 2);
  const cuda_buffer ended = words(sms()), wrong = words(1);
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  check_cuda(cudaMemsetAsync(ended.address(), 0, ended.bytes(), stream), "cudaMemsetAsync");
  launch(device(), stream, {sms(), 64}, count_epochs<strict_grid_window>, storage.window(), address(ended),
         address(wrong), 50u, ~0u, 0u);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&run, graph, 0), "cudaGraphInstantiate");
  for (int i = 0; i < 20; ++i) check_cuda(cudaGraphLaunch(run, stream), "cudaGraphLaunch");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  EXPECT_EQ(contents(wrong)[0], 0u);
  EXPECT_EQ(contents(ended)[0], 50u);
  // Another stream is refused until hand_over().
  EXPECT_THROW(launch(device(), nullptr, {1, 64}, count_epochs<strict_grid_window>, storage.window(), address(ended),
                      address(wrong), 1u, ~0u, 0u),
               storage_in_use);
  storage.hand_over();
  launch(device(), nullptr, {1, 64}, count_epochs<strict_grid_window>, storage.window(), address(ended), address(wrong),
         1u, ~0u, 0u);
  synchronize(device());
  check_cuda(cudaGraphExecDestroy(run), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

/// Warps of unlike speed count their visits in shared memory. `wrong`: visits after which a warp of the same group of
/// `of_group` warps was more than `lead` behind.
template <class Form>
__global__ void count_visits(uint32_t* wrong, uint32_t visits, uint32_t lead, uint32_t of_group) {
  __shared__ pace_memory<Form> memory;
  __shared__ uint32_t made[32];
  const uint32_t warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
  if (threadIdx.x < 32) made[threadIdx.x] = 0;
  __syncthreads();
  block_pace<Form> pace(memory);
  for (uint32_t visit = 1; visit <= visits; ++visit) {
    const long long begin = clock64();
    while (clock64() - begin < 200 * ((warp + visit) % 4)) {
    }
    if (threadIdx.x % 32 == 0) {
      atomicAdd(made + warp, 1u);
      __threadfence_block();
    }
    __syncwarp();
    pace.visit();
    const uint32_t first = warp / of_group * of_group;
    for (uint32_t w = first; w < warps && w < first + of_group; ++w) {
      if (atomicAdd(made + w, 0u) + lead < visit) atomicAdd(wrong, 1u);
    }
  }
  __syncthreads();
}

TEST_F(PaceCuda, FormsBoundHowFarWarpsArePartedAtEveryBlockSize) {
  const cuda_buffer wrong = words(1);
  for (const uint32_t threads : {1u, 32u, 33u, 64u, 100u, 256u, 1000u, 1024u}) {
    count_visits<pace::block><<<2, threads>>>(address(wrong), 100, 0, 32);
    count_visits<pace::warps<3>><<<2, threads>>>(address(wrong), 100, 0, 3);
    count_visits<pace::warps<8>><<<2, threads>>>(address(wrong), 100, 0, 8);
    count_visits<pace::warps<32>><<<2, threads>>>(address(wrong), 100, 0, 32);
    count_visits<pace::lead<1>><<<2, threads>>>(address(wrong), 100, 1, 32);
    count_visits<pace::lead<5>><<<2, threads>>>(address(wrong), 100, 5, 32);
    check_cuda(cudaDeviceSynchronize(), "count_visits");
    EXPECT_EQ(contents(wrong)[0], 0u) << threads;
  }
}

/// Each thread makes as many trips as its number says; all leave the loop together.
__global__ void unlike_trips(uint32_t* done, uint32_t* wrong) {
  __shared__ pace_memory<> memory;
  block_pace<> pace(memory);
  uint32_t made = 0;
  const uint32_t own = threadIdx.x * 7 % 61;
  while (pace.any(made < own)) {
    if (made < own) ++made;
  }
  done[blockIdx.x * blockDim.x + threadIdx.x] = made;
  if (made != own) atomicAdd(wrong, 1u);
}

/// Warps leave one after the other.
__global__ void leaving_warps(uint32_t* wrong) {
  __shared__ pace_memory<pace::lead<2>> memory;
  __shared__ uint32_t all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  block_pace<pace::lead<2>> pace(memory);
  for (uint32_t visit = 0; visit < 10 * (threadIdx.x / 32 + 1); ++visit) pace.visit();
  pace.leave();
  atomicAdd(&all, 1u);
  __syncthreads();
  if (threadIdx.x == 0 && all != blockDim.x) atomicAdd(wrong, 1u);
}

TEST_F(PaceCuda, LoopsOfUnlikeLengthEnd) {
  const cuda_buffer done = words(2 * 1024), wrong = words(1);
  for (const uint32_t threads : {1u, 31u, 64u, 1024u}) {
    unlike_trips<<<2, threads>>>(address(done), address(wrong));
    leaving_warps<<<2, threads>>>(address(wrong));
  }
  check_cuda(cudaDeviceSynchronize(), "unlike_trips");
  EXPECT_EQ(contents(wrong)[0], 0u);
}

}  // namespace
}  // namespace gpusync
