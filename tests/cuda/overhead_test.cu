// What the front door adds to an algorithm, and what a deadline that does not strike costs.
#include "cuda/device_fixture.cuh"
#include "measure/cuda_full_blocks.cuh"
#include "measure/cuda_timer.cuh"
#include "measure/repeat_difference.hpp"

namespace gpusync::tool {
namespace {

using algorithm = grid::placed_counters<ordering::acquire_release>;

// The loops count down in a register: a limit that is read anew behind every barrier is none of the barrier's cost.
__global__ void __launch_bounds__(1024, tool::full_blocks<1024>) front_door(grid_barrier barrier, uint32_t steps) {
  barrier.enter();
  for (; steps != 0; --steps) barrier.sync();
}

__global__ void __launch_bounds__(1024, tool::full_blocks<1024>)
    with_deadline(grid_barrier barrier, uint32_t steps, timeout span) {
  barrier.enter();
  for (; steps != 0; --steps) {
    if (barrier.sync_for(span) == wait_status::timed_out) return;
  }
}

/// The algorithm without the front door: no phase is counted. `noted`: a word per block, for waits that get long.
__global__ void __launch_bounds__(1024, tool::full_blocks<1024>)
    bare(algorithm::places places, uint32_t* words, uint32_t* claimed, uint32_t* noted, uint32_t steps) {
  const cuda_grid grid;
  auto own = algorithm::find<false>(grid, places, {grid.block(), grid.blocks()});
  algorithm::settle(own);
  const arrival_log log{claimed, noted, noted, nullptr};
  for (; steps != 0; --steps) {
    wait_context<no_deadline> context({}, log, grid.block(), 1);
    (void)algorithm::wait_fused(grid, words, own, algorithm::arrive_fused(grid, words, own), context);
  }
}

/// A step with stores in flight at the barrier, each of which another block checks behind it.
struct exchange {
  uint32_t* halves;  ///< two words per thread of the grid
  uint32_t* wrong;

  __device__ void put(uint32_t step) const {
    const cuda_grid grid;
    const uint32_t all = grid.blocks() * grid.threads();
    halves[step % 2 * all + grid.block() * grid.threads() + grid.thread()] = step;
  }
  __device__ void check(uint32_t step) const {
    const cuda_grid grid;
    const uint32_t all = grid.blocks() * grid.threads();
    const uint32_t next = grid.block() + 1 == grid.blocks() ? 0 : grid.block() + 1;
    if (halves[step % 2 * all + next * grid.threads() + grid.thread()] != step) atomicAdd(wrong, 1u);
  }
};

__global__ void __launch_bounds__(1024, tool::full_blocks<1024>)
    exchanges(grid_barrier barrier, exchange data, uint32_t steps) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    barrier.sync();
    data.check(steps);
  }
}

__global__ void __launch_bounds__(1024, tool::full_blocks<1024>)
    exchanges_with_deadline(grid_barrier barrier, exchange data, uint32_t steps, timeout span) {
  barrier.enter();
  for (; steps != 0; --steps) {
    data.put(steps);
    if (barrier.sync_for(span) == wait_status::timed_out) return;
    data.check(steps);
  }
}

class CudaOverhead : public test::CudaTest {};

TEST_F(CudaOverhead, OfTheFrontDoorAndOfADeadlineThatDoesNotStrikeIsSmall) {
  // What a deadline may cost: the most that H100s and H200s have shown (results/*/barrier-versions.txt), and 4 % more.
  struct bound {
    launch_shape shape;
    double idle, with_stores;
  };
  for (const bound& most :
       {bound{{sms(), 256}, 1.09, 1.10}, bound{{2 * sms(), 1024}, 1.14, 1.10}, bound{{8 * sms(), 256}, 1.18, 1.10}}) {
    const launch_shape& shape = most.shape;
    const auto blocks = static_cast<uint32_t>(shape.blocks.count());
    grid_barrier_storage storage(device(), blocks);  // one for all three: places differ a little
    const auto claimed = words(1), noted = words(blocks), wrong = words(1);
    const auto halves = words(2 * shape.blocks.count() * shape.threads.count());
    const exchange data{address(halves), address(wrong)};
    constexpr timeout span(10'000'000'000);
    cuda_timer timer;
    const auto timed = [&](auto&& start) {
      const auto run = [&timer, start](uint64_t steps) {
        timer.start(nullptr);
        start(static_cast<uint32_t>(steps));
        return timer.stop(nullptr);
      };
      return by_repeat_difference({run, 64}, {});
    };
    comparison_options how;
    how.stop = {15, 41, 0.001, 0.2, 4e9};
    const auto results = compare(
        {timed([&](uint32_t steps) {
           launch(device(), nullptr, shape, bare, storage.places(), storage.state(), address(claimed), address(noted),
                  steps);
         }),
         timed([&](uint32_t steps) { launch(device(), nullptr, shape, front_door, storage.barrier(), steps); }),
         timed(
             [&](uint32_t steps) { launch(device(), nullptr, shape, with_deadline, storage.barrier(), steps, span); }),
         timed([&](uint32_t steps) { launch(device(), nullptr, shape, exchanges, storage.barrier(), data, steps); }),
         timed([&](uint32_t steps) {
           launch(device(), nullptr, shape, exchanges_with_deadline, storage.barrier(), data, steps, span);
         })},
        how);
    const double alone = summarize(results[0].of(step_sample)).median;
    const double front = summarize(results[1].of(step_sample)).median;
    const double bounded = summarize(results[2].of(step_sample)).median;
    const double exchange_alone = summarize(results[3].of(step_sample)).median;
    const double exchange_bounded = summarize(results[4].of(step_sample)).median;
    std::printf(
        "%u x %u: bare %.1f ns, front door %.1f ns (%+.2f %%), with deadline %.1f ns (%+.2f %%); "
        "with stores in flight %.1f ns, with deadline %.1f ns (%+.2f %%)\n",
        blocks, static_cast<unsigned>(shape.threads.count()), alone, front, 100 * (front / alone - 1), bounded,
        100 * (bounded / front - 1), exchange_alone, exchange_bounded, 100 * (exchange_bounded / exchange_alone - 1));
    EXPECT_EQ(contents(wrong)[0], 0u);
    // A few instructions more or less move the polls against the arrivals: up to 2 % either way.
    EXPECT_LT(front / alone, 1.05);
    EXPECT_LT(bounded / front, most.idle);
    EXPECT_LT(exchange_bounded / exchange_alone, most.with_stores);
  }
}

}  // namespace
}  // namespace gpusync::tool
