// What must not go wrong in silence with handles on a CUDA device: passed on by reference, in structs, of storages that
// are used twice; and what a launch refuses. Each was shown to go wrong once; what ends the launch, and the context
// with it, is in misuse_test.cpp.
#include <gpusync/core/cuda_code.cuh>
#include <gpusync/rmw/fault_tolerant_cuda.cuh>

#include <functional>

#include "cuda/safety_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

/// What `launch` refuses with, or nothing.
std::string refusal(const std::function<void()>& launch) {
  try {
    launch();
  } catch (const error& refused) {
    return refused.what();
  }
  return {};
}

// ---- Handles ----

template <class Algorithm>
__device__ __noinline__ void pass_in_a_function(barrier_of<Algorithm>& barrier) {
  barrier.sync();
}

/// Every block announces its phase; a phase passes here, the next in a function that is not inlined.
template <class Algorithm>
__global__ void syncs_in_functions(barrier_of<Algorithm> barrier, uint32_t* slots, uint32_t* early, uint32_t phases) {
  const cuda_grid grid;
  uint32_t random = grid.block() * 747796405u + 1;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    if (grid.thread() == 0) {
      dawdle(random);
      cuda_memory::store<memory_order::relaxed, scope::device>(slots + grid.block(), phase);
    }
    if (phase % 2 == 0) {
      barrier.sync();
    } else {
      pass_in_a_function<Algorithm>(barrier);
    }
    for (uint32_t b = grid.thread(); b < grid.blocks(); b += grid.threads()) {
      if (before_phase(slots + b, phase)) atomicAdd(early, 1u);
    }
  }
}

TYPED_TEST_SUITE(CudaSafety, one_of_each_kind, algorithm_names);

TYPED_TEST(CudaSafety, PassedByReferenceABarrierIsTheSame) {
  cuda_barrier_storage<TypeParam> storage(this->device(), this->sms());
  const auto slots = this->words(this->sms());
  const auto early = this->words(1);
  launch(this->device(), nullptr, {this->sms(), 256}, syncs_in_functions<TypeParam>, storage.barrier(),
         this->address(slots), this->address(early), 500u);
  EXPECT_EQ(this->contents(early)[0], 0u);
}

// ---- What a launch refuses ----

struct with_barrier {
  uint32_t* early;
  grid_barrier barrier;
  uint32_t* slots;
};
__global__ void takes_a_struct(with_barrier all, uint32_t phases) {
  const cuda_grid grid;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    if (grid.thread() == 0) cuda_memory::store<memory_order::relaxed, scope::device>(all.slots + grid.block(), phase);
    all.barrier.sync();
    for (uint32_t b = grid.thread(); b < grid.blocks(); b += grid.threads()) {
      if (before_phase(all.slots + b, phase)) atomicAdd(all.early, 1u);
    }
  }
}
__global__ void takes_two(grid_barrier one, grid_barrier two) {
  one.sync();
  two.sync();
}
__global__ void takes_whole_and_part(grid_barrier one, part_grid_barrier two) {
  one.sync();
  if (cuda_grid().block() < 2) two.sync();
}
__global__ void takes_struct_and_barrier(with_barrier all, grid_barrier two) {
  all.barrier.sync();
  two.sync();
}
__global__ void takes_one(grid_barrier barrier) {
  barrier.sync();
}

TEST_F(CudaRefusals, ABarrierInAStructIsFoundCheckedAndWorks) {
  grid_barrier_storage storage(device(), sms());
  const auto slots = words(2 * sms());
  const auto early = words(1);
  launch(device(), nullptr, {sms(), 128}, takes_a_struct,
         with_barrier{address(early), storage.barrier(), address(slots)}, 200u);
  EXPECT_EQ(contents(early)[0], 0u);
  EXPECT_NE(refusal([&] {
              launch(device(), nullptr, {2 * sms(), 128}, takes_a_struct,
                     with_barrier{address(early), storage.barrier(), address(slots)}, 1u);
            }).find("storage was made for " + std::to_string(sms())),
            std::string::npos);
}

TEST_F(CudaRefusals, TwoHandlesOfOneStorageInOneLaunch) {
  grid_barrier_storage storage(device(), sms()), other(device(), sms());
  const auto word = words(sms());
  const launch_shape shape{sms(), 64};
  const auto shared = [](const std::string& words) { return words.find("share one storage") != std::string::npos; };
  EXPECT_TRUE(
      shared(refusal([&] { launch(device(), nullptr, shape, takes_two, storage.barrier(), storage.barrier()); })));
  EXPECT_TRUE(shared(refusal([&] {
    launch(device(), nullptr, shape, takes_whole_and_part, storage.barrier(), storage.barrier(block_range{0, 2}));
  })));
  EXPECT_TRUE(shared(refusal([&] {
    launch(device(), nullptr, shape, takes_struct_and_barrier,
           with_barrier{address(word), storage.barrier(), address(word)}, storage.barrier());
  })));
  const auto lvalue = storage.barrier();
  EXPECT_TRUE(shared(refusal([&] { launch(device(), nullptr, shape, takes_two, lvalue, lvalue); })));
  EXPECT_NO_THROW(launch(device(), nullptr, shape, takes_two, lvalue, other.barrier()));
  EXPECT_NO_THROW(
      launch(device(), nullptr, shape, takes_whole_and_part, storage.barrier(), other.barrier(block_range{0, 2})));
}

TEST_F(CudaRefusals, AStorageThatIsGone) {
  auto storage = std::make_unique<grid_barrier_storage>(device(), 4);
  const auto barrier = storage->barrier();
  EXPECT_NO_THROW(launch(device(), nullptr, {4, 32}, takes_one, barrier));
  check_cuda(cudaDeviceSynchronize(), "takes_one");
  storage.reset();
  EXPECT_NE(refusal([&] {
              launch(device(), nullptr, {4, 32}, takes_one, barrier);
            }).find("destroyed"),
            std::string::npos);
}

TEST_F(CudaRefusals, AStorageOfAnotherDevice) {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (count < 2) GTEST_SKIP() << "one CUDA device only";
  const cuda_device second(1);
  grid_barrier_storage storage(device(), 4), there(second, 4);
  EXPECT_NE(refusal([&] {
              launch(second, nullptr, {4, 32}, takes_one, storage.barrier());
            }).find("CUDA device 0"),
            std::string::npos);
  EXPECT_NO_THROW(launch(second, nullptr, {4, 32}, takes_one, there.barrier()));
  synchronize(second);
}

TEST_F(CudaRefusals, ALaunchThatCouldNotBeStartedBindsNoStorageToItsStream) {
  grid_barrier_storage storage(device(), 4);
  other_stream one, two;
  const auto start = [&](cudaStream_t stream) { launch(device(), stream, {4, 32}, takes_one, storage.barrier()); };
  check_cuda(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  ASSERT_NE(cudaStreamSynchronize(one), cudaSuccess) << "which no capture may do: it is invalid from now on";
  EXPECT_THROW(start(one), cuda_failure);
  cudaGraph_t graph = nullptr;
  EXPECT_NE(cudaStreamEndCapture(one, &graph), cudaSuccess);
  (void)cudaGetLastError();
  EXPECT_NO_THROW(start(two));
  EXPECT_THROW(start(one), storage_in_use) << "the last launch that took place is on the other stream";
  synchronize(device(), two);
}

TEST_F(CudaRefusals, AStorageOnASecondStreamUntilItIsHandedOver) {
  grid_barrier_storage storage(device(), 4);
  other_stream one, two;
  cudaStream_t waits;
  check_cuda(cudaStreamCreate(&waits), "stream");  // waits for the legacy default stream by itself
  const auto start = [&](cudaStream_t stream) { launch(device(), stream, {4, 32}, takes_one, storage.barrier()); };
  start(one);
  start(one);
  EXPECT_THROW(start(two), storage_in_use);
  EXPECT_THROW(start(nullptr), storage_in_use) << "a non-blocking stream does not wait for the default stream";
  check_cuda(cudaStreamSynchronize(one), "cudaStreamSynchronize");
  storage.hand_over();
  EXPECT_NO_THROW(start(nullptr));
  EXPECT_NO_THROW(start(waits));
  EXPECT_NO_THROW(start(nullptr));
  EXPECT_THROW(start(two), storage_in_use);
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  storage.reset();
  EXPECT_NO_THROW(start(two));
  check_cuda(cudaStreamSynchronize(two), "cudaStreamSynchronize");
  check_cuda(cudaStreamDestroy(waits), "destroy");
  // A new stream in the place of a destroyed one is another stream.
  cudaStream_t first, second;
  check_cuda(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), "stream");
  storage.hand_over();
  start(first);
  check_cuda(cudaStreamSynchronize(first), "cudaStreamSynchronize");
  check_cuda(cudaStreamDestroy(first), "destroy");
  check_cuda(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "stream");
  EXPECT_THROW(start(second), storage_in_use) << (first == second ? "of the same handle" : "of another handle");
  check_cuda(cudaStreamDestroy(second), "destroy");
}

TEST_F(CudaRefusals, AnEarlierErrorIsNotAStoragesOwn) {
  other_stream stream;
  const auto ran = words(1);
  grid_barrier_storage first(device(), 4);
  launch(device(), stream, {4, 32}, takes_one, first.barrier());
  cudaEvent_t event;
  check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  // cudaErrorInvalidValue stays behind as the runtime's last error, as a user's own mistake may have left it.
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 1, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_NO_THROW(grid_barrier_storage(device(), 4));
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  check_cuda(cudaEventDestroy(event), "cudaEventDestroy");
  (void)cudaGetLastError();
}

__global__ void survives(fault_tolerant_barrier<4> barrier, uint32_t* passed, uint32_t phases) {
  for (uint32_t i = 0; i < phases; ++i) {
    if (barrier.arrive_and_wait(timeout(2'000'000'000)) != phase_outcome::passed) return;
  }
  if (cuda_grid().thread() == 0) atomicAdd(passed, 1u);
}

TEST_F(CudaRefusals, AFaultTolerantBarrierBeginsAnewWithEachLaunchAndReplay) {
  cuda_fault_tolerant_storage<4> storage(device(), 4);
  const auto passed = words(1);
  {
    const auto barrier = storage.barrier();
    for (int i = 0; i < 3; ++i) launch(device(), nullptr, {4, 64}, survives, barrier, address(passed), 7u);
    EXPECT_EQ(contents(passed)[0], 12u);
  }
  storage.hand_over();
  replay(5, [&](cudaStream_t stream) {
    for (int i = 0; i < 2; ++i) launch(device(), stream, {4, 64}, survives, storage.barrier(), address(passed), 5u);
  });
  EXPECT_EQ(contents(passed)[0], 12u + 40u);
  storage.hand_over();
  EXPECT_NE(refusal([&] {
              launch(device(), nullptr, {5, 64}, survives, storage.barrier(), address(passed), 1u);
            }).find("made for 4"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              launch(device(), nullptr, {4, 31}, survives, storage.barrier(), address(passed), 1u);
            }).find("at least a warp"),
            std::string::npos);
  EXPECT_THROW(cuda_fault_tolerant_storage<4>(device(), 5), invalid_argument);
}

// ---- Admission and ease ----

__global__ void __launch_bounds__(128) bounded_kernel(grid_barrier barrier) {
  barrier.sync();
}

TEST_F(CudaRefusals, NameTheLaunchBoundsAndTheSharedMemory) {
  grid_barrier_storage storage(device(), 4);
  EXPECT_NE(refusal([&] {
              launch(device(), nullptr, {4, 256}, bounded_kernel, storage.barrier());
            }).find("__launch_bounds__ of 128 threads"),
            std::string::npos);
  const size_t too_much = device().properties().sharedMemPerBlockOptin + 1;
  EXPECT_NE(refusal([&] {
              launch(device(), nullptr, {4, 32, too_much}, takes_one, storage.barrier());
            }).find("bytes of dynamic shared memory is more than"),
            std::string::npos);
  EXPECT_NO_THROW(launch(device(), nullptr, {4, 32, too_much - 1024}, takes_one, storage.barrier()));
  synchronize(device());
}

__global__ void fifteen_named_barriers(grid_barrier barrier) {
  asm volatile(
      "barrier.cta.sync 1, 32; barrier.cta.sync 2, 32; barrier.cta.sync 3, 32; barrier.cta.sync 4, 32;"
      "barrier.cta.sync 5, 32; barrier.cta.sync 6, 32; barrier.cta.sync 7, 32; barrier.cta.sync 8, 32;"
      "barrier.cta.sync 9, 32; barrier.cta.sync 10, 32; barrier.cta.sync 11, 32; barrier.cta.sync 12, 32;"
      "barrier.cta.sync 13, 32; barrier.cta.sync 14, 32; barrier.cta.sync 15, 32;" ::
          : "memory");
  barrier.sync();
}

TEST_F(CudaRefusals, CountNamedBarriers) {
  const residency found = max_co_resident(device(), fifteen_named_barriers, {1, 32});
  const residency plain = max_co_resident(device(), takes_one, {1, 32});
  if (found.blocks() == plain.blocks()) GTEST_SKIP() << "here named barriers limit nothing";
  EXPECT_NE(found.limits_in_words().find("named barriers"), std::string::npos) << found.limits_in_words();
  grid_barrier_storage storage(device(), plain.blocks());
  EXPECT_THROW(launch(device(), nullptr, {plain.blocks(), 32}, fifteen_named_barriers, storage.barrier()),
               not_co_resident);
  EXPECT_NO_THROW(launch(device(), nullptr, {found.blocks(), 32}, fifteen_named_barriers, storage.barrier()));
  synchronize(device());
}

// Older GPUs' compilers refuse the attribute; nothing of this kernel runs there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define IN_PAIRS
#else
#define IN_PAIRS __cluster_dims__(2, 1, 1)
#endif
__global__ void IN_PAIRS in_pairs(grid_barrier barrier) {
  barrier.sync();
}

TEST_F(CudaRefusals, KnowClustersThatTheKernelWasCompiledFor) {
  if (code_for(device()) < 90) GTEST_SKIP() << "clusters need compute capability 9.0, and code for it";
  grid_barrier_storage storage(device(), 8);
  EXPECT_THROW(launch(device(), nullptr, {3, 32}, in_pairs, storage.barrier()), invalid_argument);
  EXPECT_THROW(launch(device(), nullptr, {8, 32, 0, 4}, in_pairs, storage.barrier()), invalid_argument);
  EXPECT_NO_THROW(launch(device(), nullptr, {4, 32}, in_pairs, storage.barrier()));
  EXPECT_THROW(launch(device(), nullptr, {32, 32, 0, 32}, takes_one, storage.barrier()), error);
  synchronize(device());
}

/// A kernel that is a function object.
struct counts_blocks {
  uint32_t* blocks;
  __device__ void operator()(grid_barrier& barrier, uint32_t phases) const {
    for (uint32_t i = 0; i < phases; ++i) barrier.sync();
    if (cuda_grid().thread() == 0) atomicAdd(blocks, 1u);
  }
};

TEST_F(CudaRefusals, FunctionObjectsIntegersAndDim3AreTaken) {
  const int blocks = 6, threads = 64;
  grid_barrier_storage storage(device(), blocks);
  const auto ran = words(1);
  const counts_blocks object{address(ran)};
  launch(device(), nullptr, {blocks, threads}, object, storage.barrier(), 20);
  launch(device(), nullptr, {dim3(3, 2), dim3(8, 8)}, object, storage.barrier(), 20);
  EXPECT_EQ(contents(ran)[0], 12u);
  EXPECT_GE((max_co_resident<grid_barrier, uint32_t>(device(), object, {1, threads}).blocks()), 6u);
  EXPECT_THROW(launch(device(), nullptr, {-1, threads}, object, storage.barrier(), 1), invalid_argument);
  EXPECT_THROW(launch(device(), nullptr, {blocks, threads, -1}, object, storage.barrier(), 1), invalid_argument);
  EXPECT_THROW(launch(device(), nullptr, {int64_t{1} << 33, threads}, object, storage.barrier(), 1), invalid_argument);
}

TEST_F(CudaRefusals, PlainLaunchesWorkBehindACheck) {
  grid_barrier_storage storage(device(), sms());
  const auto slots = words(sms());
  const auto early = words(1);
  const auto barrier = storage.barrier();
  const auto kernel = waits<default_algorithm>;
  check_launch(device(), nullptr, {sms(), 256}, kernel, barrier, address(slots), address(early), 0u, 300u);
  kernel<<<sms(), 256>>>(storage.barrier(), address(slots), address(early), 0u, 300u);
  check_cuda(cudaGetLastError(), "<<<>>>");
  uint32_t first = 300, phases = 300, *slot = address(slots), *count = address(early);
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&barrier)), &slot, &count, &first, &phases};
  check_launch(device(), nullptr, {sms(), 256}, kernel, barrier, slot, count, first, phases);
  check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), sms(), 256, arguments, 0, nullptr),
             "cudaLaunchCooperativeKernel");
  launch(device(), nullptr, {sms(), 256}, kernel, barrier, slot, count, 600u, 300u);
  EXPECT_EQ(contents(early)[0], 0u);
  EXPECT_THROW(check_launch(device(), nullptr, {2 * sms(), 256}, kernel, barrier, slot, count, 0u, 1u),
               invalid_argument);
  EXPECT_THROW(check_launch(device(), nullptr, {1u << 20, 256}, kernel, barrier, slot, count, 0u, 1u), error);
}

}  // namespace
}  // namespace gpusync
