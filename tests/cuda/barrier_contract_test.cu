// What every grid barrier promises, on a CUDA device: the text that host threads test too, and NVIDIA's own beside it.
#include <gpusync/grid/registry.hpp>

#include "cuda/barrier_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

TYPED_TEST_SUITE(CudaBarrier, all_barriers, algorithm_names);

TYPED_TEST(CudaBarrier, ReleasesNobodyBeforeAllHaveArrived) {
  const auto resident = static_cast<uint32_t>(max_co_resident(this->device(), waits<TypeParam>, {1, 256}).blocks());
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
  if constexpr (!TypeParam::whole_grid_only) {
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

/// In what phase each block leaves.
std::vector<uint32_t> one_in_three_leaves(uint32_t blocks) {
  std::vector<uint32_t> leaves(blocks, 0);
  leaves[0] = 5;
  for (uint32_t b = 1; b < blocks; ++b) leaves[b] = b % 3 == 0 ? 1 + b * 7 % 40 : 0;
  leaves[1] = 1;
  return leaves;
}

TYPED_TEST(CudaBarrier, LetsBlocksLeaveEarlyAndTakesThemBackInTheNextLaunch) {
  if constexpr (!TypeParam::whole_grid_only && orders_data(TypeParam::order)) {
    const uint32_t blocks = this->sms() + 3;
    cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
    shrinking launches(this->device(), one_in_three_leaves(blocks), 96);
    for (int i = 0; i < 3; ++i) {
      launches.start(storage, nullptr, 60);
      launches.expect_clean();
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
  replay(10, [&](cudaStream_t stream) {
    for (int i = 0; i < 3; ++i) {
      launch(this->device(), stream, {blocks, 64}, publishes<TypeParam>, storage.barrier(), this->address(halves),
             this->address(wrong), 50u, false);
    }
  });
  if (orders_data(TypeParam::order)) EXPECT_EQ(this->contents(wrong)[0], 0u);
}

TYPED_TEST(CudaBarrier, LetsBlocksLeaveEarlyInEveryReplayOfAGraph) {
  if constexpr (!TypeParam::whole_grid_only && orders_data(TypeParam::order)) {
    const uint32_t blocks = this->sms() + 3;
    cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
    shrinking launches(this->device(), one_in_three_leaves(blocks), 64);
    replay(10, [&](cudaStream_t stream) {
      for (int i = 0; i < 2; ++i) launches.start(storage, stream, 50);
    });
    launches.expect_clean();
  } else {
    SUCCEED() << "it always joins the whole grid, or does not order the news of a drop";
  }
}

TYPED_TEST(CudaBarrier, NamesTheBlockAndThePhaseThatADeadlineMissed) {
  if constexpr (TypeParam::bounded) {
    constexpr uint64_t span = 50'000'000;
    const uint32_t blocks = this->sms();
    const uint32_t absent = blocks / 3;
    cuda_barrier_storage<TypeParam> storage(this->device(), blocks);
    const auto timed_out = this->words(1);
    const auto longest = this->words(2);
    launch(this->device(), nullptr, {blocks, 256}, misses<TypeParam>, storage.barrier(), absent, 1u, span,
           this->address(timed_out), reinterpret_cast<unsigned long long*>(this->address(longest)));
    EXPECT_EQ(this->contents(timed_out)[0], (blocks - 1) * 256) << "every thread of every block that waited";
    const auto words = this->contents(longest);
    const uint64_t nanoseconds = words[0] | uint64_t{words[1]} << 32;
    EXPECT_GE(nanoseconds, span);
    EXPECT_LT(nanoseconds, 2 * span);
    EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{absent, 1}}));
    EXPECT_THROW(launch(this->device(), nullptr, {blocks, 256}, misses<TypeParam>, storage.barrier(), absent, 1u, span,
                        this->address(timed_out), reinterpret_cast<unsigned long long*>(this->address(longest))),
                 broken_barrier);
    storage.reset();
    EXPECT_TRUE(storage.missing().empty());
    EXPECT_EQ(this->early_releases(storage, {blocks, 64}, 100), 0u);
  } else {
    SUCCEED() << "its waits carry no deadline";
  }
}

using CudaUnordered = CudaBarrier<grid::lock_based<ordering::none>>;

/// What the ordering `none` is worth on a GPU that caches global loads in L1: the data itself shows it.
TEST_F(CudaUnordered, ReadsStaleWordsOnAnL1ThatCachesGlobalLoads) {
  cuda_barrier_storage<grid::lock_based<ordering::none>> storage(device(), sms());
  EXPECT_GT(wrong_words(storage, {sms(), 256}, 5000, false), 0u);
}

}  // namespace
}  // namespace gpusync
