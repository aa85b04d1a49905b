// Bitonic sort with a boundary after every step of comparisons (item F8; Batcher 1968), in memory: the text for host
// threads and CUDA; bitonic_sort.cl says the same in OpenCL C.
//
// Merge m (1, 2, …) turns sorted runs of 2^(m-1) elements into runs of 2^m, in m steps. Its first step compares each
// element of a run with the one that mirrors it in the run's other half, so that all comparisons have the same
// direction: what lies beyond the last element would only be compared with, never moved, and any number of elements can
// be sorted. The other steps compare elements that are 2^(m-2), …, 2, 1 apart.
#pragma once

#include "boundary/computation.hpp"
#include "workloads/bitonic_sort/sort_elements.hpp"

namespace gpusync::tool {

/// The least e such that 2^e >= count: the number of merges.
GPUSYNC_HD constexpr uint32_t merges_of(uint64_t count) {
  uint32_t exponent = 0;
  while ((uint64_t{1} << exponent) < count) ++exponent;
  return exponent;
}

/// Steps of so many merges.
GPUSYNC_HD constexpr uint32_t bitonic_steps_in(uint32_t merges) {
  return merges * (merges + 1) / 2;
}

/// The network. Elements are dealt out to threads in pairs to be compared; a step reads what all blocks wrote in the
/// step before. Precondition: count <= 2^31.
template <class Element>
struct bitonic_steps : computation {
  /// The step to come: in merge `merge`, comparing elements 2^distance apart, or mirrored if distance is merge - 1.
  struct kept {
    uint32_t merge;
    uint32_t distance;
  };

  Element* elements;
  uint32_t count;
  uint32_t merges;  ///< merges_of(count)
  key_order order;

  static bitonic_steps of(Element* elements, uint64_t count, const key_order& order) {
    return {{}, elements, static_cast<uint32_t>(count), merges_of(count), order};
  }

  GPUSYNC_HD uint32_t steps() const { return bitonic_steps_in(merges); }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid, uint32_t step) const {
    uint32_t merge = 1;
    for (; step >= merge; ++merge) step -= merge;
    return {merge, merge - 1 - step};
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t, kept& now) const {
    // Several pairs at a time, so that their loads are under way together.
    constexpr uint32_t together = sizeof(Element) < 16 ? 16 / sizeof(Element) : 1;
    const uint32_t mirror = now.distance == now.merge - 1 ? (1u << now.distance) - 1 : 0;
    const uint32_t pairs = 1u << (merges - 1);
    const uint32_t stride = grid.blocks() * grid.threads();
    // In 32 bits: at most 2^30 pairs, and fewer than 2^26 threads.
    for (uint32_t first = grid.block() * grid.threads() + grid.thread(); first < pairs; first += together * stride) {
      Element low[together], high[together];
      for (uint32_t i = 0; i < together; ++i) {
        const pair_of at = pair(first + i * stride, pairs, now.distance, mirror);
        if (at.high >= count) continue;
        low[i] = elements[at.low];
        high[i] = elements[at.high];
      }
      for (uint32_t i = 0; i < together; ++i) {
        const pair_of at = pair(first + i * stride, pairs, now.distance, mirror);
        if (at.high >= count || !stands_before(in_order(high[i], order), in_order(low[i], order))) continue;
        elements[at.low] = high[i];
        elements[at.high] = low[i];
      }
    }
    if (now.distance == 0) {
      now.distance = now.merge;
      now.merge += 1;
    } else {
      now.distance -= 1;
    }
  }

 private:
  struct pair_of {
    uint32_t low, high;
  };

  /// The elements of pair `number`; high beyond all elements if there is no such pair.
  static GPUSYNC_HD pair_of pair(uint32_t number, uint32_t pairs, uint32_t distance, uint32_t mirror) {
    if (number >= pairs) return {0, UINT32_MAX};
    const uint32_t within = number & ((1u << distance) - 1);
    const uint32_t low = ((number - within) << 1) + within;
    return {low, (low + (1u << distance)) ^ mirror};
  }
};

}  // namespace gpusync::tool
