// The kernel of workload "barrier stress".
#pragma once

#include "measure/cuda_full_blocks.cuh"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/random_bits.hpp"

namespace gpusync::tool {

/// What a launch is to do.
struct stress_task {
  exchange data;
  uint32_t first;   ///< number of the first phase, which goes into the words
  uint32_t phases;  ///< in this launch
  uint32_t seed;
  uint32_t parts;                 ///< of the grid, if the barrier is of such
  uint32_t drop_block[2];         ///< leave early, if the barrier allows that
  uint32_t drop_phase[2];         ///< with which phase of the launch
  unsigned long long* checked;    ///< counts words compared
  unsigned long long* timed_out;  ///< counts blocks whose wait timed out
};

/// Longer than anything but a hang takes.
inline constexpr uint64_t stress_deadline_ns = 20'000'000'000;

/// The blocks that one barrier joins.
struct stress_part {
  uint32_t number, first, count;

  /// Those of part `number` of `parts`.
  static __host__ __device__ stress_part of(uint32_t blocks, uint32_t parts, uint32_t number) {
    const uint32_t first = blocks / parts * number;  // the last part has what is left over
    return {number, first, number + 1 == parts ? blocks - first : blocks / parts};
  }
};

/// How late the calling thread is in a phase, in cycles, mostly 0: in a quarter of the phases, one of 16 blocks has a
/// warp that is up to 2 us late. `dice`: the phase's random bits, the same in all blocks.
__device__ __forceinline__ uint32_t lateness(const cuda_grid& grid, uint32_t dice) {
  if (dice % 4 != 0) return 0;
  const uint32_t own = random_bits(dice ^ grid.block() * 0x9e3779b9u);
  if (own % 16 != 0) return 0;
  const uint32_t warps = (grid.threads() + cuda_grid::warp_size - 1) / cuda_grid::warp_size;
  return grid.thread() / cuda_grid::warp_size == (own >> 4) % warps ? own >> 20 : 0;
}

/// One phase in one of the forms that the barrier has. `late`: cycles to spend between arrival and wait, if there is
/// such a place. False if the wait timed out.
template <class Barrier>
__device__ __forceinline__ bool pass(const cuda_grid& grid, Barrier& barrier, uint32_t form, uint32_t late) {
  if constexpr (Barrier::algorithm::bounded) {
    const timeout span(stress_deadline_ns);
    if (form == 2) return barrier.sync_for(span) == wait_status::completed;
    if (form == 3) {
      auto token = barrier.arrive();
      grid.delay(late);
      return barrier.wait_for(static_cast<decltype(token)&&>(token), span) == wait_status::completed;
    }
  }
  if (form % 2 == 0) {
    barrier.sync();
  } else {
    auto token = barrier.arrive();
    grid.delay(late);
    barrier.wait(static_cast<decltype(token)&&>(token));
  }
  return true;
}

/// All phases of a launch, for the blocks of one part.
template <class Barrier>
__device__ __forceinline__ void stress_phases(const stress_task& task, Barrier& barrier, const stress_part& mine) {
  using members = typename Barrier::members;
  const cuda_grid grid;
  const uint32_t block = grid.block();
  uint32_t wrong = 0, checked = 0;
  const auto check = [&](uint32_t s, uint32_t offset) {
    const uint32_t other = mine.first + (block - mine.first + offset) % mine.count;
    if constexpr (members::may_drop) {
      for (int i = 0; i < 2; ++i) {
        if (other == task.drop_block[i] && s > task.drop_phase[i]) return;
      }
    }
    ++checked;
    wrong += task.data.check(grid, task.first + s, other);
  };
  for (uint32_t s = 0; s < task.phases; ++s) {
    const uint32_t dice = random_bits(task.seed ^ (task.first + s) * 0x9e3779b9u);
    const uint32_t form = dice >> 8 & 3;
    const uint32_t late = lateness(grid, dice);
    const bool late_to_wait = form % 2 == 1 && (dice >> 10 & 1) != 0;
    if (!late_to_wait) grid.delay(late);
    task.data.write(grid, task.first + s);
    if constexpr (members::may_drop) {
      const bool leaves = (block == task.drop_block[0] && s == task.drop_phase[0]) ||
                          (block == task.drop_block[1] && s == task.drop_phase[1]);
      if (leaves) {
        barrier.arrive_and_drop();
        break;
      }
    }
    if (!pass(grid, barrier, form, late_to_wait ? late : 0)) {
      if (grid.thread() == 0) (void)atomicAdd(task.timed_out, 1ull);
      break;
    }
    check(s, 1);
    check(s, mine.count / 2);
    check(s, (dice >> 11) % mine.count);
  }
  task.data.report(wrong);
  (void)atomicAdd(task.checked, static_cast<unsigned long long>(checked));
}

template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>) stress(stress_task task, Barrier barrier) {
  stress_phases(task, barrier, {0, 0, cuda_grid{}.blocks()});
}

/// In two or three parts, with a barrier each; there are three barriers in either case.
template <class Barrier>
__global__ void __launch_bounds__(1024, full_blocks<1024>)
    stress_parts(stress_task task, Barrier one, Barrier two, Barrier three) {
  const cuda_grid grid;
  const uint32_t number = grid.block() / (grid.blocks() / task.parts);
  const stress_part mine = stress_part::of(grid.blocks(), task.parts, number < task.parts ? number : task.parts - 1);
  stress_phases(task, mine.number == 0 ? one : mine.number == 1 ? two : three, mine);
}

}  // namespace gpusync::tool
