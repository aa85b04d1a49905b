// Workload "halo-exchange": in each step a block makes new words of its own and of its neighbours', works for a while
// and publishes them. One text for CUDA and host threads, whatever blocks wait by. C++17: CUDA sources include it.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <chrono>
#endif

#include <gpusync/neighbours/halo.hpp>

#include "boundary/computation.hpp"
#include "workloads/random_bits.hpp"

namespace gpusync::tool {

/// How long a block works in a step.
struct halo_work {
  enum class kind : uint32_t { none, constant, uniform, exponential };
  kind distribution = kind::none;
  uint32_t mean = 0;      ///< cycles of the multiprocessor's clock
  bool overlaps = false;  ///< behind the publishing, for it needs nothing from others; else before it

  GPUSYNC_HD bool is_none() const { return distribution == kind::none; }

  /// Cycles of a block in a step: a draw of its own for each block below 500,000, each of `repeats` steps and each
  /// mean. The mean is the seed, so that loops of steps without work have no more to hold; of forty usual multipliers
  /// its is the one whose draws of 1 us at 1980 MHz are nearest to fair ones in what they let a ring take, which a test
  /// asks (tests/workloads/situations_test.cpp).
  GPUSYNC_HD uint32_t cycles(uint32_t block, uint32_t number) const {
    if (is_none()) return 0;
    if (distribution == kind::constant) return mean;
    const uint32_t bits = random_bits((block * 7919u + number % repeats) * 2654435761u + mean * 2146121005u);
    const float share = (static_cast<float>(bits >> 8) + 0.5f) * (1.0f / 16777216.0f);
    if (distribution == kind::uniform) return static_cast<uint32_t>(2.0f * static_cast<float>(mean) * share);
#if defined(__CUDA_ARCH__)
    return static_cast<uint32_t>(-static_cast<float>(mean) * __logf(share));
#else
    return static_cast<uint32_t>(-static_cast<float>(mean) * __builtin_logf(share));
#endif
  }

  static constexpr uint32_t repeats = 256;  ///< steps after which the delays come again: graphs are replayed
};

/// A block works for `span()` cycles, nanoseconds on host threads; to find out how long is part of it. One thread
/// works, for all to work would slow down those who wait on the same multiprocessor.
GPUSYNC_API_TEMPLATE
template <class Grid, class Span>
GPUSYNC_HD void work_of_block(Grid grid, Span span) {
  if constexpr (Grid::warp_size > 1) {
    const uint64_t begin = grid.cycles();
    if (grid.thread() == 0) grid.delay_until(begin + span());
  } else {
    const auto begin = std::chrono::steady_clock::now();
    if (grid.thread() == 0) {
      const std::chrono::nanoseconds whole(span());
      while (std::chrono::steady_clock::now() - begin < whole) {
      }
    }
  }
  grid.sync_block();
}

/// What is known of the work where steps are compiled. Loops of steps are compiled with it and without: a call out of
/// the loop, and back, has each step wait for instructions, and so has code in the loop that steps without work pass.
enum class known_work { none, some, unknown };

/// The new word of a thread.
GPUSYNC_HD inline uint32_t halo_mixed(uint32_t own, uint32_t sum) {
  const uint32_t x = own * 2654435761u + sum;
  return x ^ (x >> 15);
}

/// The neighbour of a block in direction `k`, of 2 in a ring or of 4 or 8 in a torus of `across` blocks a row.
GPUSYNC_HD inline uint32_t halo_neighbour(uint32_t neighbours, uint32_t blocks, uint32_t across, uint32_t block,
                                          uint32_t k) {
  if (neighbours == 2) return k == 0 ? (block == 0 ? blocks : block) - 1 : (block + 1 == blocks ? 0 : block + 1);
  const uint32_t rows = blocks / across, x = block % across, y = block / across;
  const bool left = k == 0 || k == 4 || k == 6, right = k == 1 || k == 5 || k == 7;
  const bool up = k == 2 || k == 4 || k == 5, down = k == 3 || k == 6 || k == 7;
  const uint32_t nx = left ? (x == 0 ? across : x) - 1 : right ? (x + 1 == across ? 0 : x + 1) : x;
  const uint32_t ny = up ? (y == 0 ? rows : y) - 1 : down ? (y + 1 == rows ? 0 : y + 1) : y;
  return ny * across + nx;
}

/// Neighbours: 2, 4 or 8. Words: of a thread, at most. FullBlocks: see computation.
template <uint32_t Neighbours, uint32_t Words, unsigned FullBlocks>
struct halo_text : computation {
  static constexpr unsigned full_blocks = FullBlocks;
  static constexpr uint32_t neighbours = Neighbours;

  struct kept {
    uint32_t own[Words];                ///< the thread's words
    uint32_t at[Words];                 ///< where they are; nowhere, if the thread has so few
    uint32_t from[Words * Neighbours];  ///< the neighbours' words that each needs
  };
  static constexpr uint32_t nowhere = ~0u;
  static constexpr uint32_t most_shared = Words * most_threads;  ///< words of a block

  uint32_t *a, *b;  ///< buffers in turn; before step s the words are in the (s % 2)-th
  uint32_t words;   ///< of a block
  uint32_t across;  ///< blocks of a row of the torus
  halo_work work;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD kept load(Grid grid, uint32_t number) const {
    kept now;
    const uint32_t* const in = number % 2 == 0 ? a : b;
    const uint32_t block = grid.block();
    GPUSYNC_UNROLL()
    for (uint32_t u = 0; u < Words; ++u) {
      const uint32_t place = grid.thread() + u * grid.threads();
      // Opaque, or the compiler would find them anew in each step.
      now.at[u] = place < words ? grid.opaque(block * words + place) : nowhere;
      now.own[u] = now.at[u] != nowhere ? in[now.at[u]] : 0;
      const uint32_t shifted = place + 1 == words ? 0 : place + 1;  // another thread's
      GPUSYNC_UNROLL()
      for (uint32_t k = 0; k < Neighbours; ++k) {
        now.from[u * Neighbours + k] =
            grid.opaque(halo_neighbour(Neighbours, grid.blocks(), across, block, k) * words + shifted);
      }
    }
    return now;
  }

  GPUSYNC_API_TEMPLATE
  template <known_work Known = known_work::unknown, class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t number, kept& now) const {
    first<Known>(grid, number, now);
    rest<Known>(grid, number, now);
  }

  /// Up to the publishing.
  GPUSYNC_API_TEMPLATE
  template <known_work Known = known_work::unknown, class Grid>
  GPUSYNC_HD void first(Grid grid, uint32_t number, kept& now) const {
    const uint32_t* const in = number % 2 == 0 ? a : b;
    uint32_t* const out = number % 2 == 0 ? b : a;
    GPUSYNC_UNROLL()
    for (uint32_t u = 0; u < Words; ++u) {
      if (now.at[u] == nowhere) continue;
      uint32_t sum = 0;
      GPUSYNC_UNROLL()
      for (uint32_t k = 0; k < Neighbours; ++k) sum += in[now.from[u * Neighbours + k]];
      now.own[u] = halo_mixed(now.own[u], sum);
    }
    if (!work.overlaps) spend<Known>(grid, number);
    GPUSYNC_UNROLL()
    for (uint32_t u = 0; u < Words; ++u) {
      if (now.at[u] != nowhere) out[now.at[u]] = now.own[u];
    }
  }

  GPUSYNC_API_TEMPLATE
  template <known_work Known = known_work::unknown, class Grid>
  GPUSYNC_HD void rest(Grid grid, uint32_t number, kept&) const {
    if (work.overlaps) spend<Known>(grid, number);
  }

  /// All steps, by a halo. A thread gets the words at its own place, which a warp reads in whole lines; on a GPU their
  /// sums go to the threads that need them by shared memory, in two buffers in turn, past the barrier that ends a step.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Halo>
  GPUSYNC_HD void exchange(Grid grid, uint32_t steps, Halo& halo) const {
    // Of words, two loops leave either too few of 32 registers; behind a barrier they do not (all_steps()).
    if constexpr (FullBlocks > 1) {
      exchange_knowing<known_work::unknown>(grid, steps, halo);
    } else if (work.is_none()) {
      exchange_knowing<known_work::none>(grid, steps, halo);
    } else {
      exchange_knowing<known_work::some>(grid, steps, halo);
    }
  }

 private:
  GPUSYNC_API_TEMPLATE
  template <known_work Known, class Grid, class Halo>
  GPUSYNC_HD void exchange_knowing(Grid grid, uint32_t steps, Halo& halo) const {
    constexpr bool shares = Grid::warp_size > 1;
    halo.enter();
    kept now = load(grid, 0);
    const uint32_t first = grid.block() * words;
    halo_own_word own[Words] = {};
    halo_word from[Words * Neighbours];
    GPUSYNC_UNROLL()
    for (uint32_t u = 0; u < Words; ++u) {
      if (now.at[u] != nowhere) own[u] = halo.own(now.at[u] - first);
    }
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < Words * Neighbours; ++i) {
      const uint32_t at = now.at[i / Neighbours];
      if (at != nowhere) from[i] = halo.word(i % Neighbours, shares ? at - first : now.from[i] % words);
    }
    [[maybe_unused]] uint32_t sums = 0;
    if constexpr (shares) sums = grid.template shared_place<2 * most_shared / 4>();
    for (uint32_t s = 0; s < steps; ++s) {
      GPUSYNC_UNROLL()
      for (uint32_t u = 0; u < Words; ++u) {
        if (now.at[u] != nowhere) halo.put(own[u], now.own[u]);
      }
      halo.send();
      // Found while nobody waits for it.
      [[maybe_unused]] const uint32_t turn = shares ? grid.opaque(sums + s % 2 * (most_shared * 4)) : 0;
      if (work.overlaps) spend<Known>(grid, s);
      halo.receive();
      uint32_t found[Words * Neighbours], sum[Words] = {};
      halo.get(from, found);
      GPUSYNC_UNROLL()
      for (uint32_t i = 0; i < Words * Neighbours; ++i) sum[i / Neighbours] += found[i];
      if constexpr (shares) {
        GPUSYNC_UNROLL()
        for (uint32_t u = 0; u < Words; ++u) {
          if (now.at[u] != nowhere) grid.share(turn, now.at[u] - first, sum[u]);
        }
        halo.next();
        GPUSYNC_UNROLL()
        for (uint32_t u = 0; u < Words; ++u) {
          const uint32_t behind = now.at[u] - first + 1;
          if (now.at[u] != nowhere) sum[u] = grid.shared(turn, behind == words ? 0 : behind);
        }
      } else {
        halo.next();
      }
      GPUSYNC_UNROLL()
      for (uint32_t u = 0; u < Words; ++u) {
        if (now.at[u] != nowhere) now.own[u] = halo_mixed(now.own[u], sum[u]);
      }
      if (!work.overlaps) spend<Known>(grid, s);
    }
    uint32_t* const out = steps % 2 == 0 ? a : b;
    GPUSYNC_UNROLL()
    for (uint32_t u = 0; u < Words; ++u) {
      if (now.at[u] != nowhere) out[now.at[u]] = now.own[u];
    }
  }

  GPUSYNC_API_TEMPLATE
  template <known_work Known, class Grid>
  GPUSYNC_HD void spend(Grid grid, uint32_t number) const {
    if constexpr (Known == known_work::some) take_time(grid, work, number);
    if constexpr (Known == known_work::unknown) {
      if (!work.is_none()) take_time_elsewhere(grid, work, number);
    }
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static void take_time(Grid grid, const halo_work& how, uint32_t number) {
    work_of_block(grid, [&] { return how.cycles(grid.block(), number); });
  }
  /// Out of line: steps without work are not to step over it.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD GPUSYNC_COLD static void take_time_elsewhere(Grid grid, halo_work how, uint32_t number) {
    take_time(grid, how, number);
  }
};

/// A text whose steps know whether they have work.
template <known_work Known, class Text>
struct halo_knowing {
  const Text& text;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t number, typename Text::kept& now) const {
    text.template step<Known>(grid, number, now);
  }
};

/// See known_work.
GPUSYNC_API_TEMPLATE
template <uint32_t Neighbours, uint32_t Words, unsigned FullBlocks, class Grid, class Kept, class Boundary>
GPUSYNC_HD void all_steps(const halo_text<Neighbours, Words, FullBlocks>& text, Grid grid, uint32_t steps, Kept& kept,
                          Boundary&& boundary) {
  using text_type = halo_text<Neighbours, Words, FullBlocks>;
  if (text.work.is_none()) {
    all_steps(halo_knowing<known_work::none, text_type>{text}, grid, steps, kept, boundary);
  } else {
    all_steps(halo_knowing<known_work::some, text_type>{text}, grid, steps, kept, boundary);
  }
}

}  // namespace gpusync::tool
