// Deadlines on a CUDA device: who is named after other launches, and several bounded barriers in one kernel.
#include "cuda/barrier_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

/// One block comes `cycles` late to each phase, so that the others' waits are long.
template <class Algorithm>
__global__ void lingers(barrier_of<Algorithm> barrier, uint32_t late, uint32_t cycles, uint32_t phases) {
  const cuda_grid grid;
  for (uint32_t phase = 0; phase < phases; ++phase) {
    if (grid.block() == late) grid.delay(cycles);
    barrier.sync();
  }
}

struct pair_outcome {
  uint32_t struck;  ///< threads whose wait for the barrier without its block timed out
  uint32_t lost;    ///< threads that any other wait timed out for
  uint32_t early;
};

/// One block never comes to the second phase of `broken`; but all of them come to each phase of `whole`.
template <class Algorithm>
__global__ void goes_on(barrier_of<Algorithm> broken, barrier_of<Algorithm> whole, uint32_t absent, bool whole_first,
                        uint64_t span, uint32_t phases, uint32_t* slots, pair_outcome* seen) {
  const cuda_grid grid;
  const timeout long_enough(10'000'000'000);
  uint32_t random = grid.block() * 747796405u + 1;
  uint32_t phase = 0;
  const auto passes = [&] {
    ++phase;
    dawdle(random);
    if (grid.thread() == 0) cuda_memory::store<memory_order::relaxed, scope::device>(slots + grid.block(), phase);
    if (whole.sync_for(long_enough) == wait_status::timed_out) {
      atomicAdd(&seen->lost, 1u);
      return false;
    }
    for (uint32_t b = grid.thread(); b < grid.blocks(); b += grid.threads()) {
      if (before_phase(slots + b, phase)) atomicAdd(&seen->early, 1u);
    }
    return true;
  };
  if (broken.sync_for(long_enough) == wait_status::timed_out) {
    atomicAdd(&seen->lost, 1u);
    return;
  }
  if (whole_first && !passes()) return;
  if (grid.block() != absent && broken.sync_for(timeout(span)) == wait_status::timed_out) {
    atomicAdd(&seen->struck, 1u);
  }
  while (phase < phases && passes()) {
  }
}

template <class Algorithm>
class CudaDeadline : public CudaBarrier<Algorithm> {
 protected:
  static constexpr uint64_t span = 20'000'000;
};

TYPED_TEST_SUITE(CudaDeadline, one_of_each_kind, algorithm_names);

/// The arrival log keeps what an earlier launch has noted. With placed counters the second launch counts in other
/// words, whose phases are those of the first over again.
TYPED_TEST(CudaDeadline, NamesTheAbsentBlockAlsoAfterALaunchOfAnotherSizeThatWaitedLong) {
  const uint32_t sms = this->sms();
  const uint32_t sizes[][2] = {{8 * sms, sms}, {sms, 8 * sms}, {3 * sms, sms / 4}, {sms / 4, 3 * sms}, {sms, sms}};
  for (const auto& [first, second] : sizes) {
    // The last phase of the second launch has the number that the last of the first had.
    for (const uint32_t phases : {1u, 3u}) {
      cuda_barrier_storage<TypeParam> storage(this->device(), std::max(first, second));
      launch(this->device(), nullptr, {first, 64}, lingers<TypeParam>, storage.barrier(), 0u, 200'000u, phases);
      const uint32_t absent = std::min(first, second) / 3;
      const auto timed_out = this->words(1);
      const auto longest = this->words(2);
      launch(this->device(), nullptr, {second, 64}, misses<TypeParam>, storage.barrier(), absent, phases - 1,
             TestFixture::span, this->address(timed_out),
             reinterpret_cast<unsigned long long*>(this->address(longest)));
      EXPECT_EQ(this->contents(timed_out)[0], (second - 1) * 64) << second << " blocks after " << first;
      EXPECT_EQ(storage.missing(), (std::vector<missing_block>{{absent, phases - 1}}))
          << second << " blocks after " << first << ", " << phases << " phases";
    }
  }
}

TYPED_TEST(CudaDeadline, OfOneBarrierLeavesTheOthersOfItsKernelAlone) {
  const uint32_t blocks = this->sms();
  for (const uint32_t absent : {0u, blocks / 3}) {
    for (const bool whole_first : {false, true}) {
      cuda_barrier_storage<TypeParam> broken(this->device(), blocks), whole(this->device(), blocks);
      const auto slots = this->words(blocks);
      const auto outcome = this->words(sizeof(pair_outcome) / sizeof(uint32_t));
      launch(this->device(), nullptr, {blocks, 128}, goes_on<TypeParam>, broken.barrier(), whole.barrier(), absent,
             whole_first, TestFixture::span, phases(500), this->address(slots),
             static_cast<pair_outcome*>(outcome.address()));
      const std::vector<uint32_t> seen = this->contents(outcome);
      EXPECT_EQ(seen[0], (blocks - 1) * 128) << "struck";
      EXPECT_EQ(seen[1], 0u) << "timed out without a cause";
      EXPECT_EQ(seen[2], 0u) << "released early";
      EXPECT_EQ(this->contents(slots), std::vector<uint32_t>(blocks, phases(500)));
      EXPECT_EQ(broken.missing(), (std::vector<missing_block>{{absent, 1}}));
      EXPECT_TRUE(whole.missing().empty());
      EXPECT_EQ(this->early_releases(whole, {blocks, 64}, 20), 0u) << "the next launch";
      EXPECT_THROW((void)this->early_releases(broken, {blocks, 64}, 20), broken_barrier);
    }
  }
}

}  // namespace
}  // namespace gpusync
