// The barrier of neighbours on a CUDA device.
#include "cuda/neighbours_fixture.cuh"

namespace gpusync::test {
namespace {

TEST_F(CudaNeighbours, BarrierOfRingsAndToriOfAnySize) {
  for_any_size(barrier_steps, [this](uint32_t blocks, uint32_t threads, uint32_t steps) {
    barrier_is_right(neighbourhood::ring(blocks), threads, steps, false);
    barrier_is_right(neighbourhood::ring(blocks), threads, steps, true);
    if (blocks % 4 != 0) return;
    barrier_is_right(neighbourhood::torus({blocks / 4, 4}, corners::yes), threads, steps, true);
    barrier_is_right(neighbourhood::torus({blocks / 4, 2, 2}), threads, steps, false);
    barrier_is_right(neighbourhood::grid({blocks / 4, 2, 2}, corners::yes), threads, steps, false);
  });
}

TEST_F(CudaNeighbours, BarrierOfRandomLists) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const uint32_t threads = all_threads[seed % 5], blocks = fitting(barrier_steps, 17 + 40 * seed, threads);
    barrier_is_right(random_lists(blocks, 2 + 5 * seed, seed), threads, phases(300), seed % 2 == 0, seed % 4);
  }
}

TEST_F(CudaNeighbours, BarrierInItsFormsAndAcrossTheWrap) {
  for (const uint32_t form : {0u, 1u, 2u, 3u}) {
    for (const uint32_t first : {0u, 0xffffff80u}) {
      barrier_is_right(neighbourhood::torus({12, 11}), 256, phases(1000), form % 2 == 0, form, first);
      barrier_is_right(neighbourhood::line(5), 33, phases(1000), form % 2 == 1, form, first);
    }
  }
}

TEST_F(CudaNeighbours, BarrierForAHundredThousandPhases) {
  for (const bool late : {false, true}) {
    barrier_is_right(neighbourhood::ring(fitting(barrier_steps, sms(), 256)), 256, phases(100'000), late);
    barrier_is_right(neighbourhood::torus({fitting(barrier_steps, 8 * sms(), 256) / 8, 8}), 256, phases(100'000), late);
  }
}

}  // namespace
}  // namespace gpusync::test
