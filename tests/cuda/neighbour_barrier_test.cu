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

TEST_F(CudaNeighbours, BarrierWithPlacedFlags) {
  const l2_survey survey(device());
  for_any_size(barrier_steps, [&](uint32_t blocks, uint32_t threads, uint32_t steps) {
    barrier_is_right(neighbourhood::ring(blocks), threads, steps, false, 0, 0, &survey);
    if (blocks % 4 != 0) return;
    barrier_is_right(neighbourhood::torus({blocks / 4, 4}, corners::yes), threads, steps, true, 0, 0, &survey);
  });
  const uint32_t blocks = fitting(barrier_steps, 217, 64);
  barrier_is_right(random_lists(blocks, 12, 5), 64, phases(300), true, 0, 0, &survey);
  for (const uint32_t form : {0u, 1u, 2u, 3u}) {
    barrier_is_right(neighbourhood::line(5), 33, phases(1000), form % 2 == 1, form, 0xffffff80u, &survey);
  }
  barrier_is_right(neighbourhood::ring(fitting(barrier_steps, sms(), 256)), 256, phases(100'000), false, 0, 0, &survey);
}

/// Several storages of one survey, which may be gone by the time that they are used.
TEST_F(CudaNeighbours, PlacedFlagsOutliveTheirSurvey) {
  auto survey = std::make_unique<l2_survey>(device());
  const auto who = neighbourhood::ring(fitting(barrier_steps, sms(), 64));
  neighbour_barrier_storage first = flags(who, survey.get());
  neighbour_barrier_storage storage = flags(who, survey.get());
  survey.reset();
  first = std::move(storage);
  steps_beside_plain_ones<uint32_t> chains(device(), who, 64);
  const cuda_buffer buffers = words(2 * size_t{who.blocks()} * 64);
  launch(device(), nullptr, {who.blocks(), 64u}, barrier_steps, first.barrier(), chains.table(), address(buffers),
         chains.state(), 300u, true, false, false, chains.faults());
  chains.expect_equal_after(300, "a storage that was moved");
}

TEST_F(CudaNeighbours, BarrierForAHundredThousandPhases) {
  for (const bool late : {false, true}) {
    barrier_is_right(neighbourhood::ring(fitting(barrier_steps, sms(), 256)), 256, phases(100'000), late);
    barrier_is_right(neighbourhood::torus({fitting(barrier_steps, 8 * sms(), 256) / 8, 8}), 256, phases(100'000), late);
  }
}

}  // namespace
}  // namespace gpusync::test
