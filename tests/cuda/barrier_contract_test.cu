// What every grid barrier promises, on a CUDA device: the text that host threads test too, and NVIDIA's own beside it.
#include <gpusync/grid/registry.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "cuda/device_fixture.cuh"
#include "support/host_barriers.hpp"

namespace gpusync {
namespace {

/// Phases of a long test; GPUSYNC_TEST_PHASES makes it shorter, for tools that slow kernels down.
uint32_t phases(uint32_t usual) {
  const char* most = std::getenv("GPUSYNC_TEST_PHASES");
  return most == nullptr ? usual : std::min(usual, static_cast<uint32_t>(std::strtoul(most, nullptr, 10)));
}

template <class Algorithm>
using barrier_of = basic_grid_barrier<Algorithm, cuda_grid>;

__device__ uint32_t random_next(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

/// Sometimes, makes a block late by up to about two microseconds.
__device__ void dawdle(uint32_t& state) {
  if (random_next(state) % 8 != 0) return;
  const long long until = clock64() + random_next(state) % 4096;
  while (clock64() < until) {
  }
}

/// Every block announces its phase, and after the barrier one thread per block looks at all announcements. They are
/// atomic and relaxed, so that also a barrier that orders no data must pass: what is tested is the waiting.
template <class Algorithm>
__global__ void waits(barrier_of<Algorithm> barrier, uint32_t* slots, uint32_t* early, uint32_t first,
                      uint32_t phases) {
  const cuda_grid grid;
  uint32_t random = grid.block() * 747796405u + 1;
  for (uint32_t phase = first + 1; phase <= first + phases; ++phase) {
    if (grid.thread() == grid.threads() - 1) {
      dawdle(random);
      cuda_memory::store<memory_order::relaxed, scope::device>(slots + grid.block(), phase);
      // Relaxed stores may still be on their way when an unordered barrier opens: only the test needs this fence.
      if (!orders_data(Algorithm::order)) cuda_memory::fence<scope::device>();
    }
    barrier.sync();
    for (uint32_t b = grid.thread(); b < grid.blocks(); b += grid.threads()) {
      if (static_cast<int32_t>(cuda_memory::load<memory_order::relaxed, scope::device>(slots + b) - phase) < 0) {
        atomicAdd(early, 1u);
      }
    }
  }
}

/// Plain data: every thread writes three words, and reads those of the same thread in two other blocks after the
/// barrier.
template <class Algorithm>
__global__ void publishes(barrier_of<Algorithm> barrier, uint32_t* halves, uint32_t* wrong, uint32_t phases,
                          bool split) {
  const cuda_grid grid;
  const uint32_t words = 3;
  const uint32_t all = grid.blocks() * grid.threads() * words;
  uint32_t random = grid.block() * 2891336453u + 1;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    uint32_t* half = halves + (phase % 2) * all;
    const uint32_t own = (grid.block() * grid.threads() + grid.thread()) * words;
    dawdle(random);
    for (uint32_t w = 0; w < words; ++w) half[own + w] = phase * 31 + own + w;
    if (split) {
      auto token = barrier.arrive();
      dawdle(random);
      barrier.wait(static_cast<decltype(token)&&>(token));
    } else {
      barrier.sync();
    }
    for (uint32_t offset : {1u, grid.blocks() / 2}) {
      const uint32_t block = (grid.block() + offset) % grid.blocks();
      const uint32_t theirs = (block * grid.threads() + grid.thread()) * words;
      for (uint32_t w = 0; w < words; ++w) {
        if (half[theirs + w] != phase * 31 + theirs + w) atomicAdd(wrong, 1u);
      }
    }
  }
}

/// One block never comes to its second barrier call.
template <class Algorithm>
__global__ void misses(barrier_of<Algorithm> barrier, uint32_t absent, uint64_t span, uint32_t* timed_out,
                       unsigned long long* longest) {
  const cuda_grid grid;
  barrier.sync();
  if (grid.block() == absent) return;
  const uint64_t begin = grid.now();
  if (barrier.sync_for(timeout(span)) == wait_status::timed_out) atomicAdd(timed_out, 1u);
  atomicMax(longest, static_cast<unsigned long long>(grid.now() - begin));
}

/// As waits(), in the parts of a grid that `parts` barriers join, each block in one.
template <class Algorithm>
using part_of = basic_grid_barrier<Algorithm, cuda_grid, block_range>;

template <class Algorithm>
__global__ void waits_in_parts(part_of<Algorithm> first, part_of<Algorithm> second, part_of<Algorithm> third,
                               uint32_t* slots, uint32_t* early, uint32_t phases) {
  const cuda_grid grid;
  const uint32_t block = grid.block();
  const auto holds = [block](const block_range& range) { return block - range.first < range.count; };
  part_of<Algorithm> own = holds(first.who()) ? first : holds(second.who()) ? second : third;
  const block_range range = own.who();
  uint32_t random = block * 747796405u + 1;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    if (grid.thread() == 0) {
      dawdle(random);
      cuda_memory::store<memory_order::relaxed, scope::device>(slots + block, phase);
      if (!orders_data(Algorithm::order)) cuda_memory::fence<scope::device>();
    }
    own.sync();
    for (uint32_t b = grid.thread(); b < range.count; b += grid.threads()) {
      const uint32_t seen = cuda_memory::load<memory_order::relaxed, scope::device>(slots + range.first + b);
      if (static_cast<int32_t>(seen - phase) < 0) atomicAdd(early, 1u);
    }
  }
}

/// Block b leaves after phase `leaves[b]` (0: it stays). Who stays looks at all blocks' announcements.
template <class Algorithm>
__global__ void shrinks(basic_grid_barrier<Algorithm, cuda_grid, dropping_blocks> barrier, const uint32_t* leaves,
                        uint32_t* slots, uint32_t* early, uint32_t phases) {
  const cuda_grid grid;
  const uint32_t block = grid.block();
  uint32_t random = block * 747796405u + 1;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    if (grid.thread() == 0) {
      dawdle(random);
      cuda_memory::store<memory_order::relaxed, scope::device>(slots + block, phase);
    }
    if (leaves[block] == phase) {
      barrier.arrive_and_drop();
      return;
    }
    barrier.sync();
    for (uint32_t b = grid.thread(); b < grid.blocks(); b += grid.threads()) {
      const uint32_t last = leaves[b] != 0 && leaves[b] < phase ? leaves[b] : phase;
      const uint32_t seen = cuda_memory::load<memory_order::relaxed, scope::device>(slots + b);
      if (static_cast<int32_t>(seen - last) < 0) atomicAdd(early, 1u);
    }
  }
}

template <class Algorithm>
class CudaBarrier : public test::CudaTest {
 protected:
  uint64_t most(uint32_t threads) const {
    return max_co_resident(device(), publishes<Algorithm>, {1, threads}).blocks();
  }

  uint32_t early_releases(cuda_barrier_storage<Algorithm>& storage, launch_shape shape, uint32_t phases) {
    const auto slots = words(shape.blocks.count());
    const auto early = words(1);
    launch(device(), nullptr, shape, waits<Algorithm>, storage.barrier(), address(slots), address(early), 0u, phases);
    return contents(early)[0];
  }

  uint32_t wrong_words(cuda_barrier_storage<Algorithm>& storage, launch_shape shape, uint32_t phases, bool split) {
    const auto halves = words(6 * shape.blocks.count() * shape.threads.count());
    const auto wrong = words(1);
    launch(device(), nullptr, shape, publishes<Algorithm>, storage.barrier(), address(halves), address(wrong), phases,
           split);
    return contents(wrong)[0];
  }
};

using all_types = test::as_gtest_types<grid::cuda_algorithms>::type;
TYPED_TEST_SUITE(CudaBarrier, all_types, test::algorithm_names);

TYPED_TEST(CudaBarrier, ReleasesNobodyBeforeAllHaveArrived) {
  const auto resident = static_cast<uint32_t>(this->most(256));
  for (const launch_shape shape : {launch_shape{1, 1},
                                   {2, 1},
                                   {3, 33},
                                   {this->sms(), 1},
                                   {this->sms(), 256},
                                   {this->sms(), 1024},
                                   {2 * this->sms(), 128},
                                   {resident, 256},
                                   {{3, 4, 2}, {5, 3, 2}}}) {
    cuda_barrier_storage<TypeParam> storage(this->device(), static_cast<uint32_t>(shape.blocks.count()));
    EXPECT_EQ(this->early_releases(storage, shape, phases(2000)), 0u)
        << shape.blocks.count() << " blocks of " << shape.threads.count();
  }
}

TYPED_TEST(CudaBarrier, PublishesPlainDataIfItsOrderingPromisesThat) {
  for (const launch_shape shape : {launch_shape{2, 64},
                                   {this->sms(), 32},
                                   {this->sms(), 256},
                                   {this->sms(), 1024},
                                   {2 * this->sms(), 512},
                                   {static_cast<uint32_t>(this->most(256)), 256}}) {
    for (const bool split : {false, true}) {
      cuda_barrier_storage<TypeParam> storage(this->device(), static_cast<uint32_t>(shape.blocks.count()));
      const uint32_t wrong = this->wrong_words(storage, shape, phases(5000), split);
      if (orders_data(TypeParam::order)) {
        EXPECT_EQ(wrong, 0u) << shape.blocks.count() << " blocks of " << shape.threads.count();
      }
    }
  }
}

TYPED_TEST(CudaBarrier, NeedsNoResetBetweenLaunchesOfAnyNumberOfBlocks) {
  cuda_barrier_storage<TypeParam> storage(this->device(), 2 * this->sms());
  for (const uint32_t blocks : {2 * this->sms(), 3u, 1u, this->sms(), 2 * this->sms()}) {
    EXPECT_EQ(this->early_releases(storage, {blocks, 64}, 101), 0u) << blocks;
  }
}

TYPED_TEST(CudaBarrier, PassesTheWrapOfItsPhase) {
  {  // 2^16 phases and more: every value of a counter's phase field, and its wrap.
    cuda_barrier_storage<TypeParam> storage(this->device(), this->sms());
    EXPECT_EQ(this->early_releases(storage, {this->sms(), 32}, phases(70000)), 0u);
  }
  cuda_barrier_storage<TypeParam> storage(this->device(), this->sms(), 0u - 50u);  // the wrap of a 32-bit stamp
  EXPECT_EQ(this->early_releases(storage, {this->sms(), 32}, 500), 0u);
}

TYPED_TEST(CudaBarrier, ServesTwoKernelsAtOnceWithAStorageEach) {
  const uint32_t blocks = this->sms() / 2;
  cudaStream_t streams[2];
  cuda_barrier_storage<TypeParam> storages[2] = {{this->device(), blocks}, {this->device(), blocks}};
  const auto slots = this->words(2 * blocks);
  const auto early = this->words(1);
  for (auto& stream : streams) check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (uint32_t round = 0; round < 20; ++round) {
    for (uint32_t i = 0; i < 2; ++i) {
      launch(this->device(), streams[i], {blocks, 128}, waits<TypeParam>, storages[i].barrier(),
             this->address(slots) + i * blocks, this->address(early), round * 500, 500u);
    }
  }
  for (auto& stream : streams) {
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }
  EXPECT_EQ(this->contents(early)[0], 0u);
}

TYPED_TEST(CudaBarrier, JoinsDisjointPartsOfAGridAtOnce) {
  if constexpr (!grid::is_whole_grid_only<TypeParam>::value) {
    const uint32_t blocks = 2 * this->sms();
    const block_range parts[3] = {{0, 7}, {7, blocks / 2}, {7 + blocks / 2, blocks - 7 - blocks / 2}};
    cuda_barrier_storage<TypeParam> storages[3] = {
        {this->device(), parts[0].count}, {this->device(), parts[1].count}, {this->device(), parts[2].count}};
    const auto slots = this->words(blocks);
    const auto early = this->words(1);
    launch(this->device(), nullptr, {blocks, 64}, waits_in_parts<TypeParam>, storages[0].barrier(parts[0]),
           storages[1].barrier(parts[1]), storages[2].barrier(parts[2]), this->address(slots), this->address(early),
           phases(2000));
    EXPECT_EQ(this->contents(early)[0], 0u);
    EXPECT_THROW((void)storages[0].barrier(block_range{0, 8}), invalid_argument);
    EXPECT_THROW(launch(this->device(), nullptr, {7 + blocks / 2, 64}, waits_in_parts<TypeParam>,
                        storages[0].barrier(parts[0]), storages[1].barrier(parts[1]), storages[2].barrier(parts[2]),
                        this->address(slots), this->address(early), 1u),
                 invalid_argument)
        << "a part outside the grid";
  } else {
    SUCCEED() << "it always joins the whole grid";
  }
}

TYPED_TEST(CudaBarrier, LetsBlocksLeaveEarlyAndTakesThemBackInTheNextLaunch) {
  if constexpr (!grid::is_whole_grid_only<TypeParam>::value && orders_data(TypeParam::order)) {
    const uint32_t blocks = this->sms() + 3;
    cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
    std::vector<uint32_t> leaves(blocks, 0);
    leaves[0] = 5;
    for (uint32_t b = 1; b < blocks; ++b) leaves[b] = b % 3 == 0 ? 1 + b * 7 % 40 : 0;
    leaves[1] = 1;
    for (uint32_t launches = 0; launches < 3; ++launches) {
      const auto slots = this->words(blocks);
      const auto early = this->words(1);
      const auto plan = this->words(blocks);
      check_cuda(cudaMemcpy(plan.address(), leaves.data(), plan.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
      launch(this->device(), nullptr, {blocks, 96}, shrinks<TypeParam>, storage.dropping_barrier(),
             const_cast<const uint32_t*>(this->address(plan)), this->address(slots), this->address(early), 60u);
      EXPECT_EQ(this->contents(early)[0], 0u);
    }
    EXPECT_EQ(this->early_releases(storage, {blocks, 96}, 50), 0u) << "a launch in which nobody leaves";
  } else {
    SUCCEED() << "it always joins the whole grid, or does not order the news of a drop";
  }
}

TYPED_TEST(CudaBarrier, CanBeCapturedIntoAGraphAndReplayed) {
  const uint32_t blocks = this->sms();
  cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
  const auto halves = this->words(6 * blocks * 64);
  const auto wrong = this->words(1);
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < 3; ++i) {
    launch(this->device(), stream, {blocks, 64}, publishes<TypeParam>, storage.barrier(), this->address(halves),
           this->address(wrong), 50u, false);
  }
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  check_cuda(cudaStreamEndCapture(stream, &graph), "capture");
  check_cuda(cudaGraphInstantiate(&instance, graph, 0), "cudaGraphInstantiate");
  for (int i = 0; i < 10; ++i) check_cuda(cudaGraphLaunch(instance, stream), "cudaGraphLaunch");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (orders_data(TypeParam::order)) EXPECT_EQ(this->contents(wrong)[0], 0u);
  check_cuda(cudaGraphExecDestroy(instance), "destroy");
  check_cuda(cudaGraphDestroy(graph), "destroy");
  check_cuda(cudaStreamDestroy(stream), "destroy");
}

TYPED_TEST(CudaBarrier, NamesTheBlockAndThePhaseThatADeadlineMissed) {
  if constexpr (TypeParam::bounded) {
    constexpr uint64_t span = 50'000'000;
    const uint32_t blocks = this->sms();
    const uint32_t absent = blocks / 3;
    cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
    const auto timed_out = this->words(1);
    const auto longest = this->words(2);
    launch(this->device(), nullptr, {blocks, 256}, misses<TypeParam>, storage.barrier(), absent, span,
           this->address(timed_out), reinterpret_cast<unsigned long long*>(this->address(longest)));
    EXPECT_EQ(this->contents(timed_out)[0], (blocks - 1) * 256) << "every thread of every block that waited";
    const auto words = this->contents(longest);
    const uint64_t nanoseconds = words[0] | uint64_t{words[1]} << 32;
    EXPECT_GE(nanoseconds, span);
    EXPECT_LT(nanoseconds, 2 * span);
    EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{absent, 1}}));
    EXPECT_THROW(launch(this->device(), nullptr, {blocks, 256}, misses<TypeParam>, storage.barrier(), absent, span,
                        this->address(timed_out), reinterpret_cast<unsigned long long*>(this->address(longest))),
                 broken_barrier);
    storage.reset();
    EXPECT_TRUE(storage.missing().empty());
    EXPECT_EQ(this->early_releases(storage, {blocks, 64}, 100), 0u);
  } else {
    SUCCEED() << "its waits carry no deadline";
  }
}

using default_algorithm = grid::placed_counters<ordering::acquire_release>;
using CudaPlacedCounters = CudaBarrier<default_algorithm>;

/// Any plan that a table may hold is correct on any grid, also where the places are wrong.
TEST_F(CudaPlacedCounters, AreCorrectUnderAnyPlanAndWithWrongPlaces) {
  for (const bool misplaced : {false, true}) {
    for (const uint16_t counters : {1, 2, 4, 8}) {
      for (const uint16_t copies : {1, 2, 4}) {
        for (const uint16_t sides : {1, 2}) {
          if (counters * copies > 8) continue;
          barrier_tuning tuning;
          tuning.rules.count = 1;
          const uint16_t second_warp = counters == copies ? 1 : 0;
          tuning.rules.rules[0] = {grid::counter_rules::any,
                                   grid::counter_rules::any,
                                   {counters, copies, sides, second_warp, 100u * counters}};
          cuda_barrier_storage<default_algorithm> storage(device(), 2 * sms(), tuning);
          if (misplaced) {
            // As after a change of the physical pages: lines and SMs on other sides than the table says.
            grid::counter_table table;
            check_cuda(cudaMemcpy(&table, storage.state(), sizeof(table), cudaMemcpyDeviceToHost), "cudaMemcpy");
            for (uint32_t i = 0; i < grid::counter_table::most_lines; i += 2) {
              std::swap(table.line[0][i], table.line[1][i]);
            }
            table.sides = 0;
            check_cuda(cudaMemcpy(storage.state(), &table, sizeof(table), cudaMemcpyHostToDevice), "cudaMemcpy");
          }
          for (const launch_shape shape : {launch_shape{2 * sms(), 256}, {sms(), 1}, {sms(), 33}, {3, 64}}) {
            EXPECT_EQ(wrong_words(storage, shape, phases(500), false), 0u)
                << counters << " x " << copies << ", " << sides << " sides, " << shape.blocks.count() << " x "
                << shape.threads.count();
          }
        }
      }
    }
  }
}

TEST_F(CudaPlacedCounters, FindTwoSidesOnAnH200) {
  if (device().name().find("H200") == std::string::npos) GTEST_SKIP() << "this is not an H200";
  const cuda_barrier_storage<default_algorithm> storage(device(), 1);
  ASSERT_TRUE(storage.places().placed());
  const grid::line_survey& survey = storage.places().lease().stock().survey();
  EXPECT_EQ(survey.processors_on(0), 66u);
  EXPECT_EQ(survey.processors_on(1), 66u);
  EXPECT_GT(survey.far(), 1.4 * survey.near());
}

using CudaUnordered = CudaBarrier<grid::lock_based<ordering::none>>;

/// What the ordering `none` is worth on a GPU that caches global loads in L1: the data itself shows it.
TEST_F(CudaUnordered, ReadsStaleWordsOnAnL1ThatCachesGlobalLoads) {
  cuda_barrier_storage<grid::lock_based<ordering::none>> storage(device(), sms());
  EXPECT_GT(wrong_words(storage, {sms(), 256}, 5000, false), 0u);
}

}  // namespace
}  // namespace gpusync
