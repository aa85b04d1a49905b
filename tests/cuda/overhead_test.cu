// What the front door adds to an algorithm, and what a deadline that does not strike costs.
#include "cuda/device_fixture.cuh"
#include "measure/cuda_timer.cuh"
#include "measure/interleaved.hpp"

namespace gpusync::tool {
namespace {

using algorithm = grid::placed_counters<ordering::acquire_release>;

__global__ void __launch_bounds__(1024, 2) front_door(grid_barrier barrier, uint32_t steps) {
  barrier.enter();
  for (uint32_t s = 0; s < steps; ++s) barrier.sync();
}

__global__ void __launch_bounds__(1024, 2) with_deadline(grid_barrier barrier, uint32_t steps, timeout span) {
  barrier.enter();
  for (uint32_t s = 0; s < steps; ++s) {
    if (barrier.sync_for(span) == wait_status::timed_out) return;
  }
}

/// The algorithm without the front door: no phase is counted. `noted`: a word per block, for waits that get long.
__global__ void __launch_bounds__(1024, 2) bare(uint32_t* words, uint32_t* claimed, uint32_t* noted, uint32_t steps) {
  const cuda_grid grid;
  auto own = algorithm::join(grid, words, {grid.block(), grid.blocks()});
  const roll_call roll{claimed, noted, nullptr};
  for (uint32_t s = 0; s < steps; ++s) {
    watch<no_deadline> watching({}, roll, grid.block(), 1);
    (void)algorithm::wait_fused(grid, words, own, algorithm::arrive_fused(grid, words, own), watching);
  }
}

class CudaOverhead : public test::CudaTest {};

TEST_F(CudaOverhead, OfTheFrontDoorAndOfADeadlineThatDoesNotStrikeIsSmall) {
  for (const launch_shape shape : {launch_shape{sms(), 256}, {2 * sms(), 1024}, {8 * sms(), 256}}) {
    const auto blocks = static_cast<uint32_t>(shape.blocks.count());
    grid_barrier_storage storage(device(), blocks);  // one for all three: places differ a little
    const auto claimed = words(1), noted = words(blocks);
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
        {timed([&](uint32_t steps) {
           launch(device(), nullptr, shape, bare, storage.state(), address(claimed), address(noted), steps);
         }),
         timed([&](uint32_t steps) { launch(device(), nullptr, shape, front_door, storage.barrier(), steps); }),
         timed([&](uint32_t steps) {
           launch(device(), nullptr, shape, with_deadline, storage.barrier(), steps, timeout(10'000'000'000));
         })},
        how);
    const double alone = results[0].samples.summary().median;
    const double front = results[1].samples.summary().median;
    const double bounded = results[2].samples.summary().median;
    std::printf("%u x %u: bare %.1f ns, front door %.1f ns (%+.2f %%), with deadline %.1f ns (%+.2f %%)\n", blocks,
                static_cast<unsigned>(shape.threads.count()), alone, front, 100 * (front / alone - 1), bounded,
                100 * (bounded / front - 1));
    // A few instructions more or less move the polls against the arrivals: up to 2 % either way.
    EXPECT_LT(front / alone, 1.10);
    EXPECT_LT(bounded / front, blocks > 2 * sms() ? 1.30 : 1.12);
  }
}

}  // namespace
}  // namespace gpusync::tool
