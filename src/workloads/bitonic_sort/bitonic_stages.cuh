// Bitonic sort in registers: each thread keeps its elements as long as its kernel lives, and only what crosses blocks
// goes through memory. The network is that of bitonic_steps.hpp; a *stage* is one step of it between blocks with the
// steps within blocks that follow. CUDA only: threads of a warp exchange by shuffles.
#pragma once

#include <gpusync/gpusync.cuh>

#include "workloads/bitonic_sort/bitonic_steps.hpp"

namespace gpusync::tool {

/// The stages. Precondition: threads per block are a power of two, 32 at least, and all threads together have room for
/// 2^merges elements, merges >= chunk.
template <class Element>
class bitonic_stages {
 public:
  /// Elements of a thread, 32 bytes, consecutive in the sequence.
  static constexpr uint32_t own = 32 / sizeof(Element);
  static constexpr uint32_t own_exponent = own == 8 ? 3 : own == 4 ? 2 : 1;
  static constexpr uint32_t blocks_of_1024 = 1;

  struct kept {
    Element element[own];  ///< in order, see in_order()
    uint32_t merge;        ///< of the stage to come
    uint32_t distance;     ///< exponent of its step between blocks; the chunk's exponent if it is the last of its merge
  };

  const Element* input;
  Element* output;
  uint4* exchanged;  ///< two halves of 2^merges elements, used in turn
  uint32_t count;
  uint32_t merges;  ///< the elements are padded to 2^merges
  uint32_t chunk;   ///< a block has 2^chunk of them
  key_order order;

  /// One that sorts chunks, then as many as merge m has steps between blocks, for each m > chunk.
  __host__ __device__ uint32_t steps() const {
    const uint32_t between = merges - chunk;
    return 1 + between * (between + 1) / 2;
  }

  __device__ kept load(const cuda_grid& grid, uint32_t stage) const {
    kept now;
    now.merge = chunk;
    now.distance = chunk;
    uint32_t left = stage;
    while (left > 0) {
      advance(now);
      left -= 1;
    }
    if (!takes_part(grid)) return now;
    if (stage == 0) {
      const uint32_t first = place(grid) * own;
#pragma unroll
      for (uint32_t i = 0; i < own; ++i) {
        now.element[i] = first + i < count ? in_order(input[first + i], order) : last();
      }
    } else {
      fetch(now.element, stage - 1, place(grid));
    }
    return now;
  }

  __device__ void save(const cuda_grid&, const kept&) const {}

  __device__ void step(const cuda_grid& grid, uint32_t stage, kept& now) const {
    if (takes_part(grid)) {
      if (stage == 0) {
        sort_chunk(grid, now.element);
      } else {
        meet_other_block(grid, stage, now);
        if (now.distance == chunk) merge_chunk(grid, now.element);
      }
      if (stage + 1 == steps()) {
        write_out(grid, now.element);
      } else {
        leave(now.element, stage, place(grid));
      }
    }
    advance(now);
  }

 private:
  static constexpr uint32_t planes = 2;  // a thread's 32 bytes, 16 at a time

  __device__ static uint32_t place(const cuda_grid& grid) {
    return grid.block() * grid.threads() + grid.thread();
  }
  __device__ bool takes_part(const cuda_grid& grid) const {
    return grid.block() < 1u << (merges - chunk);
  }

  /// To the stage after: within a merge distances fall to the chunk's.
  __device__ void advance(kept& now) const {
    if (now.distance == chunk) {
      now.distance = now.merge;
      now.merge += 1;
    } else {
      now.distance -= 1;
    }
  }

  /// What no element stands behind.
  __device__ static Element last() {
    if constexpr (sizeof(Element) == 16) {
      return {~uint64_t{0}, ~uint64_t{0}};
    } else {
      return static_cast<Element>(~Element{0});
    }
  }

  /// Thread `thread`'s elements as they were left after `stage`.
  __device__ void fetch(Element (&element)[own], uint32_t stage, uint32_t thread) const {
    const uint4* from = half(stage) + thread;
    uint4 words[planes];
#pragma unroll
    for (uint32_t p = 0; p < planes; ++p) words[p] = from[p * threads_in_all()];
    memcpy(element, words, sizeof(words));
  }
  __device__ void leave(const Element (&element)[own], uint32_t stage, uint32_t thread) const {
    uint4* to = half(stage) + thread;
    uint4 words[planes];
    memcpy(words, element, sizeof(words));
#pragma unroll
    for (uint32_t p = 0; p < planes; ++p) to[p * threads_in_all()] = words[p];
  }
  __device__ uint32_t threads_in_all() const {
    return (1u << merges) / own;
  }
  __device__ uint4* half(uint32_t stage) const {
    return exchanged + (stage % 2) * planes * threads_in_all();
  }

  __device__ void write_out(const cuda_grid& grid, const Element (&element)[own]) const {
    const uint32_t first = place(grid) * own;
#pragma unroll
    for (uint32_t i = 0; i < own; ++i) {
      if (first + i < count) output[first + i] = out_of_order(element[i], order);
    }
  }

  /// Keeps the lesser or the greater of each pair.
  __device__ static void keep(Element (&element)[own], const Element (&other)[own], bool lesser) {
#pragma unroll
    for (uint32_t i = 0; i < own; ++i) {
      if (stands_before(other[i], element[i]) == lesser) element[i] = other[i];
    }
  }
  __device__ static void reverse(Element (&element)[own]) {
#pragma unroll
    for (uint32_t i = 0; i < own / 2; ++i) swap(element[i], element[own - 1 - i]);
  }
  __device__ static void swap(Element& a, Element& b) {
    const Element old = a;
    a = b;
    b = old;
  }
  __device__ static void order_pair(Element& low, Element& high) {
    if (stands_before(high, low)) swap(low, high);
  }

  /// The step between blocks of a stage.
  __device__ void meet_other_block(const cuda_grid& grid, uint32_t stage, kept& now) const {
    const uint32_t mine = place(grid);
    const uint32_t apart = 1u << (now.distance - own_exponent);
    const bool mirrored = now.distance == now.merge - 1;
    Element other[own];
    fetch(other, stage - 1, mine ^ (mirrored ? 2 * apart - 1 : apart));
    if (mirrored) reverse(other);
    keep(now.element, other, (mine & apart) == 0);
  }

  /// Steps between threads of a block that are `apart` (a power of two) apart, or mirrored in a run of 2 x apart.
  __device__ static void meet_thread(const cuda_grid& grid, Element (&element)[own], uint32_t apart, bool mirrored) {
    const uint32_t mask = mirrored ? 2 * apart - 1 : apart;
    Element other[own];
    if (apart < cuda_grid::warp_size) {
#pragma unroll
      for (uint32_t i = 0; i < own; ++i) other[i] = shuffled(element[i], mask);
    } else {
      __shared__ uint4 words[planes][1024];
      uint4 part[planes];
      memcpy(part, element, sizeof(part));
#pragma unroll
      for (uint32_t p = 0; p < planes; ++p) words[p][grid.thread()] = part[p];
      __syncthreads();
#pragma unroll
      for (uint32_t p = 0; p < planes; ++p) part[p] = words[p][grid.thread() ^ mask];
      memcpy(other, part, sizeof(part));
      __syncthreads();
    }
    if (mirrored) reverse(other);
    keep(element, other, (grid.thread() & apart) == 0);
  }

  __device__ static uint32_t shuffled(uint32_t value, uint32_t mask) {
    return __shfl_xor_sync(~0u, value, mask);
  }
  __device__ static uint64_t shuffled(uint64_t value, uint32_t mask) {
    return __shfl_xor_sync(~0u, static_cast<unsigned long long>(value), mask);
  }
  __device__ static sort_pair shuffled(const sort_pair& pair, uint32_t mask) {
    return {shuffled(pair.key, mask), shuffled(pair.value, mask)};
  }

  __device__ static void merge_thread(Element (&element)[own]) {
#pragma unroll
    for (uint32_t apart = own / 2; apart > 0; apart /= 2) {
#pragma unroll
      for (uint32_t i = 0; i < own; ++i) {
        if ((i & apart) == 0) order_pair(element[i], element[i | apart]);
      }
    }
  }

  __device__ static void sort_thread(Element (&element)[own]) {
#pragma unroll
    for (uint32_t run = 2; run <= own; run *= 2) {
#pragma unroll
      for (uint32_t i = 0; i < own; ++i) {
        if ((i & (run / 2)) == 0) order_pair(element[i], element[i ^ (run - 1)]);
      }
#pragma unroll
      for (uint32_t apart = run / 4; apart > 0; apart /= 2) {
#pragma unroll
        for (uint32_t i = 0; i < own; ++i) {
          if ((i & apart) == 0) order_pair(element[i], element[i | apart]);
        }
      }
    }
  }

  /// The steps of a merge that remain when elements `2^chunk` apart have been compared.
  __device__ void merge_chunk(const cuda_grid& grid, Element (&element)[own]) const {
    for (uint32_t apart = grid.threads() / 2; apart > 0; apart /= 2) meet_thread(grid, element, apart, false);
    merge_thread(element);
  }

  __device__ void sort_chunk(const cuda_grid& grid, Element (&element)[own]) const {
    sort_thread(element);
    for (uint32_t run = 2; run <= grid.threads(); run *= 2) {
      meet_thread(grid, element, run / 2, true);
      for (uint32_t apart = run / 4; apart > 0; apart /= 2) meet_thread(grid, element, apart, false);
      merge_thread(element);
    }
  }
};

}  // namespace gpusync::tool
