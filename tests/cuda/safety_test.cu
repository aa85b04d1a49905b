// What must not go wrong in silence on a CUDA device: launches behind a time-out, handles in structs, storages that are
// used twice. Each was shown to go wrong once; what ends the launch, and the context with it, is in misuse_test.cpp.
#include <gpusync/core/cuda_code.cuh>
#include <gpusync/rmw/fault_tolerant_cuda.cuh>

#include <functional>

#include "cuda/barrier_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

/// A stream of its own for a test.
class other_stream {
 public:
  other_stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }
  ~other_stream() { (void)cudaStreamDestroy(stream_); }
  other_stream(const other_stream&) = delete;
  other_stream& operator=(const other_stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

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

template <class Algorithm>
class CudaSafety : public CudaBarrier<Algorithm> {};
TYPED_TEST_SUITE(CudaSafety, one_of_each_kind, algorithm_names);

TYPED_TEST(CudaSafety, PassedByReferenceABarrierIsTheSame) {
  cuda_barrier_storage<TypeParam> storage(this->device(), this->sms());
  const auto slots = this->words(this->sms());
  const auto early = this->words(1);
  launch(this->device(), nullptr, {this->sms(), 256}, syncs_in_functions<TypeParam>, storage.barrier(),
         this->address(slots), this->address(early), 500u);
  EXPECT_EQ(this->contents(early)[0], 0u);
}

// ---- After a time-out ----

/// Announces each phase and looks at the others; leaves when a wait times out. Block `absent` never comes to phase
/// `last`, if it is to miss one.
template <class Algorithm>
__global__ void passes_until_lost(barrier_of<Algorithm> barrier, uint32_t* slots, uint32_t* seen, uint32_t absent,
                                  uint32_t last, uint32_t phases, uint64_t span, uint32_t form) {
  const cuda_grid grid;
  if (form == 2 && barrier.try_enter() == wait_status::timed_out) {
    atomicAdd(seen + 1, 1u);
    return;
  }
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    if (grid.block() == absent && phase == last) return;
    if (grid.thread() == 0) cuda_memory::store<memory_order::relaxed, scope::device>(slots + grid.block(), phase);
    wait_status status;
    if (form == 1) {
      auto token = barrier.arrive();
      status = barrier.wait_for(static_cast<decltype(token)&&>(token), timeout(span));
    } else {
      status = barrier.sync_for(timeout(span));
    }
    if (status == wait_status::timed_out) {
      atomicAdd(seen + 1, 1u);
      // A lost barrier stays lost.
      if (barrier.sync_for(timeout(span)) != wait_status::timed_out) atomicAdd(seen + 2, 1u);
      return;
    }
    for (uint32_t b = grid.thread(); b < grid.blocks(); b += grid.threads()) {
      if (before_phase(slots + b, phase)) atomicAdd(seen, 1u);
    }
  }
}

constexpr uint32_t nobody = ~0u;

TYPED_TEST(CudaSafety, LaunchesQueuedBehindATimeOutAllSayThatThePhaseIsLost) {
  for (const uint32_t form : {0u, 1u, 2u}) {
    const uint32_t blocks = this->sms(), threads = 64;
    cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
    const auto slots = this->words(blocks);
    const auto seen = this->words(3);
    const auto start = [&](uint32_t absent, uint64_t span) {
      check_cuda(cudaMemsetAsync(slots.address(), 0, slots.bytes(), nullptr), "cudaMemsetAsync");
      launch(this->device(), nullptr, {blocks, threads}, passes_until_lost<TypeParam>, storage.barrier(),
             this->address(slots), this->address(seen), absent, 2u, 5u, span, form);
    };
    start(blocks / 2, 100'000'000);
    for (int i = 0; i < 5; ++i) start(nobody, 10'000'000'000);  // queued before the first one has given up
    const auto counts = this->contents(seen);
    EXPECT_EQ(counts[0], 0u) << "released early, form " << form;
    EXPECT_EQ(counts[1], (blocks - 1) * threads + 5 * blocks * threads) << "told, form " << form;
    EXPECT_EQ(counts[2], 0u) << "a lost barrier answered otherwise";
    EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{blocks / 2, 1}}));
    EXPECT_TRUE(storage.missing().at(0).started);
    EXPECT_NE(storage.report().find("missing block " + std::to_string(blocks / 2)), std::string::npos);
    EXPECT_THROW(start(nobody, 1), broken_barrier);
    storage.reset();
    start(nobody, 10'000'000'000);
    EXPECT_EQ(this->contents(seen)[1], counts[1]) << "after a reset";
  }
}

TYPED_TEST(CudaSafety, AGraphReplayedBehindATimeOutSaysThatThePhaseIsLost) {
  const uint32_t blocks = this->sms(), threads = 64;
  cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
  const auto slots = this->words(blocks);
  const auto seen = this->words(3);
  other_stream stream;
  const auto start = [&](uint32_t absent, uint64_t span) {
    check_cuda(cudaMemsetAsync(slots.address(), 0, slots.bytes(), stream), "cudaMemsetAsync");
    launch(this->device(), stream, {blocks, threads}, passes_until_lost<TypeParam>, storage.barrier(),
           this->address(slots), this->address(seen), absent, 3u, 4u, span, 0u);
  };
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  start(nobody, 10'000'000'000);
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  check_cuda(cudaStreamEndCapture(stream, &graph), "capture");
  check_cuda(cudaGraphInstantiate(&instance, graph, 0), "cudaGraphInstantiate");
  check_cuda(cudaGraphLaunch(instance, stream), "cudaGraphLaunch");
  start(0, 50'000'000);
  for (int i = 0; i < 3; ++i) check_cuda(cudaGraphLaunch(instance, stream), "cudaGraphLaunch");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const auto counts = this->contents(seen);
  EXPECT_EQ(counts[0], 0u) << "released early";
  EXPECT_EQ(counts[1], (blocks - 1) * threads + 3 * blocks * threads);
  check_cuda(cudaGraphExecDestroy(instance), "destroy");
  check_cuda(cudaGraphDestroy(graph), "destroy");
}

/// Block 0 gives up at once; block 1 comes a little later; then who has passed the phase goes on to the next.
template <class Algorithm>
__global__ void storms(barrier_of<Algorithm> barrier, uint32_t* answers, uint64_t span, uint32_t cycles) {
  const cuda_grid grid;
  const uint32_t block = grid.block();
  barrier.sync();
  if (block == 1) grid.delay(cycles);
  const timeout mine(block == 0 ? span : 10'000'000'000);
  uint32_t passed = 0;
  while (passed < 3 && barrier.sync_for(mine) == wait_status::completed) ++passed;
  if (__syncthreads_or(passed != 0) != __syncthreads_and(passed != 0)) atomicAdd(answers, 1u);  // the block disagrees
  if (grid.thread() == 0) answers[1 + block] = passed;
}

TYPED_TEST(CudaSafety, NobodyPassesAPhaseBehindTheOneThatWasGivenUp) {
  const uint32_t blocks = 8;
  uint32_t split = 0, lost = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
    const auto answers = this->words(1 + blocks);
    launch(this->device(), nullptr, {blocks, 64}, storms<TypeParam>, storage.barrier(), this->address(answers),
           uint64_t{1000}, 12'000u + 500 * round);
    const auto found = this->contents(answers);
    EXPECT_EQ(found[0], 0u) << "threads of a block with different answers";
    const uint32_t most = *std::max_element(found.begin() + 1, found.end());
    const uint32_t least = *std::min_element(found.begin() + 1, found.end());
    if (most == 3 && least == 3) continue;  // block 1 was in time in all phases
    ++lost;
    EXPECT_LE(most - least, 1u) << "phases apart";
    split += most != least ? 1 : 0;
  }
  std::printf("%u of 60 rounds lost a phase, in %u of them some blocks had passed it\n", lost, split);
}

/// Two barriers in flight at once, both with deadlines; one of them misses a block.
template <class Algorithm>
__global__ void overlaps(barrier_of<Algorithm> whole, barrier_of<Algorithm> missed, uint32_t absent, uint32_t* astray,
                         uint32_t rounds) {
  const cuda_grid grid;
  for (uint32_t round = 0; round < rounds; ++round) {
    auto first = whole.arrive();
    if (grid.block() == absent && round + 1 == rounds) {
      if (whole.wait_for(static_cast<decltype(first)&&>(first), timeout(10'000'000'000)) != wait_status::completed) {
        atomicAdd(astray, 1u);
      }
      return;
    }
    auto second = missed.arrive();
    // A warp that is slow to read the first answer must not read the second one's.
    if (whole.wait_for(static_cast<decltype(first)&&>(first), timeout(10'000'000'000)) != wait_status::completed) {
      atomicAdd(astray, 1u);
    }
    const bool last = round + 1 == rounds;
    const auto status = missed.wait_for(static_cast<decltype(second)&&>(second), timeout(last ? 0 : 10'000'000'000));
    if ((status == wait_status::completed) == last) atomicAdd(astray + 1, 1u);
  }
}

TYPED_TEST(CudaSafety, ATimeOutOfOneBarrierIsNotReadAsAnothers) {
  for (uint32_t round = 0; round < 20; ++round) {
    cuda_barrier_storage<TypeParam> whole(this->device(), this->sms()), missed(this->device(), this->sms());
    const auto astray = this->words(2);
    launch(this->device(), nullptr, {this->sms(), 1024}, overlaps<TypeParam>, whole.barrier(), missed.barrier(),
           round % this->sms(), this->address(astray), 3u);
    EXPECT_EQ(this->contents(astray), (std::vector<uint32_t>{0, 0}));
  }
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

class CudaRefusals : public CudaTest {};

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

// ---- Some warps of a block ----

/// The warps from `first_warp` on act for their block through named barrier 10; the others write what these publish,
/// and meet them at named barrier 11.
template <class Algorithm>
__global__ void __launch_bounds__(1024) warps_act(barrier_of<Algorithm> barrier, uint32_t first_warp, uint32_t warps,
                                                  uint32_t* halves, uint32_t* wrong, uint32_t phases, uint32_t form) {
  const cuda_grid grid;
  const uint32_t thread = grid.thread(), first = 32 * first_warp, acting = 32 * warps;
  const uint32_t all = grid.blocks() * grid.threads();
  if (thread - first >= acting) return;
  auto view = barrier.on(cuda_warps_grid<10>(first, acting));
  uint32_t random = (grid.block() * 32 + thread / 32) * 2891336453u + 1;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    uint32_t* half = halves + phase % 2 * all;
    const uint32_t own = grid.block() * grid.threads() + thread;
    dawdle(random);
    half[own] = word_of(phase, own);
    bool passed = true;
    if (form == 0) {
      view.sync();
    } else if (form == 1) {
      auto token = view.arrive();
      dawdle(random);
      view.wait(static_cast<decltype(token)&&>(token));
    } else if (form == 2) {
      passed = view.sync_for(timeout(10'000'000'000)) == wait_status::completed;
    } else {
      auto token = view.arrive();
      passed = view.wait_for(static_cast<decltype(token)&&>(token), timeout(10'000'000'000)) == wait_status::completed;
    }
    if (!passed) atomicAdd(wrong + 1, 1u);
    for (uint32_t offset : {1u, grid.blocks() / 2}) {
      const uint32_t block = (grid.block() + offset) % grid.blocks();
      const uint32_t theirs = block * grid.threads() + first + (thread - first + 32) % acting;
      if (half[theirs] != word_of(phase, theirs)) atomicAdd(wrong, 1u);
    }
  }
}

template <class Algorithm>
__global__ void warps_miss(barrier_of<Algorithm> barrier, uint32_t absent, uint32_t* told) {
  const cuda_grid grid;
  if (grid.thread() >= 64) return;
  auto view = barrier.on(cuda_warps_grid<10>(0, 64));
  view.sync();
  if (grid.block() == absent) return;
  if (view.sync_for(timeout(20'000'000)) == wait_status::timed_out) atomicAdd(told, 1u);
}

TYPED_TEST(CudaSafety, SomeWarpsOfABlockPublishTheirDataForIt) {
  struct mix {
    uint32_t first_warp, warps, threads;
  };
  for (const mix& one : {mix{0, 1, 32}, {0, 1, 256}, {3, 1, 128}, {2, 4, 256}, {4, 28, 1024}, {0, 32, 1024}}) {
    for (const uint32_t form : {0u, 1u, 2u, 3u}) {
      const uint64_t resident = max_co_resident(this->device(), warps_act<TypeParam>, {1, one.threads}).blocks();
      const uint32_t blocks = static_cast<uint32_t>(std::min<uint64_t>(this->sms() + 3, resident));
      cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
      const auto halves = this->words(size_t{2} * blocks * one.threads);
      const auto wrong = this->words(2);
      for (int launches = 0; launches < 2; ++launches) {
        launch(this->device(), nullptr, {blocks, one.threads}, warps_act<TypeParam>, storage.barrier(), one.first_warp,
               one.warps, this->address(halves), this->address(wrong), phases(200), form);
      }
      EXPECT_EQ(this->contents(wrong), (std::vector<uint32_t>{0, 0})) << one.warps << " warps, form " << form;
    }
  }
}

TYPED_TEST(CudaSafety, SomeWarpsOfABlockLearnOfADeadline) {
  cuda_barrier_storage<TypeParam> storage(this->device(), this->sms());
  const auto told = this->words(1);
  launch(this->device(), nullptr, {this->sms(), 128}, warps_miss<TypeParam>, storage.barrier(), 5u,
         this->address(told));
  EXPECT_EQ(this->contents(told)[0], (this->sms() - 1) * 64);
  EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{5, 1}}));
}

// ---- Who was there ----

/// Block 1 enters and never arrives; block 2 never comes to the barrier at all.
__global__ void enters(grid_barrier barrier, uint32_t* told) {
  const cuda_grid grid;
  if (grid.block() == 2) return;
  if (barrier.try_enter() == wait_status::timed_out) atomicAdd(told + 1, 1u);
  if (grid.block() == 1) return;
  if (barrier.sync_for(timeout(50'000'000)) == wait_status::timed_out) atomicAdd(told, 1u);
}

TEST_F(CudaRefusals, AReportTellsABlockThatIsLateFromOneThatWasNeverSeen) {
  grid_barrier_storage storage(device(), 8);
  const auto told = words(2);
  launch(device(), nullptr, {8, 64}, takes_one, storage.barrier());  // what an earlier launch has left must not count
  launch(device(), nullptr, {8, 64}, enters, storage.barrier(), address(told));
  EXPECT_EQ(contents(told), (std::vector<uint32_t>{6 * 64, 0}));
  const auto missing = storage.missing();
  ASSERT_EQ(missing, (std::vector<missing_block>{{1, 0}, {2, 0}}));
  EXPECT_TRUE(missing[0].started);
  EXPECT_FALSE(missing[1].started);
  EXPECT_NE(storage.report().find("2 (not seen in that launch)"), std::string::npos) << storage.report();
}

}  // namespace
}  // namespace gpusync
