// The kernels of workload "partial sync".
#pragma once

#include <cooperative_groups.h>

#include <gpusync/gpusync.cuh>

#include "measure/cuda_chain.cuh"
#include "workloads/partial_sync/partial_sync.hpp"

namespace gpusync::tool {

/// How far a member has come, as the host can read while the kernel hangs.
enum member_note : uint32_t { note_none, note_called, note_passed, note_late, note_timed_out };

/// What a kernel is told.
struct partial_task {
  calling_members callers;
  uint32_t stays;            ///< 1: the rest stays
  uint32_t* words;           ///< one for each member
  uint32_t* passed;          ///< members that have passed
  uint32_t* given_up;        ///< 1: the rest has waited long enough
  volatile uint32_t* notes;  ///< in host memory, one for each member
  volatile uint32_t* wrong;  ///< there too
};

namespace partial {

namespace cg = ::cooperative_groups;

constexpr uint64_t stay_ns = 300'000'000, deadline_ns = 500'000'000;

__device__ __forceinline__ uint32_t word_of(uint32_t member) {
  return member * 0x9e3779b9u + 1;
}

__device__ __forceinline__ void stay(const partial_task& task) {
  if (task.stays == 0) return;
  const uint64_t begin = global_timer();
  while (*const_cast<volatile uint32_t*>(task.passed) < task.callers.count) {
    if (global_timer() - begin < stay_ns) continue;
    *const_cast<volatile uint32_t*>(task.given_up) = 1;
    __threadfence();
    return;
  }
}

/// One member's way. `speaks`: the calling thread notes it. `sync()` returns false if it was told that others are
/// missing; `leave()` is what the rest does before it stays or leaves.
template <class Sync, class Leave>
__device__ __forceinline__ void take_part(const partial_task& task, uint32_t member, bool speaks, Sync&& sync,
                                          Leave&& leave) {
  if (!task.callers.has(member)) {
    leave();
    stay(task);
    // Really ends: a compiler may make those that return wait for the others of their warp.
    asm volatile("exit;");
  }
  if (speaks) {
    task.words[member] = word_of(member);
    task.notes[member] = note_called;
    __threadfence_system();
  }
  const bool completed = sync();
  if (!speaks) return;
  const bool late = *const_cast<volatile uint32_t*>(task.given_up) != 0;
  const uint32_t rank = (member - task.callers.first) / task.callers.stride;
  const uint32_t next = task.callers.first + (rank + 1) % task.callers.count * task.callers.stride;
  if (completed && task.words[next] != word_of(next)) *task.wrong = 1;
  (void)atomicAdd(task.passed, 1u);
  task.notes[member] = !completed ? note_timed_out : late ? note_late : note_passed;
  __threadfence_system();
}
template <class Sync>
__device__ __forceinline__ void take_part(const partial_task& task, uint32_t member, bool speaks, Sync&& sync) {
  take_part(task, member, speaks, sync, [] {});
}

// ---- threads of a warp: one warp

enum class warp_form { syncwarp, mask, tile, coalesced };

template <warp_form Form>
__global__ void of_a_warp(partial_task task) {
  const uint32_t lane = threadIdx.x;
  const unsigned mask = __ballot_sync(0xffffffffu, task.callers.has(lane));
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  take_part(task, lane, true, [&] {
    if constexpr (Form == warp_form::syncwarp) __syncwarp();
    if constexpr (Form == warp_form::mask) __syncwarp(mask);
    if constexpr (Form == warp_form::tile) tile.sync();
    if constexpr (Form == warp_form::coalesced) cg::coalesced_threads().sync();
    return true;
  });
}

// ---- warps of a block: one block

template <bool Named>
__global__ void of_a_block(partial_task task) {
  take_part(task, threadIdx.x / 32, threadIdx.x % 32 == 0, [&] {
    if constexpr (Named) {
      asm volatile("barrier.sync 1, %0;" ::"r"(32 * task.callers.count) : "memory");
    } else {
      __syncthreads();
    }
    return true;
  });
}

// ---- blocks of a cluster: one cluster

__global__ void of_a_cluster(partial_task task) {
  take_part(task, blockIdx.x, threadIdx.x == 0, [] {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
#endif
    return true;
  });
}

// ---- blocks of a grid

__global__ void of_a_grid_by_cg(partial_task task) {
  take_part(task, blockIdx.x, threadIdx.x == 0, [] {
    cg::this_grid().sync();
    return true;
  });
}

__global__ void of_a_grid(partial_task task, grid_barrier barrier) {
  take_part(task, blockIdx.x, threadIdx.x == 0, [&] {
    barrier.sync();
    return true;
  });
}

__global__ void of_a_grid_with_deadline(partial_task task, grid_barrier barrier) {
  take_part(task, blockIdx.x, threadIdx.x == 0,
            [&] { return barrier.sync_for(timeout(deadline_ns)) == wait_status::completed; });
}

__global__ void of_a_part(partial_task task, part_grid_barrier barrier) {
  take_part(task, blockIdx.x, threadIdx.x == 0, [&] {
    barrier.sync();
    return true;
  });
}

__global__ void of_those_that_stay(partial_task task, dropping_grid_barrier barrier) {
  take_part(
      task, blockIdx.x, threadIdx.x == 0,
      [&] {
        barrier.sync();
        return true;
      },
      [&] { barrier.arrive_and_drop(); });
}

}  // namespace partial

}  // namespace gpusync::tool
