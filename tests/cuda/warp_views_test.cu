// Some warps of a block that act for it at a barrier on a CUDA device: what they publish, and what they learn.
#include "cuda/safety_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

TYPED_TEST_SUITE(CudaSafety, one_of_each_kind, algorithm_names);

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

}  // namespace
}  // namespace gpusync
