// Phased grids on a CUDA device: any number of virtual blocks, every phase's data checked.
#include <cstdio>

#include "cuda/barrier_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;
using namespace gpusync::literals;

template <class Schedule>
using grid_of = typename cuda_phased_storage<Schedule>::grid_type;

/// What a thread leaves in a phase: different in all phases and elements that a test has.
__host__ __device__ inline uint32_t word_of(uint32_t element, uint32_t phase) {
  return (phase + 1) * 0x9e3779b9u ^ element * 0x85ebca6bu;
}

/// Where virtual blocks leave words for each other.
struct relay {
  uint32_t* words;  ///< two halves of one per thread
  uint32_t* runs;   ///< of each virtual block
  uint32_t* wrong;
};

/// One phase of a virtual block: checks what another one left in the phase before, which changes by turns, and leaves
/// its own. The words pass through shared memory, so that two virtual blocks at once in it would be found out.
__device__ void pass_on(const relay& data, uint32_t blocks, uint32_t block, uint32_t phase) {
  __shared__ uint32_t room[1024];
  const uint32_t threads = blockDim.x, thread = threadIdx.x, mirror = threads - 1 - thread;
  const size_t elements = size_t{blocks} * threads;
  const uint32_t other = static_cast<uint32_t>((uint64_t{block} + 1 + phase % 7 * (blocks / 8)) % blocks);
  if (phase != 0) {
    const uint32_t element = other * threads + thread;
    const uint32_t found = data.words[(phase + 1) % 2 * elements + element];
    if (found != word_of(element, phase - 1)) atomicAdd(data.wrong, 1u);
  }
  room[thread] = word_of(block * threads + thread, phase);
  __syncthreads();
  data.words[phase % 2 * elements + block * threads + mirror] = room[mirror];
  if (thread == 0) ++data.runs[block];
}

/// Goes on where `first` phases ended.
template <class Grid>
__global__ void relays(Grid grid, relay data, uint32_t phases, uint32_t first) {
  const uint32_t blocks = grid.virtual_blocks();
  grid.run(phases, [&](uint32_t block, uint32_t phase) { pass_on(data, blocks, block, first + phase); });
}

/// One phase by a plain grid.
__global__ void relays_once(relay data, uint32_t phase) {
  pass_on(data, gridDim.x, blockIdx.x, phase);
}

/// A block leaves in phase `last`. By hand, so that the loop can be left.
template <class Grid>
__global__ void relays_bounded(Grid grid, relay data, uint32_t phases, uint32_t absent, uint32_t last, uint64_t span,
                               uint32_t* timed_out) {
  const uint32_t blocks = grid.virtual_blocks();
  while (grid.phase() < phases) {
    if (blockIdx.x == absent && grid.phase() == last) return;
    const auto step = [&](uint32_t block) { pass_on(data, blocks, block, grid.phase()); };
    if (grid.for_each_block_for(timeout(span), step) == wait_status::timed_out ||
        grid.end_phase_for(timeout(span)) == wait_status::timed_out) {
      atomicAdd(timed_out, 1u);
      return;
    }
  }
}

/// Order-sensitive: what a virtual block has come to so far survives each phase in its place.
__host__ __device__ inline uint32_t further(uint32_t value, uint32_t block, uint32_t phase) {
  return (value ^ value >> 13) * 0x9e3779b1u + block * 31 + phase;
}
template <class Grid>
__global__ void accumulates(Grid grid, phased_state<uint32_t> state, uint32_t phases) {
  grid.run(phases, [&](uint32_t block, uint32_t phase) {
    uint32_t& mine = state.of(block)[threadIdx.x];
    mine = further(mine, block, phase);
  });
}

template <class Schedule>
class CudaPhased : public CudaTest {
 protected:
  uint32_t resident(uint32_t threads) const {
    return resident_blocks(device(), relays<grid_of<Schedule>>, {1u << 30, threads});
  }

  /// Memory of a relay, and what its launches left in it.
  struct track {
    track(const cuda_device& device, uint32_t virtual_blocks, uint32_t block_threads)
        : blocks(virtual_blocks),
          threads(block_threads),
          words(device, 2 * size_t{blocks} * threads * sizeof(uint32_t)),
          runs(device, blocks * sizeof(uint32_t)),
          wrong(device, sizeof(uint32_t)) {}
    relay view() const { return {address(words), address(runs), address(wrong)}; }

    void expect_phases(uint32_t phases) const {
      const auto where = std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads, " +
                         std::to_string(phases) + " phases";
      EXPECT_EQ(contents(wrong)[0], 0u) << where;
      EXPECT_TRUE(contents(runs) == std::vector<uint32_t>(blocks, phases)) << where;
      if (phases == 0) return;
      const std::vector<uint32_t> left = contents(words);
      const size_t elements = size_t{blocks} * threads, last = (phases - 1) % 2 * elements;
      uint64_t differ = 0;
      for (size_t i = 0; i < elements; ++i) {
        differ += left[last + i] != word_of(static_cast<uint32_t>(i), phases - 1) ? 1 : 0;
      }
      EXPECT_EQ(differ, 0u) << where;
    }

    uint32_t blocks, threads;
    cuda_buffer words, runs, wrong;
  };

  void expect_right(cuda_phased_storage<Schedule>& storage, const phased_shape& shape,
                    const std::vector<uint32_t>& launches) {
    const track data(device(), shape.virtual_blocks, static_cast<uint32_t>(shape.threads.count()));
    uint32_t done = 0;
    for (const uint32_t phases : launches) {
      launch_phased(device(), nullptr, shape, relays<grid_of<Schedule>>, storage, data.view(), phases, done);
      done += phases;
    }
    data.expect_phases(done);
  }
};

struct schedule_names {
  template <class Schedule>
  static std::string GetName(int) {
    std::string name = Schedule::name;
    for (char& c : name) c = c == '-' ? '_' : c;
    return name;
  }
};

using schedules = ::testing::Types<phased::striding, phased::claiming, phased::flag_claiming>;
TYPED_TEST_SUITE(CudaPhased, schedules, schedule_names);

TYPED_TEST(CudaPhased, RunsEveryVirtualBlockOncePerPhaseAndAfterAllOfThePhaseBefore) {
  for (const uint32_t threads : {32u, 256u, 1024u}) {
    const uint32_t most = this->resident(threads);
    for (const uint32_t blocks : {1u, most - 1, most, most + 1, 4 * most, 64 * most}) {
      cuda_phased_storage<TypeParam> storage(this->device(), blocks);
      const uint32_t few = blocks > 4 * most ? 5 : phases(60);
      this->expect_right(storage, {blocks, threads}, {few, 0, 1, few});
    }
  }
}

TYPED_TEST(CudaPhased, ServesLaunchesOfOtherSizesWithoutAReset) {
  const uint32_t sms = this->sms();
  cuda_phased_storage<TypeParam> storage(this->device(), 40 * sms);
  for (const uint32_t blocks : {40 * sms, 1u, sms, 17 * sms + 5, 2u, 40 * sms}) {
    this->expect_right(storage, {blocks, 128}, {3, 4});
    this->expect_right(storage, {blocks, 64, 0, sms}, {2, 2, 1});
    this->expect_right(storage, {blocks, 64, 0, 1}, {2});
  }
}

TYPED_TEST(CudaPhased, CompletesWhereAPlainBarrierIsRefused) {
  constexpr uint32_t threads = 256;
  const uint32_t blocks = this->resident(threads) + 1;
  cuda_phased_storage<TypeParam> storage(this->device(), blocks);
  cuda_barrier_storage<default_algorithm> plain(this->device(), 8 * blocks);
  const auto slots = this->words(8 * blocks);
  const auto early = this->words(1);
  EXPECT_THROW(launch(this->device(), nullptr, {8 * blocks, threads}, waits<default_algorithm>, plain.barrier(),
                      this->address(slots), this->address(early), 0u, 1u),
               not_co_resident);
  this->expect_right(storage, {blocks, threads}, {phases(1000)});
}

TYPED_TEST(CudaPhased, KeepsInItsHomeWhatMustSurviveAPhase) {
  constexpr uint32_t threads = 128;
  const uint32_t blocks = 5 * this->resident(threads) + 3, count = phases(50);
  cuda_phased_storage<TypeParam> storage(this->device(), blocks);
  const cuda_phased_state<uint32_t> state(this->device(), blocks, threads);
  launch_phased(this->device(), nullptr, {blocks, threads}, accumulates<grid_of<TypeParam>>, storage, state.view(),
                count);
  std::vector<uint32_t> found(size_t{blocks} * threads);
  check_cuda(cudaMemcpy(found.data(), state.view().of(0), state.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (uint32_t block = 0; block < blocks; ++block) {
    uint32_t expected = 0;
    for (uint32_t phase = 0; phase < count; ++phase) expected = further(expected, block, phase);
    for (uint32_t thread = 0; thread < threads; ++thread) {
      ASSERT_EQ(found[block * threads + thread], expected) << "block " << block << ", thread " << thread;
    }
  }
}

TYPED_TEST(CudaPhased, CanBeCapturedIntoAGraphAndReplayed) {
  const uint32_t blocks = 3 * this->resident(256) + 1;
  cuda_phased_storage<TypeParam> storage(this->device(), blocks);
  const cuda_phased_state<uint32_t> state(this->device(), blocks, 256);
  replay(20, [&](cudaStream_t stream) {
    for (int i = 0; i < 2; ++i) {
      launch_phased(this->device(), stream, {blocks, 256}, accumulates<grid_of<TypeParam>>, storage, state.view(), 3u);
    }
  });
  uint32_t expected = 0, found = 0;
  for (int launch = 0; launch < 40; ++launch) {
    for (uint32_t phase = 0; phase < 3; ++phase) expected = further(expected, blocks - 1, phase);
  }
  check_cuda(cudaMemcpy(&found, state.view().of(blocks - 1), sizeof(found), cudaMemcpyDeviceToHost), "cudaMemcpy");
  EXPECT_EQ(found, expected);
}

TYPED_TEST(CudaPhased, NamesTheResidentBlockThatIsMissingAndThePhase) {
  constexpr uint32_t threads = 128, last = 2;
  constexpr uint64_t span = 50'000'000;
  const uint32_t most = this->resident(threads), blocks = 3 * most, absent = most / 3;
  cuda_phased_storage<TypeParam> storage(this->device(), blocks);
  const typename TestFixture::track data(this->device(), blocks, threads);
  const auto timed_out = this->words(1);
  const uint32_t resident =
      launch_phased(this->device(), nullptr, {blocks, threads, 0, this->sms()}, relays_bounded<grid_of<TypeParam>>,
                    storage, data.view(), 5u, absent % this->sms(), last, span, this->address(timed_out));
  EXPECT_EQ(resident, this->sms());
  EXPECT_EQ(this->contents(timed_out)[0], (resident - 1) * threads);
  EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{absent % this->sms(), last}}));
  EXPECT_THROW(this->expect_right(storage, {blocks, threads}, {1}), broken_barrier);
  storage.reset();
  EXPECT_TRUE(storage.missing().empty());
  this->expect_right(storage, {blocks, threads}, {10, 10});
}

TYPED_TEST(CudaPhased, RefusesWhatIsNoGrid) {
  EXPECT_THROW(cuda_phased_storage<TypeParam>(this->device(), 0), invalid_argument);
  cuda_phased_storage<TypeParam> storage(this->device(), 10);
  EXPECT_THROW(this->expect_right(storage, {11, 64}, {1}), invalid_argument);
  const typename TestFixture::track data(this->device(), 10, 64);
  for (const phased_shape& shape : {phased_shape{0, 64}, phased_shape{10, 0}, phased_shape{10, 2048}}) {
    EXPECT_THROW(
        launch_phased(this->device(), nullptr, shape, relays<grid_of<TypeParam>>, storage, data.view(), 1u, 0u),
        invalid_argument);
  }
  this->expect_right(storage, {10, 64}, {3});
}

/// The issue's size: 100,000 blocks of 256 threads, 1,000 phases. Also says what a phase takes, beside a launch for
/// each.
template <class Schedule>
class CudaPhasedAtSize : public CudaPhased<Schedule> {
 protected:
  template <class Work>
  static double milliseconds(Work&& work) {
    cudaEvent_t start, stop;
    check_cuda(cudaEventCreate(&start), "event");
    check_cuda(cudaEventCreate(&stop), "event");
    check_cuda(cudaEventRecord(start), "record");
    work();
    check_cuda(cudaEventRecord(stop), "record");
    check_cuda(cudaEventSynchronize(stop), "synchronize");
    float elapsed = 0;
    check_cuda(cudaEventElapsedTime(&elapsed, start, stop), "elapsed");
    check_cuda(cudaEventDestroy(start), "destroy");
    check_cuda(cudaEventDestroy(stop), "destroy");
    return elapsed;
  }
};

using schedules_at_size = ::testing::Types<phased::striding, phased::claiming>;
TYPED_TEST_SUITE(CudaPhasedAtSize, schedules_at_size, schedule_names);

TYPED_TEST(CudaPhasedAtSize, RunsAHundredThousandBlocksInAThousandPhases) {
  constexpr uint32_t blocks = 100'000, threads = 256;
  const uint32_t count = phases(1000);
  cuda_phased_storage<TypeParam> storage(this->device(), blocks);
  const typename TestFixture::track data(this->device(), blocks, threads);
  uint32_t resident = 0;
  const double phased_ms = this->milliseconds([&] {
    resident = launch_phased(this->device(), nullptr, {blocks, threads}, relays<grid_of<TypeParam>>, storage,
                             data.view(), count, 0u);
  });
  data.expect_phases(count);
  const double relaunched_ms = this->milliseconds([&] {
    for (uint32_t phase = count; phase < 2 * count; ++phase) relays_once<<<blocks, threads>>>(data.view(), phase);
  });
  data.expect_phases(2 * count);
  std::printf("%s: %u virtual blocks on %u, %.2f us a phase; a launch for each: %.2f us\n", TypeParam::name, blocks,
              resident, 1e3 * phased_ms / count, 1e3 * relaunched_ms / count);
}

}  // namespace
}  // namespace gpusync
