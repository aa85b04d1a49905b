// Bitonic sort in registers: each thread keeps its elements as long as its kernel lives, and only what crosses blocks
// goes through memory. The network is that of bitonic_steps.hpp; a *stage* is one step of it between blocks with the
// steps within blocks that follow. The Grid is one whose threads exchange values, see boundary/cuda_exchange_grid.cuh.
#pragma once

#include <cstring>

#include "boundary/four_words.hpp"
#include "workloads/bitonic_sort/bitonic_steps.hpp"

namespace gpusync::tool {

/// The stages. Precondition: threads per block are a power of two, 32 to 256, and all threads together have room for
/// 2^merges elements, merges >= chunk.
template <class Element>
class bitonic_stages : public computation {
 public:
  /// Elements of a thread, 128 bytes, consecutive in the sequence: few threads with many elements wait less for each
  /// other than many with few.
  static constexpr uint32_t own = 128 / sizeof(Element);
  static constexpr uint32_t own_exponent = own == 32 ? 5 : own == 16 ? 4 : 3;
  static constexpr uint32_t most_threads = 256, full_blocks = 2;  // leaves a thread 128 registers

  struct kept {
    Element element[own];  ///< in order, see in_order()
    uint32_t merge;        ///< of the stage to come
    uint32_t distance;     ///< exponent of its step between blocks; the chunk's exponent if it is the last of its merge
  };

  const Element* input;
  Element* output;
  four_words* exchanged;  ///< two halves of 2^merges elements, used in turn
  uint32_t count;
  uint32_t merges;  ///< the elements are padded to 2^merges
  uint32_t chunk;   ///< a block has 2^chunk of them
  key_order order;

  /// One that sorts chunks, then as many as merge m has steps between blocks, for each m > chunk.
  GPUSYNC_HD uint32_t steps() const {
    const uint32_t between = merges - chunk;
    return 1 + between * (between + 1) / 2;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(const Grid& grid, uint32_t stage) const {
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
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < own; ++i) {
        now.element[i] = first + i < count ? in_order(input[first + i], order) : last();
      }
    } else {
      fetch(now.element, stage - 1, place(grid));
    }
    return now;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(const Grid& grid, uint32_t stage, kept& now) const {
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
  static constexpr uint32_t planes = 8;  // a thread's 128 bytes, 16 at a time

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t place(const Grid& grid) {
    return grid.block() * grid.threads() + grid.thread();
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD bool takes_part(const Grid& grid) const {
    return grid.block() < 1u << (merges - chunk);
  }

  /// To the stage after: within a merge distances fall to the chunk's.
  GPUSYNC_HD void advance(kept& now) const {
    if (now.distance == chunk) {
      now.distance = now.merge;
      now.merge += 1;
    } else {
      now.distance -= 1;
    }
  }

  /// What no element stands behind.
  GPUSYNC_HD static Element last() {
    if constexpr (sizeof(Element) == 16) {
      return {~uint64_t{0}, ~uint64_t{0}};
    } else {
      return static_cast<Element>(~Element{0});
    }
  }

  /// Thread `thread`'s elements as they were left after `stage`.
  GPUSYNC_HD void fetch(Element (&element)[own], uint32_t stage, uint32_t thread) const {
    const four_words* from = half(stage) + thread;
    four_words words[planes];
    GPUSYNC_UNROLL()
    for (uint32_t p = 0; p < planes; ++p) words[p] = from[p * threads_in_all()];
    memcpy(element, words, sizeof(words));
  }
  GPUSYNC_HD void leave(const Element (&element)[own], uint32_t stage, uint32_t thread) const {
    four_words* to = half(stage) + thread;
    four_words words[planes];
    memcpy(words, element, sizeof(words));
    GPUSYNC_UNROLL()
    for (uint32_t p = 0; p < planes; ++p) to[p * threads_in_all()] = words[p];
  }
  GPUSYNC_HD uint32_t threads_in_all() const { return (1u << merges) / own; }
  GPUSYNC_HD four_words* half(uint32_t stage) const { return exchanged + (stage % 2) * planes * threads_in_all(); }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void write_out(const Grid& grid, const Element (&element)[own]) const {
    const uint32_t first = place(grid) * own;
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < own; ++i) {
      if (first + i < count) output[first + i] = out_of_order(element[i], order);
    }
  }

  /// Keeps the lesser or the greater of each pair.
  GPUSYNC_HD static void keep(Element (&element)[own], const Element (&other)[own], bool lesser) {
    if (lesser) {  // the same in all threads of a warp where other warps are met
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < own; ++i) element[i] = stands_before(other[i], element[i]) ? other[i] : element[i];
    } else {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < own; ++i) element[i] = stands_before(element[i], other[i]) ? other[i] : element[i];
    }
  }
  GPUSYNC_HD static void reverse(Element (&element)[own]) {
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < own / 2; ++i) swap(element[i], element[own - 1 - i]);
  }
  GPUSYNC_HD static void swap(Element& a, Element& b) {
    const Element old = a;
    a = b;
    b = old;
  }
  GPUSYNC_HD static void order_pair(Element& low, Element& high) {
    const bool wrong = stands_before(high, low);
    const Element lesser = wrong ? high : low;
    high = wrong ? low : high;
    low = lesser;
  }

  /// The step between blocks of a stage.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void meet_other_block(const Grid& grid, uint32_t stage, kept& now) const {
    const uint32_t mine = place(grid);
    const uint32_t apart = 1u << (now.distance - own_exponent);
    const bool mirrored = now.distance == now.merge - 1;
    Element other[own];
    fetch(other, stage - 1, mine ^ (mirrored ? 2 * apart - 1 : apart));
    if (mirrored) reverse(other);
    keep(now.element, other, (mine & apart) == 0);
  }

  /// Steps between threads of a block that are `apart` (a power of two) apart, or mirrored in a run of 2 x apart.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void meet_thread(const Grid& grid, Element (&element)[own], uint32_t apart, bool mirrored) {
    const uint32_t mask = mirrored ? 2 * apart - 1 : apart;
    Element other[own];
    if (apart < Grid::warp_size) {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < own; ++i) other[i] = from_other(grid, element[i], mask);
    } else {
      four_words* const words = grid.template shared_by_block<planes * most_threads>();
      four_words part[planes];
      memcpy(part, element, sizeof(part));
      GPUSYNC_UNROLL()
      for (uint32_t p = 0; p < planes; ++p) words[p * most_threads + grid.thread()] = part[p];
      grid.sync_block();
      GPUSYNC_UNROLL()
      for (uint32_t p = 0; p < planes; ++p) part[p] = words[p * most_threads + (grid.thread() ^ mask)];
      memcpy(other, part, sizeof(part));
      grid.sync_block();
    }
    if (mirrored) reverse(other);
    keep(element, other, (grid.thread() & apart) == 0);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static sort_pair from_other(const Grid& grid, const sort_pair& pair, uint32_t mask) {
    return {grid.from_other_thread(pair.key, mask), grid.from_other_thread(pair.value, mask)};
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t from_other(const Grid& grid, uint32_t value, uint32_t mask) {
    return grid.from_other_thread(value, mask);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint64_t from_other(const Grid& grid, uint64_t value, uint32_t mask) {
    return grid.from_other_thread(value, mask);
  }

  GPUSYNC_HD static void merge_thread(Element (&element)[own]) {
    GPUSYNC_UNROLL()
    for (uint32_t apart = own / 2; apart > 0; apart /= 2) {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < own; ++i) {
        if ((i & apart) == 0) order_pair(element[i], element[i | apart]);
      }
    }
  }

  GPUSYNC_HD static void sort_thread(Element (&element)[own]) {
    GPUSYNC_UNROLL()
    for (uint32_t run = 2; run <= own; run *= 2) {
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < own; ++i) {
        if ((i & (run / 2)) == 0) order_pair(element[i], element[i ^ (run - 1)]);
      }
      GPUSYNC_UNROLL()
      for (uint32_t apart = run / 4; apart > 0; apart /= 2) {
        GPUSYNC_UNROLL()
        for (uint32_t i = 0; i < own; ++i) {
          if ((i & apart) == 0) order_pair(element[i], element[i | apart]);
        }
      }
    }
  }

  /// The steps of a merge that remain when elements `2^chunk` apart have been compared.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void merge_chunk(const Grid& grid, Element (&element)[own]) const {
    for (uint32_t apart = grid.threads() / 2; apart > 0; apart /= 2) meet_thread(grid, element, apart, false);
    merge_thread(element);
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void sort_chunk(const Grid& grid, Element (&element)[own]) const {
    sort_thread(element);
    for (uint32_t run = 2; run <= grid.threads(); run *= 2) {
      meet_thread(grid, element, run / 2, true);
      for (uint32_t apart = run / 4; apart > 0; apart /= 2) meet_thread(grid, element, apart, false);
      merge_thread(element);
    }
  }
};

}  // namespace gpusync::tool
