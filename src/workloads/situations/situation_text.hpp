// Workload "situations": steps of which everything is chosen that the adviser is asked about: how long blocks work and
// how much that differs, what they write for others, what they keep on the chip, and of whom they read. One text for
// CUDA and host threads, whatever blocks wait by. C++17: CUDA sources include it.
//
// Every word of the exchange holds a number that says whose it is and of which step; a thread makes its next one of
// those that it reads, so that one word read too early or too late is wrong in all that follow.
#pragma once

#include <gpusync/neighbours/halo.hpp>

#include "boundary/computation.hpp"
#include "workloads/halo_exchange/halo_text.hpp"

namespace gpusync::tool {

/// How long a block works in a step: cycles on a GPU, nanoseconds on host threads.
struct situation_work {
  uint32_t even = 0;  ///< what all blocks take
  halo_work varying;  ///< what differs

  GPUSYNC_HD bool is_none() const { return even == 0 && varying.is_none(); }
};

/// Neighbours: 2 or 4. Words: of a thread for others, at most; Kept: on the chip, at most. FullBlocks: see computation.
template <uint32_t Neighbours, uint32_t Words, uint32_t Kept, unsigned FullBlocks>
struct situation_text : computation {
  static constexpr unsigned full_blocks = FullBlocks;
  static constexpr uint32_t nowhere = ~0u;
  /// What a word grows by in a step, and what lies between a word and the next.
  static constexpr uint32_t a_step = 0x9e3779b1u, a_word = 2654435761u;

  struct kept {
    uint32_t own[Words];                ///< the thread's words for others
    uint32_t at[Words];                 ///< where they are; nowhere, if the thread has so few
    uint32_t from[Words * Neighbours];  ///< the neighbours' words that each needs
    uint32_t on_chip[Kept];
  };

  uint32_t *a, *b;      ///< buffers in turn; before step s the words are in the (s % 2)-th
  uint32_t* memory;     ///< where what is kept lies between kernels: word k of all threads, then word k + 1
  uint32_t words;       ///< of a block, for others
  uint32_t kept_words;  ///< of a thread
  uint32_t across;      ///< blocks of a row of the torus
  bool reads_any;       ///< of one block, in each step another, in the place of the neighbours
  situation_work work;

  /// A kept word after a step.
  GPUSYNC_HD static uint32_t turned(uint32_t word) { return word * 1664525u + 1013904223u; }

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
      GPUSYNC_UNROLL()
      for (uint32_t k = 0; k < Neighbours; ++k) {
        now.from[u * Neighbours + k] =
            grid.opaque(halo_neighbour(Neighbours, grid.blocks(), across, block, k) * words + place);
      }
    }
    GPUSYNC_UNROLL()
    for (uint32_t k = 0; k < Kept; ++k) now.on_chip[k] = k < kept_words ? memory[kept_place(grid, k)] : 0;
    return now;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void save(Grid grid, const kept& now) const {
    GPUSYNC_UNROLL()
    for (uint32_t k = 0; k < Kept; ++k) {
      if (k < kept_words) memory[kept_place(grid, k)] = now.on_chip[k];
    }
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t number, kept& now) const {
    const uint32_t* const in = number % 2 == 0 ? a : b;
    uint32_t* const out = number % 2 == 0 ? b : a;
    const uint32_t first = reads_any ? any_block(grid, number) * words : 0;
    GPUSYNC_UNROLL()
    for (uint32_t u = 0; u < Words; ++u) {
      if (now.at[u] == nowhere) continue;
      if (reads_any) {
        const uint32_t from = first + grid.thread() + u * grid.threads();
        now.own[u] = next_of(in[from], from, now.at[u]);
      } else {
        uint32_t found[Neighbours];
        GPUSYNC_UNROLL()
        for (uint32_t k = 0; k < Neighbours; ++k) found[k] = in[now.from[u * Neighbours + k]];
        now.own[u] = next_of_all(now, u, found);
      }
    }
    work_on(grid, number, now);
    GPUSYNC_UNROLL()
    for (uint32_t u = 0; u < Words; ++u) {
      if (now.at[u] != nowhere) out[now.at[u]] = now.own[u];
    }
  }

  /// All steps, by a halo.
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Halo>
  GPUSYNC_HD void exchange(Grid grid, uint32_t steps, Halo& halo) const {
    halo.enter();
    kept now = load(grid, 0);
    const uint32_t first = grid.block() * words;
    halo_word from[Words * Neighbours];
    GPUSYNC_UNROLL()
    for (uint32_t i = 0; i < Words * Neighbours; ++i) {
      const uint32_t at = now.at[i / Neighbours];
      if (at != nowhere) from[i] = halo.word(i % Neighbours, at - first);
    }
    for (uint32_t s = 0; s < steps; ++s) {
      GPUSYNC_UNROLL()
      for (uint32_t u = 0; u < Words; ++u) {
        if (now.at[u] != nowhere) halo.put(now.at[u] - first, now.own[u]);
      }
      halo.send();
      halo.receive();
      uint32_t found[Words * Neighbours];
      halo.get(from, found);
      GPUSYNC_UNROLL()
      for (uint32_t u = 0; u < Words; ++u) {
        if (now.at[u] != nowhere) now.own[u] = next_of_all(now, u, found + u * Neighbours);
      }
      work_on(grid, s, now);
      halo.next();
    }
    uint32_t* const out = steps % 2 == 0 ? a : b;
    GPUSYNC_UNROLL()
    for (uint32_t u = 0; u < Words; ++u) {
      if (now.at[u] != nowhere) out[now.at[u]] = now.own[u];
    }
    save(grid, now);
  }

 private:
  template <class Grid>
  GPUSYNC_HD static uint32_t kept_place(Grid grid, uint32_t k) {
    return (k * grid.blocks() + grid.block()) * grid.threads() + grid.thread();
  }

  /// Another block in each step, the same one seen from all.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t any_block(Grid grid, uint32_t number) {
    const uint32_t blocks = grid.blocks();
    if (blocks == 1) return 0;
    const uint32_t other = grid.block() + 1 + number * 40503u % (blocks - 1);
    return other < blocks ? other : other - blocks;
  }

  /// The next word at `at`, by the word at `from` of this step.
  GPUSYNC_HD static uint32_t next_of(uint32_t found, uint32_t from, uint32_t at) {
    return found - (from - at) * a_word + a_step;
  }
  /// The same by the words of all neighbours: what is wrong with any of them is wrong with it.
  GPUSYNC_HD static uint32_t next_of_all(const kept& now, uint32_t u, const uint32_t* found) {
    uint32_t wrong = 0;
    GPUSYNC_UNROLL()
    for (uint32_t k = 0; k < Neighbours; ++k) {
      wrong = wrong * 3 + (next_of(found[k], now.from[u * Neighbours + k], now.at[u]) - a_step - now.own[u]);
    }
    return now.own[u] + a_step + wrong;
  }

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void work_on(Grid grid, uint32_t number, kept& now) const {
    GPUSYNC_UNROLL()
    for (uint32_t k = 0; k < Kept; ++k) now.on_chip[k] = turned(now.on_chip[k]);
    if (!work.is_none()) take_time(grid, work, number);
  }
  /// Out of line: see halo_text.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD GPUSYNC_COLD static void take_time(Grid grid, situation_work how, uint32_t number) {
    work_of_block(grid, [&] { return how.even + how.varying.cycles(grid.block(), number); });
  }
};

}  // namespace gpusync::tool
