// What the front door adds to an algorithm, and what a deadline that does not strike costs.
#include "cuda/device_fixture.cuh"
#include "measure/cuda_timer.cuh"
#include "measure/interleaved.hpp"

namespace gpusync::tool {
namespace {

using algorithm = grid::lock_based<ordering::acquire_release>;

__global__ void front_door(grid_barrier barrier, uint32_t steps) {
  for (uint32_t s = 0; s < steps; ++s) barrier.sync();
}

__global__ void with_deadline(grid_barrier barrier, uint32_t steps, timeout span) {
  for (uint32_t s = 0; s < steps; ++s) {
    if (barrier.sync_for(span) == wait_status::timed_out) return;
  }
}

/// The algorithm without the front door: no roll call, no deadline.
__global__ void bare(uint32_t* words, uint32_t steps) {
  const cuda_grid grid;
  for (uint32_t s = 0; s < steps; ++s)
    (void)algorithm::wait(grid, words, algorithm::arrive(grid, words), no_deadline{});
}

class CudaOverhead : public test::CudaTest {};

TEST_F(CudaOverhead, OfTheRollCallIsLostInNoiseAndOfADeadlineIsTheBlocksLearningTheAnswer) {
  for (const launch_shape shape : {launch_shape{sms(), 256}, {2 * sms(), 1024}, {8 * sms(), 256}}) {
    const auto blocks = static_cast<uint32_t>(shape.blocks.count());
    grid_barrier_storage first(device(), blocks);
    grid_barrier_storage second(device(), blocks);
    const auto line = words(32);
    cuda_timer timer;
    const auto timed = [&](auto&& start) {
      return candidate{[&timer, start](uint64_t steps) {
                         timer.start(nullptr);
                         start(static_cast<uint32_t>(steps));
                         return timer.stop(nullptr);
                       },
                       64};
    };
    interleaved_options how;
    how.stop = {15, 41, 0.001, 0.2, 4e9};
    const auto results = measure_interleaved(
        {timed([&](uint32_t steps) { launch(device(), nullptr, shape, bare, address(line), steps); }),
         timed([&](uint32_t steps) { launch(device(), nullptr, shape, front_door, first.barrier(), steps); }),
         timed([&](uint32_t steps) {
           launch(device(), nullptr, shape, with_deadline, second.barrier(), steps, timeout(10'000'000'000));
         })},
        how);
    const double alone = results[0].samples.summary().median;
    const double roll_call = results[1].samples.summary().median;
    const double bounded = results[2].samples.summary().median;
    std::printf("%u x %u: bare %.1f ns, with roll call %.1f ns (%+.2f %%), with deadline %.1f ns (%+.2f %%)\n", blocks,
                static_cast<unsigned>(shape.threads.count()), alone, roll_call, 100 * (roll_call / alone - 1), bounded,
                100 * (bounded / roll_call - 1));
    // With eight blocks per SM one run differs from the next by several percent.
    EXPECT_LT(roll_call / alone, blocks > 2 * sms() ? 1.10 : 1.03);
    EXPECT_LT(bounded - roll_call, 200);
  }
}

}  // namespace
}  // namespace gpusync::tool
