// The kernels of workload "store atomicity".
#pragma once

#include <gpusync/rmw/cuda.cuh>

#include "workloads/device_side/cuda_side.cuh"
#include "workloads/random_bits.hpp"

namespace gpusync::tool {

inline constexpr uint32_t litmus_warps = 8;  ///< of a block that writes
inline constexpr uint32_t litmus_threads = 32 * litmus_warps;
inline constexpr uint32_t segments_each = 16;  ///< that a warp writes in one phase, one after the other
inline constexpr uint32_t words_of_line = 32;  ///< of 4 bytes; segments begin on lines of their own

/// The test is where evidence comes from.
struct litmus_under_test {
  static constexpr const char* device = "";
  static constexpr bool apart = false;
  GPUSYNC_HD static constexpr bool covers(rmw::space, size_t) { return true; }
};

struct litmus_task {
  uint32_t* lines;    ///< in global memory
  uint32_t* winners;  ///< of consensus: by group, column, segment and member
  uint32_t* noise;    ///< for stress
  uint32_t noise_words;
  uint32_t blocks;   ///< that write; those behind make stress
  uint32_t writers;  ///< of a segment
  uint32_t words;    ///< of a segment
  uint32_t shift;    ///< words by which segments begin late on their lines
  uint32_t phases;
  uint32_t first;  ///< the number of the first phase, which goes into the words
  uint32_t seed;
  bool same_sm;
  bool cells;  ///< the masks are those of the object's cells, and not random
  bool split;  ///< two instructions
  unsigned long long* trials;
  unsigned long long* violations;
  unsigned long long* lasting;  ///< violations that are still there after a fence, so that no early load has made them
  uint32_t* running;            ///< blocks that still write
};

/// Where a warp stands in a phase: it is `member` of the writers of a column of segments.
struct litmus_place {
  uint32_t column;  ///< of all columns of the launch; in shared memory, of the block
  uint32_t member;  ///< none if not below the number of writers

  static __device__ __forceinline__ litmus_place of(const litmus_task& task, uint32_t phase, bool shared) {
    const uint32_t warp = threadIdx.x / 32;
    if (task.same_sm) {
      const uint32_t columns = litmus_warps / task.writers;
      const uint32_t column = warp / task.writers;
      return {shared ? column : blockIdx.x * columns + column, column < columns ? warp % task.writers : ~0u};
    }
    // The multiprocessors that meet change from phase to phase.
    const uint32_t odd = random_bits(task.seed + phase) | 1;
    const uint32_t groups = task.blocks / task.writers;
    const uint32_t at = coprime(odd, task.blocks) * blockIdx.x % task.blocks;
    return {at / task.writers * litmus_warps + warp, at / task.writers < groups ? at % task.writers : ~0u};
  }

 private:
  /// A number below `blocks` that has no divisor in common with it, drawn from `bits`.
  static __device__ __forceinline__ uint32_t coprime(uint32_t bits, uint32_t blocks) {
    for (uint32_t factor = bits % blocks;; factor = factor + 1 < blocks ? factor + 1 : 1) {
      uint32_t a = factor, b = blocks;
      while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
      }
      if (a == 1) return factor;
    }
  }
};

/// The words of a segment that a member writes, as bits.
__device__ __forceinline__ uint32_t litmus_mask(const litmus_task& task, uint32_t phase, uint32_t segment,
                                                uint32_t member) {
  if (task.cells) {
    using cells = rmw::coalesced_store<litmus_under_test, rmw::space::global, uint32_t>;
    uint32_t mask = 0;
    for (uint32_t other = 0; other < 5; ++other) mask |= 1u << cells::cell(member, other);
    return mask;
  }
  const uint32_t all = task.words == 32 ? ~0u : (1u << task.words) - 1;
  const uint32_t drawn = random_bits(task.seed ^ phase * 0x9e3779b9u ^ segment * 0x85ebca6bu);
  const uint32_t one = drawn % task.words;
  const uint32_t other = (one + 1 + (drawn >> 8) % (task.words - 1)) % task.words;
  return (random_bits(drawn + member * 0xc2b2ae35u) & all) | 1u << one | 1u << other;
}

/// The segment that a member writes as its i-th. Some go forwards and some backwards, so that they cross, and write one
/// segment at the same time, even if one begins later than the other.
__device__ __forceinline__ uint32_t litmus_turn(uint32_t member, uint32_t i) {
  return member % 2 == 0 ? i : segments_each - 1 - i;
}

/// What a member writes in a phase, in every word.
__device__ __forceinline__ uint32_t litmus_word(uint32_t phase, uint32_t member) {
  return phase << 3 | member;
}

/// Both halves of a word of 8 bytes.
template <class Word>
__device__ __forceinline__ Word filled(uint32_t half) {
  if constexpr (sizeof(Word) == 8)
    return uint64_t{half} << 32 | half;
  else
    return half;
}

/// Whether the words of a segment, one a lane, contradict the claim that each store took effect as one.
template <class Word>
__device__ __forceinline__ bool contradicts(const litmus_task& task, uint32_t phase, uint32_t segment, Word word) {
  const uint32_t lane = threadIdx.x % 32;
  const auto half = static_cast<uint32_t>(word);
  bool wrong = lane < task.words && word != filled<Word>(half);
  uint32_t meant = 0;  // who was to write this lane's word
  for (uint32_t member = 0; member < task.writers; ++member) {
    meant |= (litmus_mask(task, phase, segment, member) >> lane & 1) << member;
  }
  const bool written = half >> 3 == phase;
  const uint32_t writer = half & 7;
  if (lane < task.words) wrong = wrong || written != (meant != 0) || (written && (meant >> writer & 1) == 0);
  // Who came after whom: the last writer of a word came after all others that were to write it.
  uint32_t left = (1u << task.writers) - 1;
  uint32_t after[5];
  const rmw::cuda_warp<rmw::space::global> warp;  // its merge() runs on GPUs without a reducing instruction, too
  for (uint32_t member = 0; member < 5; ++member) {
    const bool last = lane < task.words && written && writer == member;
    after[member] = warp.merge(last ? meant & ~(1u << member) : 0u);
  }
  for (uint32_t round = 0; round < task.writers; ++round) {
    uint32_t first = 0;
    for (uint32_t member = 0; member < 5; ++member) {
      if ((left >> member & 1) != 0 && (after[member] & left) == 0) first |= 1u << member;
    }
    left &= ~first;
  }
  return __any_sync(~0u, wrong) || left != 0;
}

/// Loads and stores, to global memory that the writers' lines compete with for the L2 cache and to the block's shared
/// memory, until no block writes any more.
__device__ __forceinline__ void make_stress(const litmus_task& task) {
  __shared__ uint32_t own[512];  // as many as the largest block has threads
  uint32_t state = random_bits(blockIdx.x * blockDim.x + threadIdx.x + task.seed);
  own[threadIdx.x] = state;
  while (cuda_memory::load<memory_order::relaxed, scope::device>(task.running) != 0) {
    for (uint32_t i = 0; i < 32; ++i) {
      state = random_bits(state + i);
      const uint32_t at = state % task.noise_words;
      if ((state >> 30) == 0) {
        (void)atomicAdd(task.noise + at, 1u);
      } else if ((state >> 30) == 1) {
        cuda_memory::store<memory_order::relaxed, scope::device>(task.noise + at, state);
      } else {
        state += cuda_memory::load<memory_order::relaxed, scope::device>(task.noise + at);
      }
      own[(threadIdx.x + state) % blockDim.x] += state;
    }
  }
  task.noise[threadIdx.x] = own[threadIdx.x];
}

/// All writers of a segment have come: a grid barrier, or a block barrier where they are in one block.
template <class Barrier>
__device__ __forceinline__ void meet_writers(const litmus_task& task, Barrier& barrier) {
  if (task.same_sm) {
    __syncthreads();
  } else {
    barrier.sync();
  }
}

__device__ __forceinline__ void finish(const litmus_task& task, uint32_t trials, uint32_t violations,
                                       uint32_t lasting) {
  if (threadIdx.x % 32 == 0 && trials != 0) {
    (void)atomicAdd(task.trials, static_cast<unsigned long long>(trials));
    (void)atomicAdd(task.violations, static_cast<unsigned long long>(violations));
    (void)atomicAdd(task.lasting, static_cast<unsigned long long>(lasting));
  }
  __syncthreads();
  if (threadIdx.x == 0) (void)atomicSub(task.running, 1u);
}

/// Stores.
template <rmw::space Where, class Word, class Barrier>
__global__ void __launch_bounds__(litmus_threads, 2) litmus_stores(litmus_task task, Barrier barrier) {
  constexpr bool shared = Where == rmw::space::shared;
  using access = rmw::cuda_atomics<Where>;
  constexpr uint32_t own_words = shared ? litmus_warps / 2 * segments_each * words_of_line : 1;
  __shared__ alignas(128) uint32_t own_lines[own_words];
  if (blockIdx.x >= task.blocks) return make_stress(task);
  const uint32_t lane = threadIdx.x % 32;
  uint32_t* const lines = shared ? own_lines : task.lines;
  uint32_t trials = 0, violations = 0, lasting = 0;
  for (uint32_t i = threadIdx.x; shared && i < own_words; i += blockDim.x) own_lines[i] = 0;
  const auto words_at = [&](uint32_t column, uint32_t segment) {
    return reinterpret_cast<Word*>(lines + (column * segments_each + segment) * words_of_line + task.shift);
  };
  for (uint32_t p = 0; p < task.phases; ++p) {
    const uint32_t phase = task.first + p;
    const litmus_place place = litmus_place::of(task, phase, shared);
    const bool writes = place.member < task.writers;
    // Of one column in different blocks, the masks are the same for all its members.
    const uint32_t salt = place.column + (shared ? blockIdx.x * 0x1000 : 0);
    const uint32_t member = writes ? place.member : 0;
    const uint32_t column = writes ? place.column : 0;
    // This lane's part in each store, worked out before, so that the stores follow each other closely.
    uint32_t stores = 0;
    for (uint32_t i = 0; i < segments_each; ++i) {
      const uint32_t mask = litmus_mask(task, phase, salt * segments_each + litmus_turn(member, i), member);
      stores |= (mask >> lane & 1) << i;
    }
    const uint32_t delay = random_bits(phase ^ (blockIdx.x * 37 + threadIdx.x / 32) << 16) % 64;
    const Word word = filled<Word>(litmus_word(phase, member));
    meet_writers(task, barrier);
    if (writes) {
      for (uint32_t begin = clock(); clock() - begin < delay;) {
      }
      __syncwarp();
      if (!task.split) {
#pragma unroll
        for (uint32_t i = 0; i < segments_each; ++i) {
          Word* const at = words_at(column, litmus_turn(member, i)) + lane;
          __syncwarp();  // else lanes that part here may store in two instructions further on
          if ((stores >> i & 1) != 0) access::template store<memory_order::relaxed>(at, word);
        }
      } else {
#pragma unroll
        for (uint32_t i = 0; i < segments_each; ++i) {
          Word* const at = words_at(column, litmus_turn(member, i)) + lane;
          const bool early = (stores >> i & 1) != 0 && lane % 2 == 0;
          const bool late = (stores >> i & 1) != 0 && lane % 2 != 0;
          __syncwarp();
          if (early) access::template store<memory_order::relaxed>(at, word);
          if (late) access::template store<memory_order::relaxed>(at, word);
        }
      }
      __syncwarp();
    }
    meet_writers(task, barrier);
    if (writes) {
      for (uint32_t s = place.member; s < segments_each; s += task.writers) {
        const Word* const at = words_at(place.column, s) + (lane < task.words ? lane : 0);
        Word word = access::template load<memory_order::relaxed>(at);
        trials += 1;
        if (contradicts(task, phase, salt * segments_each + s, word)) {
          violations += 1;
          __threadfence();
          word = access::template load<memory_order::relaxed>(at);
          lasting += contradicts(task, phase, salt * segments_each + s, word) ? 1 : 0;
        }
      }
    }
  }
  finish(task, trials, violations, lasting);
}

/// A participant without the fence between its masked store and its look at the others' cells.
template <rmw::space Where>
struct unfenced_warp : rmw::cuda_warp<Where> {
  __device__ __forceinline__ void fence() const {}
};

/// Rounds of the shipped consensus.
template <rmw::space Where, uint32_t N, bool Fenced, class Barrier>
__global__ void __launch_bounds__(N == 16 ? 512 : litmus_threads, 2)
    litmus_consensus(litmus_task task, Barrier barrier) {
  constexpr bool shared = Where == rmw::space::shared;
  using policy = rmw::coalesced_store<litmus_under_test, Where>;
  using fenced = rmw::cuda_warp<Where>;
  using machine = std::conditional_t<Fenced, fenced, unfenced_warp<Where>>;
  constexpr uint32_t words = (policy::words(N) + 15) / 16 * 16;
  constexpr uint32_t columns = shared ? (N == 16 ? 1 : litmus_warps / N) : 1;
  __shared__ alignas(128) uint64_t own_cells[shared ? columns * segments_each * words : 1];
  if (blockIdx.x >= task.blocks) return make_stress(task);
  for (uint32_t i = threadIdx.x; shared && i < columns * segments_each * words; i += blockDim.x) own_cells[i] = 0;
  uint64_t* const cells = shared ? own_cells : reinterpret_cast<uint64_t*>(task.lines);
  const machine participant;
  uint32_t trials = 0, violations = 0;
  for (uint32_t p = 0; p < task.phases; ++p) {
    const uint32_t phase = task.first + p;
    litmus_place place = litmus_place::of(task, phase, shared);
    if constexpr (N == 16) place = {0, threadIdx.x / 32};
    const bool decides = place.member < N;
    const uint32_t row = place.column + (shared ? blockIdx.x * columns : 0);
    uint32_t* const winners = task.winners + size_t{row} * segments_each * N;
    meet_writers(task, barrier);
    if (decides) {
      for (uint32_t i = 0; i < segments_each; ++i) {
        const uint32_t s = litmus_turn(place.member, i);
        typename policy::head known{phase - 1, 0, true};
        const typename policy::head wanted{phase, place.member << 1 | (phase & 1), true};
        uint64_t* const at = cells + (place.column * segments_each + s) * words;
        (void)policy::template propose<N>(participant, at, place.member, known, wanted);
        const bool found = known.decided() && known.round == phase && known.buffer() == (phase & 1);
        if (threadIdx.x % 32 == 0) winners[s * N + place.member] = found ? known.winner() : 0xff;
      }
    }
    meet_writers(task, barrier);
    if (decides) {
      for (uint32_t s = place.member; s < segments_each; s += N) {
        const uint32_t lane = threadIdx.x % 32;
        const uint32_t winner =
            cuda_memory::load<memory_order::relaxed, scope::device>(winners + s * N + (lane < N ? lane : 0));
        trials += 1;
        violations += __any_sync(~0u, winner >= N || winner != __shfl_sync(~0u, winner, 0)) ? 1 : 0;
      }
    }
  }
  finish(task, trials, violations, violations);
}

}  // namespace gpusync::tool
