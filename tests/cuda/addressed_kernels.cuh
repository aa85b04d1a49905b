// Kernels that are given a barrier as one address: compiled by nvcc into device_header_test.cu, and the same text by
// NVRTC when that runs.
#pragma once

#include <gpusync/device.cuh>
#include <gpusync/device_functions.cuh>

namespace addressed {

using gpusync::uint32_t;
using gpusync::uint64_t;

/// In each phase another thread of each block writes the block's word, and behind the barrier every thread reads
/// another block's, plainly.
template <class Sync>
__device__ void check_phases(Sync sync, uint32_t* halves, uint32_t* wrong, uint32_t phases) {
  uint32_t mismatches = 0;
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    uint32_t* const half = halves + (phase & 1) * gridDim.x;
    if (threadIdx.x == phase % blockDim.x) half[blockIdx.x] = phase * 31 + blockIdx.x;
    sync(phase);
    const uint32_t other = (blockIdx.x + threadIdx.x + phase) % gridDim.x;
    mismatches += half[other] != phase * 31 + other ? 1 : 0;
  }
  if (mismatches != 0) atomicAdd(wrong, mismatches);
}

}  // namespace addressed

extern "C" __global__ void no_barrier(gpusync::uint64_t, gpusync::uint32_t* halves, gpusync::uint32_t* wrong,
                                      gpusync::uint32_t phases) {
  addressed::check_phases([](gpusync::uint32_t) { __syncthreads(); }, halves, wrong, phases);
}

extern "C" __global__ void by_barrier(gpusync::uint64_t address, gpusync::uint32_t* halves, gpusync::uint32_t* wrong,
                                      gpusync::uint32_t phases) {
  auto barrier = gpusync::barrier_at(address);
  addressed::check_phases([&](gpusync::uint32_t) { barrier.sync(); }, halves, wrong, phases);
}

extern "C" __global__ void by_functions(gpusync::uint64_t address, gpusync::uint32_t* halves, gpusync::uint32_t* wrong,
                                        gpusync::uint32_t phases) {
  const auto barrier = static_cast<long long>(address);
  gpusync_enter(barrier);
  addressed::check_phases([&](gpusync::uint32_t) { gpusync_sync(barrier); }, halves, wrong, phases);
}

extern "C" __global__ void by_halves(gpusync::uint64_t address, gpusync::uint32_t* halves, gpusync::uint32_t* wrong,
                                     gpusync::uint32_t phases) {
  const auto barrier = static_cast<long long>(address);
  gpusync_enter(barrier);
  addressed::check_phases(
      [&](gpusync::uint32_t) {
        gpusync_arrive(barrier);
        gpusync_wait(barrier);
      },
      halves, wrong, phases);
}

/// Every function in turn, each a barrier, and every answer checked.
extern "C" __global__ void by_votes(gpusync::uint64_t address, gpusync::uint32_t* halves, gpusync::uint32_t* wrong,
                                    gpusync::uint32_t phases) {
  const auto barrier = static_cast<long long>(address);
  const gpusync::uint32_t blocks = gridDim.x;
  gpusync::uint32_t mistaken = 0;
  gpusync_enter(barrier);
  addressed::check_phases(
      [&](gpusync::uint32_t phase) {
        const gpusync::uint32_t chosen = phase % (2 * blocks);  // a block, or none
        if (phase % 5 == 0) {
          gpusync_sync(barrier);
        } else if (phase % 5 == 1) {
          const int sum = gpusync_sync_add(barrier, static_cast<int>(blockIdx.x + phase));
          mistaken += static_cast<gpusync::uint32_t>(sum) != blocks * (blocks - 1) / 2 + blocks * phase ? 1 : 0;
        } else if (phase % 5 == 2) {
          const int any = gpusync_sync_or(barrier, blockIdx.x == chosen && threadIdx.x == phase % blockDim.x ? 8 : 0);
          mistaken += any != (chosen < blocks ? 1 : 0) ? 1 : 0;
        } else if (phase % 5 == 3) {
          const int count = gpusync_sync_count(barrier, threadIdx.x < phase % blockDim.x ? 1 : 0);
          mistaken += static_cast<gpusync::uint32_t>(count) != blocks * (phase % blockDim.x) ? 1 : 0;
        } else {
          mistaken += gpusync_sync_for(barrier, 10'000'000'000) != 0 ? 1 : 0;
        }
      },
      halves, wrong, phases);
  if (mistaken != 0) atomicAdd(wrong, mistaken);
}

/// Block `dead` leaves behind the first phase; how the others' second one ends goes to `ended`.
extern "C" __global__ void lose_a_block(gpusync::uint64_t address, gpusync::uint32_t dead,
                                        gpusync::uint64_t nanoseconds, gpusync::uint32_t* ended) {
  auto barrier = gpusync::barrier_at(address);
  barrier.sync();
  if (blockIdx.x == dead) return;
  if (barrier.sync_for(gpusync::timeout(nanoseconds)) == gpusync::wait_status::timed_out) atomicAdd(ended, 1u);
}

extern "C" __global__ void lose_a_block_by_functions(gpusync::uint64_t address, gpusync::uint32_t dead,
                                                     gpusync::uint64_t nanoseconds, gpusync::uint32_t* ended) {
  const auto barrier = static_cast<long long>(address);
  gpusync_enter(barrier);
  gpusync_sync(barrier);
  if (blockIdx.x == dead) return;
  if (gpusync_sync_for(barrier, static_cast<long long>(nanoseconds)) != 0) atomicAdd(ended, 1u);
}

/// The same behind a vote, the first of the launch, which no phase of the barrier's own is counted for.
extern "C" __global__ void lose_a_block_behind_a_vote(gpusync::uint64_t address, gpusync::uint32_t dead,
                                                      gpusync::uint64_t nanoseconds, gpusync::uint32_t* ended) {
  const auto barrier = static_cast<long long>(address);
  gpusync_enter(barrier);
  gpusync_sync_or(barrier, 0);
  if (blockIdx.x == dead) return;
  if (gpusync_sync_for(barrier, static_cast<long long>(nanoseconds)) != 0) atomicAdd(ended, 1u);
}

// What ends the launch.

extern "C" __global__ void waits_at(gpusync::uint64_t address) {
  gpusync::barrier_at(address).sync();
}
extern "C" __global__ void waits_by_functions(gpusync::uint64_t address) {
  gpusync_enter(static_cast<long long>(address));
  gpusync_sync(static_cast<long long>(address));
}
/// Block 0 stays away from a phase that the others give up; then they wait without a deadline, or vote.
extern "C" __global__ void goes_on_after_a_loss(gpusync::uint64_t address, int votes) {
  const auto barrier = static_cast<long long>(address);
  gpusync_enter(barrier);
  gpusync_sync(barrier);
  if (blockIdx.x == 0 || gpusync_sync_for(barrier, 1'000'000) == 0) return;
  if (votes != 0) {
    gpusync_sync_or(barrier, 1);
  } else {
    gpusync_sync(barrier);
  }
}
