// What must not go wrong in silence after a time-out on a CUDA device: launches and graphs that are queued behind it,
// and what the host is told of it. How deadlines end waits is in deadline_test.cu; what ends the launch, and the
// context with it, is in misuse_test.cpp.
#include "cuda/safety_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

TYPED_TEST_SUITE(CudaSafety, one_of_each_kind, algorithm_names);

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
  const tool::cuda_graph graph(stream, [&] { start(nobody, 10'000'000'000); });
  graph.replay(stream);
  start(0, 50'000'000);
  for (int i = 0; i < 3; ++i) graph.replay(stream);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const auto counts = this->contents(seen);
  EXPECT_EQ(counts[0], 0u) << "released early";
  EXPECT_EQ(counts[1], (blocks - 1) * threads + 3 * blocks * threads);
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

// ---- Who was there ----

__global__ void all_come(grid_barrier barrier) {
  barrier.sync();
}

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
  launch(device(), nullptr, {8, 64}, all_come, storage.barrier());  // what an earlier launch has left must not count
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
