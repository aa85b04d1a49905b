// Chains of one operation in a kernel, each waiting for the one before, between two readings of the clock (Wong et al.
// 2010; Zhang et al. 2020, 9.3): latency if one block runs alone, throughput if all begin at one time.
//
// An operation is a class, made by each thread, with
//   static bool takes_part(setting)      whether this lane does anything at all
//   Operation(setting)                   its state; may meet its block
//   once(i)                              the operation; `i` is known when this is compiled
//   wrong(operations)                    whether its state is not what so many operations make of it
// and, if words can be exchanged through it,
//   partner()                            the thread of its group whose word it reads behind the operation
//   read(word)                           that word, whose place in the own block is given
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <cuda_runtime_api.h>

#include <gpusync/core/cuda_grid.cuh>

#include "measure/chain_times.hpp"

namespace gpusync::tool {

inline constexpr unsigned int warp_lanes = cuda_grid::warp_size;

/// Where the blocks of a launch meet, so that all begin at one time. It needs no reset from launch to launch.
struct meeting_point {
  unsigned int arrived;      ///< blocks, in all launches
  unsigned long long start;  ///< when those of a launch begin, by the device's timer
};

/// What a launch of chains is given.
struct chain_setting {
  unsigned int group;            ///< lanes or threads of a group, where that is not part of the operation's type
  unsigned int seed;             ///< a number that is not known when this is compiled
  unsigned long long* wrong;     ///< counts threads whose results were not right
  meeting_point* meeting;        ///< null: blocks begin when they come
  unsigned int arrived_by_then;  ///< meeting->arrived once all blocks of this launch have come
};

/// Passes over a chain in one launch; the last one counts, and the others bring the code into the caches.
inline constexpr unsigned int chain_passes = 3;

__device__ __forceinline__ long long chain_clock() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

/// The clock once `value`, which is no infinity, is there: no instruction waits for a result unless it needs it, and
/// the reading of a clock needs none. So what may end the kernel needs it, and nothing is read before that.
__device__ __forceinline__ long long chain_clock_behind(double value) {
  long long cycles;
  asm volatile(
      "{\n\t"
      ".reg .pred impossible;\n\t"
      "setp.eq.f64 impossible, %1, 0d7FF0000000000000;\n\t"
      "@impossible trap;\n\t"
      "mov.u64 %0, %%clock64;\n\t"
      "}"
      : "=l"(cycles)
      : "d"(value)
      : "memory");
  return cycles;
}

/// Nanoseconds.
__device__ __forceinline__ unsigned long long global_timer() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}

__device__ __forceinline__ unsigned int chain_sm() {
  unsigned int number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

/// For one thread of each block: comes back at the same time in all, a few microseconds after the last has come.
/// Precondition: all blocks run at once. Returns when it was let go; 0 if the others do not come for seconds.
__device__ inline unsigned long long begin_together(meeting_point* at, unsigned int arrived_by_then) {
  constexpr unsigned long long lead = 5'000;  // some ticks of the coarsest timer, and time for all to see the word
  constexpr unsigned int most_polls = 1u << 22;
  const unsigned long long came = global_timer();
  if (atomicAdd(&at->arrived, 1u) + 1 == arrived_by_then) atomicExch(&at->start, global_timer() + lead);
  // What an earlier launch has left there is earlier than this block.
  volatile unsigned long long* const word = &at->start;
  unsigned long long start = *word;
  for (unsigned int polls = 0; start <= came; ++polls) {
    if (polls == most_polls) return 0;
    start = *word;
  }
  unsigned long long now = global_timer();
  while (now < start) now = global_timer();
  return now;
}

/// `Length` operations in straight-line code. The passes must be a loop: unrolled, the one that counts would be code
/// that has never run.
template <class Operation, unsigned int Length>
__global__ void __launch_bounds__(1024) timed_chain(chain_setting setting, warp_stamp* stamps) {
  if (!Operation::takes_part(setting)) return;
  Operation operation(setting);
  __shared__ unsigned long long let_go;
  long long begin = 0, end = 0;
#pragma unroll 1
  for (unsigned int pass = 0; pass < chain_passes; ++pass) {
    if (pass + 1 == chain_passes && setting.meeting != nullptr && threadIdx.x == 0) {
      let_go = begin_together(setting.meeting, setting.arrived_by_then);
    }
    __syncthreads();
    begin = chain_clock();
#pragma unroll
    for (unsigned int i = 0; i < Length; ++i) operation.once(i);
    end = chain_clock();
  }
  if (operation.wrong(chain_passes * Length)) (void)atomicAdd(setting.wrong, 1ull);
  if (threadIdx.x % warp_lanes != 0) return;
  stamps[(blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes] = {
      begin, end, setting.meeting != nullptr ? let_go : 1ull, chain_sm()};
}

/// What thread `thread` of a block hands over in a step: different in all of them.
__device__ __forceinline__ unsigned int exchanged_word(unsigned int thread, unsigned int step) {
  return step * 0x9e3779b9u ^ thread * 0x85ebca6bu;
}

/// Words handed over through shared memory, with the operation between writing and reading them and no other
/// synchronization; two halves, so that one operation a step is enough. Some lanes come late. Its dynamic shared memory
/// is two words for each thread.
template <class Operation>
__global__ void __launch_bounds__(1024) exchange_words(chain_setting setting, unsigned int steps) {
  extern __shared__ unsigned int words_exchanged[];
  if (!Operation::takes_part(setting)) return;
  Operation operation(setting);
  unsigned int wrong = 0;
#pragma unroll 1
  for (unsigned int step = 0; step < steps; ++step) {
    if ((exchanged_word(threadIdx.x, step + setting.seed) >> 13) % 16 == 0) {
      const long long came = chain_clock();
      while (chain_clock() - came < 100) {
      }
    }
    unsigned int* const half = words_exchanged + step % 2 * blockDim.x;
    half[threadIdx.x] = exchanged_word(threadIdx.x, step);
    operation.once(step);
    const unsigned int other = operation.partner();
    wrong += operation.read(half + other) == exchanged_word(other, step) ? 0 : 1;
  }
  operation.once(steps);  // no block of a cluster ends while another may still read its words
  if (wrong != 0) (void)atomicAdd(setting.wrong, static_cast<unsigned long long>(wrong));
}

/// An operation's chains by their lengths, as cudaLaunchKernel() takes them.
template <class Operation, unsigned int... Lengths>
std::map<uint32_t, const void*> chains_of(std::integer_sequence<unsigned int, Lengths...>) {
  return {{Lengths, reinterpret_cast<const void*>(&timed_chain<Operation, Lengths>)}...};
}

}  // namespace gpusync::tool
